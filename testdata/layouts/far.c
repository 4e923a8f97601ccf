/* Code in three places: see odd.recipe. */
extern int (*volatile far_pointer)(int), (*volatile low_pointer)(int);

__attribute__((section(".far"), noinline)) int far_away(int x)
{
	return x * 3 + 1;
}

__attribute__((section(".low"), noinline)) int low_down(int x)
{
	return x * 7 - 1;
}

static inline __attribute__((always_inline)) int both(int x)
{
	return far_pointer(x) + low_pointer(x);
}

void _start(void)
{
	for (int i = 0;; i++)
		far_pointer = both(i) ? low_pointer : far_pointer;
}

int (*volatile far_pointer)(int), (*volatile low_pointer)(int);
