/*
 * Feeds files to a fuzz target: NAME_fuzz FILE-or-DIRECTORY…
 *
 * The tests run each target over its corpus with this main(), so that every
 * input that was once worth keeping is tried again without libFuzzer. Prints
 * the current file when the target crashes or takes longer than ten seconds.
 * The bytes are on the heap in their exact size, where the address sanitizer
 * sees each access behind them.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *current = "";
static unsigned long files;

static void on_signal(int sig)
{
	static const char before[] = "while replaying ", behind[] = "\n";

	if (write(2, before, sizeof(before) - 1) < 0 || write(2, current, strlen(current)) < 0 ||
	    write(2, behind, 1) < 0)
		_exit(2);
	signal(sig, SIG_DFL);
	raise(sig);
}

static int replay_file(const char *path, off_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc((size_t)size ? (size_t)size : 1);
	size_t len;

	if (!file || !data) {
		perror(path);
		free(data);
		return 1;
	}
	len = fread(data, 1, (size_t)size, file);
	fclose(file);
	current = path;
	alarm(10);
	LLVMFuzzerTestOneInput(data, len);
	alarm(0);
	free(data);
	files++;
	return 0;
}

static int replay(const char *path)
{
	struct stat st;
	struct dirent *entry;
	int failed = 0;
	DIR *dir;

	if (stat(path, &st)) {
		perror(path);
		return 1;
	}
	if (!S_ISDIR(st.st_mode))
		return replay_file(path, st.st_size);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char *child;

		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&child, "%s/%s", path, entry->d_name) < 0)
			abort();
		failed |= replay(child);
		free(child);
	}
	if (dir)
		closedir(dir);
	return failed;
}

int main(int argc, char **argv)
{
	static const int signals[] = { SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	int failed = 0;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], on_signal);
	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	printf("%lu files\n", files);
	return failed || !files;
}
