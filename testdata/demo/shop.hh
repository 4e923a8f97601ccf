// What libshop.so offers: orders, read from text.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "few.hh"
#include "money.hh"

namespace shop {

struct Product {
	std::string_view name;
	Money price;
};

struct Item {
	const Product *product;
	int count;

	Money total() const { return product->price * count; }
};

struct Order {
	std::string customer;
	Few<Item, 8> items;
};

// The product of this name; nullptr if the shop does not have it.
const Product *find(std::string_view name);

// Reads orders, a line each: CUSTOMER COUNT PRODUCT COUNT PRODUCT...
void each_order(std::istream &input, const std::function<void(const Order &)> &visit);

}
