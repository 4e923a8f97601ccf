// Inlined calls in hot and cold code, an alias, a weak symbol, data; made in
// each version of DWARF, by gcc and by clang where it is there.
// recipe: for v in 2 3 4 5; do gcc -O2 -gdwarf-$v $MAP -Wl,--build-id -o $OUT.gcc$v $SRC; done
// recipe: for v in 3 4 5; do gcc -O2 -gdwarf-$v -gdwarf64 $MAP -o $OUT.gcc$v-64 $SRC; done
// recipe: if command -v clang >/dev/null; then for v in 2 3 4 5; do clang -O2 -gdwarf-$v $MAP -o $OUT.clang$v $SRC; done; fi
// recipe: gcc -O2 -g $MAP -Wl,--build-id -o $OUT $SRC
// recipe: for c in zlib zlib-gnu; do objcopy --compress-debug-sections=$c $OUT $OUT.$c; done
// recipe: if command -v llvm-objcopy-19 >/dev/null; then llvm-objcopy-19 --compress-debug-sections=zstd $OUT $OUT.zstd; fi
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	struct item *next;
	char name[24];
	int weight;
};

static volatile int limit = 100;
int total;
const char banner[] = "layouts";

static inline __attribute__((always_inline)) int check(int weight)
{
	if (__builtin_expect(weight > limit, 0)) {
		fprintf(stderr, "%s: too heavy: %d\n", banner, weight);
		abort();
	}
	return weight;
}

static inline __attribute__((always_inline)) struct item *find(struct item *list, const char *name)
{
	for (; list; list = list->next)
		if (!strcmp(list->name, name))
			return list;
	return NULL;
}

__attribute__((noinline)) int weigh(struct item *list)
{
	int sum = 0;

	for (struct item *i = list; i; i = i->next) {
		sum += check(i->weight);
		if (find(i->next, i->name))
			sum -= check(i->weight / 2);
	}
	return sum;
}

int weigh_alias(struct item *list) __attribute__((alias("weigh")));

__attribute__((weak, noinline)) void report(int sum)
{
	printf("%d of %d\n", sum, total);
}

int main(int argc, char **argv)
{
	struct item *list = NULL;

	for (int i = 0; i < argc; i++) {
		struct item *item = calloc(1, sizeof(*item));

		if (!item)
			return 1;
		strncpy(item->name, argv[i], sizeof(item->name) - 1);
		item->weight = i;
		item->next = list;
		list = item;
		total++;
	}
	report(weigh(list));
	return 0;
}
