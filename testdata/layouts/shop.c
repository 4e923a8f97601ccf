/* A shop: inlined calls two deep, hot and cold code, an alias, a weak function. */
#include "shop.h"

int limit = 100, sold;
const char sign[] = "too heavy";
static volatile int alarm;

void fail(const char *why, int number)
{
	for (; *why; why++)
		alarm += *why ^ number;
}

__attribute__((noinline)) int weigh(struct item *list)
{
	int sum = 0;

	for (struct item *i = list; i; i = i->next) {
		sum += check(i->weight);
		if (find(i->next, i->name))
			sum -= check(i->weight >> 1);
	}
	return sum;
}

int weigh_alias(struct item *list) __attribute__((alias("weigh")));

__attribute__((weak, noinline)) void report(int sum)
{
	switch (sum & 7) {
	case 0: alarm = 17; break;
	case 1: alarm += sum; break;
	case 2: alarm ^= sum << 3; break;
	case 3: fail(sign, sum); break;
	case 4: alarm -= sold; break;
	default: sold++;
	}
}

__attribute__((noinline)) static int buy(struct item *list, const char *name)
{
	static int visits;
	struct item *i = find(list, name);

	visits++;
	if (!i) {
		fail(name, visits);
		return -1;
	}
	sold += i->price;
	return check(i->weight) + visits;
}

/* Nobody calls it: a linker may drop it. */
__attribute__((noinline)) int unused(struct item *list)
{
	return find(list, "unused") ? check(list->weight) : 0;
}

int main(void)
{
	struct item b = { 0, "bread", 500, 3 }, a = { &b, "apples", limit, 2 };

	report(weigh(&a) + buy(&a, "bread"));
	return restock(&a, sold) + weigh_alias(&b);
}
