/*
 * testing_server.h: a web server for tests, which include it behind cmocka.h: a thread that serves the
 * files of a folder.
 */
#ifndef SC_TESTING_SERVER_H
#define SC_TESTING_SERVER_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct testing_server {
	const char *folder;
	int listening;
	char url[40];
	bool broken;       /* it answers 503 */
	unsigned requests; /* that it got */
} server;

static inline void server_answer(int fd, const char *path)
{
	static char body[1 << 20];
	char name[500];
	FILE *f;
	size_t n = 0;

	snprintf(name, sizeof(name), "%s%s", server.folder, path);
	f = server.broken ? NULL : fopen(name, "re");
	if (f) {
		n = fread(body, 1, sizeof(body), f);
		fclose(f);
	}
	dprintf(fd, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		server.broken ? "503 Service Unavailable" : f ? "200 OK" : "404 Not Found", n);
	(void)!write(fd, body, n);
}

static void *server_run(void *ctx)
{
	char text[2000], path[300];
	int fd;

	while ((fd = accept(server.listening, NULL, NULL)) >= 0) {
		const ssize_t n = read(fd, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = 0;
		server.requests++;
		if (sscanf(text, "GET %299s", path) == 1)
			server_answer(fd, path);
		close(fd);
	}
	return ctx;
}

/* It runs until the test ends. The folder is borrowed. */
static inline void server_start(const char *folder)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	pthread_t thread;

	server.folder = folder;
	server.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_false(bind(server.listening, (struct sockaddr *)&at, sizeof(at)) || listen(server.listening, 20) ||
		     getsockname(server.listening, (struct sockaddr *)&at, &len));
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%d", ntohs(at.sin_port));
	setenv("no_proxy", "*", 1);
	assert_false(pthread_create(&thread, NULL, server_run, NULL));
}

#endif
