/*
 * measure.c: how long commands take, and how much memory.
 *
 *   measure [-n RUNS] [-t SECONDS] [-i FILE] [-b SHELL_COMMAND]
 *           COMMAND [ARGUMENT...] [--vs PEER [ARGUMENT...]]
 *
 * Runs the command RUNS (5) times, its input from FILE (/dev/null), its output
 * and its complaints to /dev/null; SHELL_COMMAND before each run is not counted.
 * A peer takes turns with it, so that both see the machine in the same state; once
 * the peer has taken SECONDS (no limit) in all, it is not run again. Prints a line
 * for each of them:
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
#include <string.h>
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

/* A command, and what its runs took. */
struct measured {
	char **command;
	double times[RUNS_MAX], cpu[RUNS_MAX], total;
	int runs, worst; /* exit status */
	long peak;
};

static void run(struct measured *m, const char *input)
{
	double start = seconds(), took;
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (!child) {
		redirect(input, O_RDONLY, 0);
		redirect("/dev/null", O_WRONLY, 1);
		redirect("/dev/null", O_WRONLY, 2);
		execvp(*m->command, m->command);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child) {
		perror(*m->command);
		exit(2);
	}
	took = seconds() - start;
	m->total += took;
	m->times[m->runs] = took;
	m->cpu[m->runs++] = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	if (usage.ru_maxrss > m->peak)
		m->peak = usage.ru_maxrss;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (status > m->worst)
		m->worst = status;
}

static void print(struct measured *m)
{
	printf("%.6f %.6f %ld %d %d\n", median(m->times, (size_t)m->runs),
	       median(m->cpu, (size_t)m->runs), m->peak, m->runs, m->worst);
}

int main(int argc, char **argv)
{
	static struct measured command, peer;
	const char *input = "/dev/null", *before = NULL;
	double limit = 0;
	int runs = 5, opt;

	while ((opt = getopt(argc, argv, "+n:t:i:b:")) != -1) {
		switch (opt) {
		case 'n': runs = atoi(optarg); break;
		case 't': limit = atof(optarg); break;
		case 'i': input = optarg; break;
		case 'b': before = optarg; break;
		default: runs = 0;
		}
	}
	command.command = argv + optind;
	for (int i = optind; i < argc && !peer.command; i++) {
		if (!strcmp(argv[i], "--vs")) {
			argv[i] = NULL;
			peer.command = argv + i + 1;
		}
	}
	if (!*command.command || (peer.command && !*peer.command) || runs < 1 || runs > RUNS_MAX) {
		fprintf(stderr,
			"usage: measure [-n RUNS] [-t SECONDS] [-i FILE] [-b SHELL_COMMAND] "
			"COMMAND [ARGUMENT...] [--vs PEER [ARGUMENT...]]\n");
		return 2;
	}
	while (command.runs < runs) {
		if (before && system(before)) {
			fprintf(stderr, "measure: failed: %s\n", before);
			return 2;
		}
		run(&command, input);
		if (peer.command && (!peer.runs || !limit || peer.total < limit))
			run(&peer, input);
	}
	print(&command);
	if (peer.command)
		print(&peer);
	return 0;
}
