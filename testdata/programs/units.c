// One program of four units, of this one source; then with dwz, where it is
// there, which moves what units share into partial units.
// recipe: for p in 0 1 2 3; do gcc -O2 -g $MAP -DPART=$p -c -o $OUT.$p.o $SRC; done
// recipe: gcc -Wl,--build-id -o $OUT $OUT.?.o && rm $OUT.?.o
// recipe: if command -v dwz >/dev/null; then cp $OUT $OUT.dwz && dwz $OUT.dwz; fi
#include <stdio.h>
#include <string.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

struct node {
	struct node *next;
	const char *name;
	long value;
};

int part1(struct node *list), part2(struct node *list), part3(struct node *list);

static inline __attribute__((always_inline)) long sum(const struct node *list)
{
	long n = 0;

	for (; list; list = list->next)
		n += list->value;
	return n;
}

static inline __attribute__((always_inline)) int has(const struct node *list, const char *name)
{
	for (; list; list = list->next)
		if (!strcmp(list->name, name))
			return 1;
	return 0;
}

#if PART
int PASTE(part, PART)(struct node *list)
{
	if (has(list, "x") || sum(list) > PART)
		puts(list->name);
	return (int)sum(list->next);
}
#else
int main(int argc, char **argv)
{
	struct node b = { NULL, argv[0], argc }, a = { &b, "a", 1 };

	return part1(&a) + part2(&b) + part3(&a);
}
#endif
