/*
 * Work whose frames are mostly inlined, for some seconds: scripts/bench.sh records its stacks.
 *
 *   inlined_bench SECONDS
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

struct row {
	std::string key;
	double value;
	std::vector<int> parts;
};

static std::vector<row> make_rows(int n)
{
	std::vector<row> rows;

	for (int i = 0; i < n; i++)
		rows.push_back({ "k" + std::to_string(i * 7919 % n), i * .5, { i, i + 1, i + 2 } });
	return rows;
}

static double work(int n)
{
	static const std::regex word("([a-z]+)([0-9]+)");
	std::map<std::string, std::vector<double>> groups;
	std::unordered_map<std::string, double> sums;
	std::vector<row> rows = make_rows(n);
	double sum = 0;

	std::sort(rows.begin(), rows.end(), [](const row &a, const row &b) { return a.key < b.key; });
	for (const row &r : rows)
		groups[r.key.substr(0, 3)].push_back(
			std::accumulate(r.parts.begin(), r.parts.end(), r.value));
	for (auto &[key, values] : groups) {
		std::stable_sort(values.begin(), values.end(), std::greater<>());
		sums[key] += std::accumulate(values.begin(), values.end(), 0.);
	}
	for (const auto &[key, of] : sums)
		sum += std::regex_match(key, word) ? of : -of;
	std::deque<double> middle(rows.size(), sum);
	std::nth_element(middle.begin(), middle.begin() + n / 2, middle.end());
	return middle[n / 2];
}

int main(int argc, char **argv)
{
	const auto end = std::chrono::steady_clock::now() +
		std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 3);
	double sum = 0;

	while (std::chrono::steady_clock::now() < end)
		sum += work(3000);
	std::printf("%g\n", sum);
}
