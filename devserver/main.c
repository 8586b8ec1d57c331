/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatord-devserver: an API server in memory for trying and testing operators without a cluster.
 *
 * Ties the API to its HTTPS front: arguments, the socket, certificates, the token, the kubeconfig, signals. Exit status:
 * 0 asked to stop, 1 could not do its job, 64 wrong arguments.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "devserver/api.h"
#include "devserver/http.h"
#include "devserver/kubeconfig_file.h"
#include "devserver/tls.h"

#define EXIT_USAGE 64
#define BACKLOG    128

struct arguments {
	const char *listen, *kubeconfig;
	struct api_options api;
	enum log_level level;
};

struct server {
	struct loop *loop;
	struct api *api;
	struct http *http;
	struct tls_identity identity;
	char token[33];
	char *address; /* as in a URL */
	char *url;
};

static void
usage(FILE *out)
{
	fprintf(out, "usage: operatord-devserver [OPTION]...\n"
		     "A Kubernetes API server in memory, for trying and testing operators. It "
		     "keeps nothing and runs no pods;\n"
		     "everyone with its token may do everything.\n"
		     "\n"
		     "  --listen ADDRESS:PORT  where to listen; port 0 picks a free one (default "
		     "127.0.0.1:6443)\n"
		     "  --kubeconfig FILE      write a kubeconfig for it once it listens\n"
		     "  --history N            changes kept for watches (default 20000)\n"
		     "  --ready-delay MS       from a Deployment's change to its ready status "
		     "(default 300, -1 never)\n"
		     "  --log-level LEVEL      error, warn, info (default) or debug\n"
		     "  --version, --help\n");
}

static int
parse_number(const char *text, long minimum, long maximum, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	return *end || end == text || errno || *ret < minimum || *ret > maximum ? -EINVAL : 0;
}

/* 0 to go on; else the exit status is in *ret_status. */
static int
parse_arguments(int argc, char **argv, struct arguments *arguments, int *ret_status)
{
	static const struct option options[] = {{"listen", required_argument, NULL, 'l'},
		{"kubeconfig", required_argument, NULL, 'k'},
		{"history", required_argument, NULL, 'H'},
		{"ready-delay", required_argument, NULL, 'r'},
		{"log-level", required_argument, NULL, 'L'}, {"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'}, {0}};
	int option, level;
	long number;

	*ret_status = EXIT_USAGE;
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'l':
			arguments->listen = optarg;
			break;
		case 'k':
			arguments->kubeconfig = optarg;
			break;
		case 'H':
			if (parse_number(optarg, 1, 10000000, &number) < 0) {
				fprintf(stderr,
					"operatord-devserver: --history: %s: want a number from 1 "
					"to 10000000\n",
					optarg);
				return -EINVAL;
			}
			arguments->api.history = (size_t)number;
			break;
		case 'r':
			if (parse_number(optarg, -1, 3600000, &number) < 0) {
				fprintf(stderr,
					"operatord-devserver: --ready-delay: %s: want milliseconds "
					"from 0 to 3600000, or -1\n",
					optarg);
				return -EINVAL;
			}
			/* 0 of the API means its default */
			arguments->api.ready_delay_ns = number ? number * NSEC_PER_MSEC : 1;
			break;
		case 'L':
			level = log_level_parse(optarg);
			if (level < 0) {
				fprintf(stderr,
					"operatord-devserver: --log-level: %s: want error, warn, "
					"info or debug\n",
					optarg);
				return -EINVAL;
			}
			arguments->level = (enum log_level)level;
			break;
		case 'V':
			printf("operatord-devserver %s\n", PACKAGE_VERSION);
			*ret_status = 0;
			return -ECANCELED;
		case 'h':
			usage(stdout);
			*ret_status = 0;
			return -ECANCELED;
		default:
			usage(stderr);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "operatord-devserver: %s: unexpected argument\n", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

/* "127.0.0.1:6443", "[::1]:0" */
static int
parse_address(
	const char *text, struct sockaddr_storage *ret, socklen_t *ret_length, struct error *err)
{
	const char *colon = strrchr(text, ':');
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
	char host[64] = "";
	long port;

	memset(ret, 0, sizeof(*ret));
	if (!colon || colon - text >= (int)sizeof(host) ||
		parse_number(colon + 1, 0, 65535, &port) < 0)
		return error_set(err, -EINVAL,
			"%s: want ADDRESS:PORT, as 127.0.0.1:6443 or [::1]:6443", text);
	memcpy(host, text, (size_t)(colon - text));
	if (*host == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = '\0';
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		*ret_length = sizeof(*v6);
		if (inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1)
			return 0;
	} else {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		*ret_length = sizeof(*v4);
		if (inet_pton(AF_INET, host, &v4->sin_addr) == 1)
			return 0;
	}
	return error_set(
		err, -EINVAL, "%s: the address must be numeric, as 127.0.0.1 or [::1]", text);
}

static int
open_socket(const struct sockaddr_storage *address, socklen_t length, struct error *err)
{
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return error_set(err, -errno, "can't make a socket: %s", strerror(errno));
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)address, length) < 0 || listen(fd, BACKLOG) < 0) {
		int code = -errno;

		close(fd);
		return error_set(err, code, "can't listen: %s", strerror(-code));
	}
	return fd;
}

