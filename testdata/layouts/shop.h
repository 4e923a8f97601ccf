/* What the two C files of the shop share. Nothing of a libc is used, so that it can be
 * compiled for machines whose libc is not installed. */
#ifndef SHOP_H
#define SHOP_H

struct item {
	struct item *next;
	const char *name;
	int weight, price;
};

extern int limit, sold;
extern const char sign[];

void fail(const char *why, int number) __attribute__((cold, noinline));
int restock(struct item *list, int by);

static inline __attribute__((always_inline)) int check(int weight)
{
	if (__builtin_expect(weight > limit, 0)) {
		fail(sign, weight);
		sold -= 1;
	}
	return weight;
}

static inline __attribute__((always_inline)) int same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static inline __attribute__((always_inline)) struct item *find(struct item *list, const char *name)
{
	for (; list; list = list->next)
		if (same(list->name, name))
			return list;
	return 0;
}

#endif
