// libshop.so: the products, and a reader of orders.
#include "shop.hh"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

namespace shop {

static constexpr Product products[] = {
	{ "candle", Money(250) },
	{ "lantern", Money(3495) },
	{ "matches", Money(80) },
	{ "umbrella", Money(1999) },
};

const Product *find(std::string_view name)
{
	auto at = std::lower_bound(std::begin(products), std::end(products), name,
		[](const Product &p, std::string_view n) { return p.name < n; });
	return at != std::end(products) && at->name == name ? at : nullptr;
}

static Order parse(const std::string &line)
{
	std::istringstream words(line);
	std::string product;
	Order order;
	int count;

	words >> order.customer;
	while (words >> count >> product)
		order.items.add({ find(product), count });
	return order;
}

void each_order(std::istream &input, const std::function<void(const Order &)> &visit)
{
	std::vector<Order> orders;

	for (std::string line; std::getline(input, line);)
		orders.push_back(parse(line));
	std::for_each(orders.data(), orders.data() + orders.size(), visit);
}

}
