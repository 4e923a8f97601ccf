/* The shop's other unit; `_start` for programs without a libc. */
#include "shop.h"

int main(void);

__attribute__((noinline)) static int order(struct item *i, int by)
{
	int had = i->price;

	for (int n = 0; n < by; n++)
		i->price += check(i->weight) & n;
	return i->price - had;
}

int restock(struct item *list, int by)
{
	struct item *eggs = find(list, "eggs");
	int sum = 0;

	for (; list; list = list->next)
		sum += order(list, by);
	return eggs ? sum + eggs->price : sum;
}

#ifdef START
void _start(void)
{
	main();
	for (;;)
		;
}
#endif
