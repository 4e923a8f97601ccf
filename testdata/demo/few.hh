// A small vector without heap, so that the demo has templates of its own.
#pragma once

#include <cstddef>
#include <stdexcept>

namespace shop {

template <class T, std::size_t N> class Few {
	T items[N] {};
	std::size_t used = 0;

public:
	void add(const T &item)
	{
		if (used == N)
			throw std::length_error("too many items");
		items[used++] = item;
	}

	const T *begin() const { return items; }
	const T *end() const { return items + used; }
	std::size_t size() const { return used; }
};

}
