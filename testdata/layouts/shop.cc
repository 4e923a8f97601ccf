// The shop in C++: templates in COMDAT groups, equal functions that can be folded,
// lambdas, nested scopes, an exception whose handlers are cold.
namespace shop {

struct Money {
	long cents;
	Money operator+(Money more) const { return {cents + more.cents}; }
	template <typename T> Money times(T n) const { return {cents * static_cast<long>(n)}; }
};

template <typename T> struct Shelf {
	T things[8] = {};
	int used = 0;

	__attribute__((noinline)) void put(T thing)
	{
		if (used == 8)
			throw used;
		things[used++] = thing;
	}
	template <typename F> Money sum(F price) const
	{
		Money total = {0};

		for (int i = 0; i < used; i++)
			total = total + price(things[i]);
		return total;
	}
	virtual ~Shelf() = default;
	virtual __attribute__((noinline)) int free() const { return 8 - used; }
};

namespace {
int visits;
}

#ifndef OTHER /* a second unit, with the templates alone */

// Equal code: --icf=all makes one of them.
__attribute__((noinline)) long first(long x) { return x * 33 + 7; }
__attribute__((noinline)) long second(long x) { return x * 33 + 7; }

#endif

template struct Shelf<int>;
template struct Shelf<unsigned>;

#ifndef OTHER
__attribute__((noinline)) Money price(Shelf<int> &s, int tax)
{
	visits++;
	try {
		s.put(tax);
	} catch (int n) {
		return Money{n}.times(2);
	}
	return s.sum([tax](int thing) { return Money{thing}.times(tax); });
}

#endif
} // namespace shop

#ifndef OTHER
int main(int argc, char **)
{
	shop::Shelf<int> s;
	shop::Shelf<unsigned> t;

	for (int i = 0; i < argc; i++)
		t.put(static_cast<unsigned>(shop::first(i)));
	return static_cast<int>(shop::price(s, argc).cents + shop::second(t.free()));
}
#endif
