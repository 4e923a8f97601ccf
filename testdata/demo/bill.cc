// The program: prints what each customer has to pay. It forgets that a customer
// may ask for what the shop does not have.
#include <cstdio>
#include <iostream>
#include <numeric>

#include "libmarkup/emit.h"
#include "shop.hh"

namespace bill {

shop::Money sum(const shop::Order &order)
{
	return std::accumulate(order.items.begin(), order.items.end(), shop::Money(),
		[](shop::Money so_far, const shop::Item &item) {
			return so_far + item.total();
		});
}

void print(const shop::Order &order)
{
	const shop::Money total = sum(order);

	std::fprintf(stderr, "bill: %-8s %zu items, %ld.%02d\n", order.customer.c_str(),
		     order.items.size(), total.whole(), total.rest());
}

}

int main()
{
	if (markup_emit_crash_handler(2))
		return 2;
	std::fprintf(stderr, "bill: reading orders\n");
	shop::each_order(std::cin, [](const shop::Order &order) { bill::print(order); });
	std::fprintf(stderr, "bill: done\n");
}
