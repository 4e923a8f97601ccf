/*
 * measure.c: how long a command takes, and how much memory.
 *
 *   measure [-n RUNS] [-t SECONDS] [-i FILE] [-b SHELL_COMMAND] COMMAND [ARGUMENT...]
 *
 * Runs the command RUNS (5) times, its input from FILE (/dev/null), its output
 * and its complaints to /dev/null; SHELL_COMMAND before each run is not counted.
 * Once SECONDS (none) have passed it is not run again. Prints one line:
 *
 *   SECONDS CPU_SECONDS PEAK_KILOBYTES RUNS STATUS
 *
 * the medians of the time from before the fork to after the wait, and of the
 * processor time of all that ran; the largest resident set of any process of any
 * run; how many runs; the worst exit status (128 + signal).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 1000

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void redirect(const char *path, int flags, int fd)
{
	int from = open(path, flags);

	if (from < 0 || dup2(from, fd) < 0) {
		perror(path);
		_exit(126);
	}
	close(from);
}

/* Runs the command once; returns its exit status, raises *peak. */
static int run(char **command, const char *input, double *took, double *cpu, long *peak)
{
	double start = seconds();
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (!child) {
		redirect(input, O_RDONLY, 0);
		redirect("/dev/null", O_WRONLY, 1);
		redirect("/dev/null", O_WRONLY, 2);
		execvp(*command, command);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child) {
		perror(*command);
		exit(2);
	}
	*took = seconds() - start;
	*cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	if (usage.ru_maxrss > *peak)
		*peak = usage.ru_maxrss;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *input = "/dev/null", *before = NULL;
	double times[RUNS_MAX], cpu[RUNS_MAX], limit = 0, begin = seconds();
	int runs = 5, n = 0, worst = 0, opt;
	long peak = 0;

	while ((opt = getopt(argc, argv, "+n:t:i:b:")) != -1) {
		switch (opt) {
		case 'n': runs = atoi(optarg); break;
		case 't': limit = atof(optarg); break;
		case 'i': input = optarg; break;
		case 'b': before = optarg; break;
		default: runs = 0;
		}
	}
	if (optind == argc || runs < 1 || runs > RUNS_MAX) {
		fprintf(stderr, "usage: measure [-n RUNS] [-t SECONDS] [-i FILE] "
			"[-b SHELL_COMMAND] COMMAND [ARGUMENT...]\n");
		return 2;
	}
	while (n < runs && (!n || !limit || seconds() - begin < limit)) {
		if (before && system(before)) {
			fprintf(stderr, "measure: failed: %s\n", before);
			return 2;
		}
		int status = run(argv + optind, input, &times[n], &cpu[n], &peak);
		n++;
		if (status > worst)
			worst = status;
	}
	printf("%.6f %.6f %ld %d %d\n", median(times, (size_t)n), median(cpu, (size_t)n), peak, n,
	       worst);
	return 0;
}
