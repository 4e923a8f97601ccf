// What compilers say about functions and variables, of every kind that DWARF has an entry for: scopes
// of names, calls inlined into calls, cold parts, variables of each kind of type; in each version of
// DWARF, with types in units of their own, split, and with links from unit to unit.
// recipe: for v in 2 3 4 5; do g++ -O2 -gdwarf-$v $MAP -o $OUT.gcc$v $SRC; done
// recipe: g++ -O2 -gdwarf-4 -fdebug-types-section $MAP -o $OUT.types4 $SRC
// recipe: g++ -O2 -gdwarf-5 -fdebug-types-section $MAP -o $OUT.types5 $SRC
// recipe: g++ -O2 -g -flto $MAP -o $OUT.lto $SRC
// recipe: for v in 4 5; do g++ -O2 -gdwarf-$v -gsplit-dwarf -dumpdir $OUT.split$v- -o $OUT.split$v $SRC; done
// recipe: if command -v clang++ >/dev/null; then for v in 2 3 4 5; do clang++ -O2 -gdwarf-$v $MAP -o $OUT.clang$v $SRC; done; fi
// recipe: if command -v clang++ >/dev/null; then clang++ -O2 -gdwarf-5 -fdebug-types-section $MAP -o $OUT.clang-types5 $SRC; fi
// recipe: if command -v clang++ >/dev/null; then for v in 4 5; do clang++ -O2 -gdwarf-$v -gsplit-dwarf -c -o $OUT.clang-split$v.o $SRC && clang++ -o $OUT.clang-split$v $OUT.clang-split$v.o; done; fi
// recipe: g++ -O0 -g $MAP -o $OUT $SRC
// recipe: if command -v dwz >/dev/null; then cp $OUT $OUT.dwz && cp $OUT.gcc5 $OUT.dwz5 && dwz -m $OUT.dwz-common $OUT.dwz $OUT.dwz5; fi
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define ALWAYS inline __attribute__((always_inline))

typedef int cells[3][5];
enum color { RED, GREEN };
union word { char bytes[8]; double number; };

int plain = 1;
static volatile long hidden = 2;
const char *const names[4] = { "a", "b" };
cells board;
static const cells *volatile boards[2];
enum color color = GREEN;
union word word;
extern "C" { short seen_by_c[7] = { 1 }; }
thread_local int of_thread = 3;

namespace outer {

int counted[2];

struct base {
	int value;
	static int made;
	virtual ~base() { made--; }
	virtual int twice(int n) { return n * 2 + value; }
	int apply(int n) const { return n + value; }
};

int base::made = 5;
int (base::*method)(int) const = &base::apply;
int base::*member = &base::value;

namespace {

struct item : base {
	char tag[3];
	int twice(int n) override { return n * 3 + tag[0]; }
	NOINLINE int total(int n) { return n + tag[1] + value; }
};

item items[6];

NOINLINE int hidden_sum(int n)
{
	static int calls;
	return n + ++calls;
}

} // namespace

template <typename T, int N> struct box {
	T values[N];
	static T common;
	NOINLINE T sum(T more) const
	{
		for (int i = 0; i < N; i++)
			more += values[i];
		return more;
	}
};
template <typename T, int N> T box<T, N>::common = 9;

box<long, 4> longs;
box<item *, 2> *pointers;

} // namespace outer

int &reference = outer::counted[1];

static ALWAYS int inner_call(int n)
{
	if (__builtin_expect(n > 100000, 0)) {
		fprintf(stderr, "%d is too large\n", n);
		abort();
	}
	return n + outer::hidden_sum(n);
}

static ALWAYS int middle_call(int n)
{
	return inner_call(n) * inner_call(n + 1);
}

NOINLINE int outer_call(int n)
{
	struct local {
		int n;
		NOINLINE int half(int by) { return n / (by + 2); }
	} l = { n };
	auto lambda = [n](int by) NOINLINE { return middle_call(by) + n; };

	return lambda(l.half(n)) + middle_call(n);
}

extern "C" NOINLINE int called_by_c(int n)
{
	static struct { int x, y; } kept = { 1, 2 };

	kept.x += n;
	return kept.x + kept.y + seen_by_c[n & 3];
}

int main(int argc, char **argv)
{
	outer::item *it = &outer::items[argc & 3];

	boards[0] = &board;
	word.number = argc;
	hidden += plain + of_thread;
	it->tag[1] = argv[0][0];
	printf("%d %ld %d\n", outer_call(argc) + it->total(argc) + it->twice(argc) + called_by_c(argc),
	       outer::longs.sum(outer::box<long, 4>::common), reference + (it->*outer::method)(2) + it->*outer::member);
	return names[argc & 3] != 0 && outer::pointers == 0 ? board[1][2] : (int)hidden;
}
