// An amount of money.
#pragma once

namespace shop {

class Money {
	long cents = 0;

public:
	constexpr Money() = default;
	constexpr explicit Money(long cents) : cents(cents) {}

	constexpr Money operator+(Money other) const { return Money(cents + other.cents); }
	constexpr Money operator*(int times) const { return Money(cents * times); }

	constexpr long whole() const { return cents / 100; }
	constexpr int rest() const { return static_cast<int>(cents % 100); }
};

}
