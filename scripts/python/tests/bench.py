"""Look-ups through Python's module: nanoseconds for each address. bench.py STORE FILE-NAME N"""
import array
import random
import statistics
import sys
import time

import symcache

PASSES = 7


def measure(name, n, work):
    times = []
    for _ in range(PASSES):
        begin = time.perf_counter()
        frames = work()
        times.append((time.perf_counter() - begin) / n * 1e9)
    print(f"{name}\t{statistics.median(times):.0f}\t{frames / n:.2f}")


def main():
    path, name, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    cache = symcache.Store(path)[name]
    rng = random.Random(1)
    main_address = min(a for s in ("malloc", "main", "abort") for a in cache.addresses_of(s))
    addresses = [main_address + rng.randrange(500_000) for _ in range(n)]
    buffer = array.array("Q", addresses)
    out = array.array("Q", bytes(8 * (n + 1))), array.array("I", bytes(64 * n))
    single = addresses[:n // 10]
    measure("Python, numbers in a batch", n, lambda: len(cache.frames(buffer).ids))
    measure("Python, the same into arrays", n, lambda: cache.frames(buffer, out=out))
    measure("Python, objects one by one", len(single), lambda: sum(len(cache.frames(a)) for a in single))


main()