/* The bound address as in a URL; an address that is not ours alone is reached by loopback. Sets ret_foreign to it if it is none. */
static int
describe_socket(int fd, char **ret_url, char **ret_foreign)
{
	struct sockaddr_storage bound = {0};
	socklen_t length = sizeof(bound);
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&bound;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&bound;
	bool six, any, loopback;
	char host[64];

	if (getsockname(fd, (struct sockaddr *)&bound, &length) < 0)
		return -errno;
	six = bound.ss_family == AF_INET6;
	any = six ? IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)
		  : v4->sin_addr.s_addr == htonl(INADDR_ANY);
	loopback = six ? IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)
		       : ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	if (!inet_ntop(bound.ss_family,
		    six ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr, host,
		    sizeof(host)))
		return -errno;
	*ret_foreign = any || loopback ? NULL : xstrdup(host);
	if (any)
		snprintf(host, sizeof(host), "%s", six ? "::1" : "127.0.0.1");
	*ret_url = xasprintf(six ? "https://[%s]:%u" : "https://%s:%u", host,
		ntohs(six ? v6->sin6_port : v4->sin_port));
	return 0;
}

static void
make_token(char out[33])
{
	unsigned char bytes[16];

	clock_random_bytes(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static int
start(struct server *server, const struct arguments *arguments, struct error *err)
{
	struct sockaddr_storage address;
	socklen_t length = 0;
	int fd, result;

	result = parse_address(arguments->listen, &address, &length, err);
	if (result < 0)
		return result;
	fd = open_socket(&address, length, err);
	if (fd < 0)
		return fd;
	result = describe_socket(fd, &server->url, &server->address);
	if (!result)
		result = tls_generate(&server->identity, server->address, err);
	if (result) {
		close(fd);
		return result;
	}
	make_token(server->token);
	log_mask(server->token, strlen(server->token));
	server->api = api_new(&arguments->api);
	server->http =
		http_new(server->loop, server->api, fd, &server->identity, server->token, err);
	if (!server->http)
		return -EIO;
	if (!arguments->kubeconfig)
		return 0;
	return kubeconfig_file_write(
		arguments->kubeconfig, server->url, server->identity.ca.data, server->token, err);
}

static void
on_stop(void *data)
{
	log_info("stopping");
	loop_stop(data);
}

static void
stop(struct server *server)
{
	http_free(server->http);
	api_free(server->api);
	tls_free(&server->identity);
	free(server->url);
	free(server->address);
}

int
main(int argc, char **argv)
{
	struct arguments arguments = {.listen = "127.0.0.1:6443", .level = LOG_LEVEL_INFO};
	struct server server = {.identity = {BUF_INIT, BUF_INIT, BUF_INIT}};
	struct loop_signal *term, *interrupt;
	struct error err = {0};
	int status;

	if (parse_arguments(argc, argv, &arguments, &status) < 0)
		return status;
	log_open(arguments.level, LOG_FORMAT_AUTO);
	signal(SIGPIPE, SIG_IGN);
	server.loop = loop_new(true);
	term = loop_signal_new(server.loop, SIGTERM, on_stop, server.loop);
	interrupt = loop_signal_new(server.loop, SIGINT, on_stop, server.loop);
	status = start(&server, &arguments, &err) < 0;
	if (status) {
		log_error("%s", err.text);
	} else {
		log_info("operatord-devserver %s: a development API server in memory, not a "
			 "cluster: %s%s%s",
			PACKAGE_VERSION, server.url, arguments.kubeconfig ? ", kubeconfig " : "",
			arguments.kubeconfig ? arguments.kubeconfig : "");
		if (!arguments.kubeconfig)
			log_warn("without --kubeconfig FILE nobody can sign in");
		loop_run(server.loop);
	}
	stop(&server);
	loop_signal_free(term);
	loop_signal_free(interrupt);
	loop_free(server.loop);
	return status;
}
