// A chain of inlined functions with parameters, in a namespace; main calls it.
// recipe: g++ -O2 -g $MAP -Wl,--build-id -o $OUT $SRC
#include <cstdio>

namespace shapes {

struct point {
	int x, y;
};

static inline __attribute__((always_inline)) int dot(const point &a, const point &b)
{
	return a.x * b.x + a.y * b.y;
}

static inline __attribute__((always_inline)) int length2(const point &a)
{
	return dot(a, a);
}

__attribute__((noinline)) int weigh(point a, int times)
{
	volatile int sum = 0;

	for (int i = 0; i < times; i++)
		sum += length2(a) + i;
	return sum;
}

template <typename T> struct box {
	T value;
	__attribute__((noinline)) T get(T more) const { return value + more; }
};

} // namespace shapes

int counter = 7;

int main(int argc, char **)
{
	shapes::box<long> b{argc};

	counter += shapes::weigh({argc, 2}, 3);
	std::printf("%d %ld\n", counter, b.get(1));
}
