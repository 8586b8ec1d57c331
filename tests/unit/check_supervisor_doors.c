/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's doors: health and metrics over HTTP, the control socket and its lock, what is refused at them. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "tests/unit/supervisor_fixture.h"

static struct site site;

static void
start(const char *top, const char *names)
{
	site_open(&site, top, names);
	site_start(&site);
}

static void
start_live(const char *top, const char *name)
{
	start(top, name);
	WAIT_FOR(site_is(&site, name, "live"));
}

static void
teardown(void)
{
	site_close(&site);
}

/* The body of GET path; the status must be as wanted. */
static char *
body(const char *path, int want_status)
{
	int status;
	char *page = site_get(&site, path, &status), *at = strstr(page, "\r\n\r\n");

	if (status != want_status || !at)
		ck_abort_msg("%s: %d, not %d: %s", path, status, want_status, page);
	memmove(page, at + 4, strlen(at + 4) + 1);
	return page;
}

static void
expect(const char *path, int want_status, const char *words)
{
	char *text = body(path, want_status);

	if (!strstr(text, words))
		ck_abort_msg("%s: not '%s' in: %s", path, words, text);
	free(text);
}

static bool
answers(const char *path, int want_status)
{
	int status;

	free(site_get(&site, path, &status));
	return status == want_status;
}

/* --- health --- */

START_TEST(test_all_is_well)
{
	start_live("", "a");
	expect("/livez", 200, "ok\n");
	expect("/healthz", 200, "ok\n");
	expect("/readyz", 200, "ok\n");
	expect("/healthz/a", 200, "ok\n");
	expect("/healthz/nobody", 404, "no controller");
	expect("/readyz?verbose", 200, "[+] a: live\n");
	expect("/nothing", 404, "/readyz");
	expect("/../etc/passwd", 404, "not found");
	char *text = body("/readyz?format=json", 200);
	cJSON *json = json_parse(text, strlen(text), NULL);
	ck_assert(json_bool(json, "ok", false));
	const cJSON *worker = cJSON_GetArrayItem(json_get(json, "workers", NULL), 0);
	ck_assert_str_eq(json_string(worker, "name", ""), "a");
	ck_assert_str_eq(json_string(worker, "state", ""), "live");
	cJSON_Delete(json);
	free(text);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* E211: one that does not come up, and one that stops. */
START_TEST(test_readiness_drops)
{
	start("stopGrace: 700ms\n", "crash rude");
	WAIT_FOR(site_is(&site, "rude", "live") && site_is(&site, "crash", "backoff"));
	expect("/readyz", 503, "crash: ");
	expect("/livez", 200, "ok");
	expect("/healthz", 200, "ok");
	site_write_main(&site, "stopGrace: 700ms\n", "rude");
	ck_assert_int_eq(kill(site.pid, SIGHUP), 0);
	WAIT_FOR(answers("/readyz", 200));
	ck_assert_int_eq(kill(site.pid, SIGTERM), 0);
	WAIT_FOR(answers("/readyz", 503));
	expect("/readyz", 503, "stopping");
	expect("/livez", 200, "ok");
	ck_assert_int_eq(site_wait(&site, 15000), 0);
}
END_TEST

START_TEST(test_who_is_not_required_does_not_count)
{
	site_open(&site, "", "a");
	site_write(&site, "a.yaml",
		"version: 1\ncontrollers:\n- {name: crash, resource: things.v1.example.com, "
		"required: false}\n");
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live") && site_is(&site, "crash", "backoff"));
	expect("/readyz", 200, "ok");
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* --- metrics --- */

/* E203: a family's HELP and TYPE come once, its samples together; no series twice. */
static void
check_page(char *page)
{
	char family[256] = "", *save = NULL;
	const char *seen[512];
	size_t n = 0;

	for (char *line = strtok_r(page, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "# HELP ", 7) == 0) {
			(void)snprintf(family, sizeof(family), "%.*s", (int)strcspn(line + 7, " "),
				line + 7);
			for (size_t i = 0; i < n; i++)
				ck_assert(strncmp(seen[i], line + 7, strlen(family) + 1) != 0);
			ck_assert_uint_lt(n, 512);
			seen[n++] = line + 7;
		} else if (*line != '#') {
			ck_assert_int_eq(strncmp(line, family, strlen(family)), 0);
		}
	}
	ck_assert_uint_gt(n, 20);
}

START_TEST(test_metrics)
{
	int status;

	start("", "counter other");
	WAIT_FOR(site_is(&site, "counter", "live") && site_is(&site, "other", "live"));
	char *page = site_get(&site, "/metrics", &status);
	/* E205 */
	ck_assert_ptr_nonnull(
		strstr(page, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
	ck_assert_ptr_nonnull(strstr(page, "\noperatord_lists_total{controller=\"counter\"} 10\n"));
	ck_assert_ptr_nonnull(
		strstr(page, "\noperatord_worker_state{controller=\"other\",state=\"live\"} 1\n"));
	ck_assert_ptr_nonnull(
		strstr(page, "\nworkqueue_depth{controller=\"other\",name=\"other\"} "));
	free(page);
	page = body("/metrics", 200);
	check_page(page);
	free(page);
	/* Counters go on where a death left them. */
	ck_assert_int_eq(kill(site_pid(&site, "counter"), SIGKILL), 0);
	WAIT_FOR(site_number(&site, "counter", "generation") >= 2 &&
		 site_is(&site, "counter", "live"));
	expect("/metrics", 200, "operatord_lists_total{controller=\"counter\"} 20\n");
	expect("/metrics", 200,
		"operatord_worker_restarts_total{controller=\"counter\",reason=\"killed\"} 1\n");
	expect("/readyz/counter", 200, "ok");
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* --- HTTP --- */

static char *
talk(const char *request)
{
	struct buf text = BUF_INIT;
	char bytes[4096];
	ssize_t n;
	int fd = site_connect(site.http);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, request, strlen(request)), (ssize_t)strlen(request));
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_add(&text, bytes, (size_t)n);
	(void)close(fd);
	return buf_detach(&text, NULL);
}

static const struct {
	const char *request, *answer;
} requests[] = {
	{"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
		"HTTP/1.1 405 "},
	{"DELETE /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 405 "},
	{"HEAD /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 "},
	{"GET /livez HTTP/1.0\r\n\r\n", "HTTP/1.1 200 "},
	{"HEAD /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 "},
	{"PUT /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 405 "},
	{"GET /healthz/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 "},
	{"GET /metrics/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 "},
	{"nonsense\r\n\r\n", ""},
};

START_TEST(test_requests)
{
	start_live("", "a");
	char *answer = talk(requests[_i].request);
	ck_assert_int_eq(strncmp(answer, requests[_i].answer, strlen(requests[_i].answer)), 0);
	free(answer);
	expect("/livez", 200, "ok");
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

static bool
is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EINTR);
}

/*
 * More connections than are served at once, none of which says anything: they don't keep a probe out until their time is up, since the oldest of them
 * are cut for the newer ones. The 60th had a place at once, and has it still.
 */
START_TEST(test_silent_connections_are_cut)
{
	int fds[80];

	start_live("", "a");
	for (int i = 0; i < 80; i++)
		fds[i] = site_connect(site.http);
	WAIT_FOR(answers("/livez", 200));
	ck_assert(is_closed(fds[0]));
	ck_assert(!is_closed(fds[60]));
	for (int i = 0; i < 80; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* A request that never ends: each byte comes in time, the whole does not. */
START_TEST(a_dripping_request_is_cut)
{
	int64_t start_ns = clock_monotonic_ns();
	char byte = 'a';

	start_live("", "a");
	int fd = site_connect(site.http);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "GET /livez HTTP/1.1\r\nX: ", 24), 24);
	do {
		pause_ms(50);
		(void)send(fd, &byte, 1, MSG_NOSIGNAL);
		ck_assert_int_lt(clock_monotonic_ns() - start_ns, 60 * NSEC_PER_SEC);
	} while (!is_closed(fd));
	(void)close(fd);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(long_headers_are_refused)
{
	struct buf request = BUF_INIT;

	start_live("", "a");
	buf_adds(&request, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: ");
	for (int i = 0; i < 20000; i++)
		buf_addc(&request, 'x');
	buf_adds(&request, "\r\n\r\n");
	char *answer = talk(request.data);
	ck_assert(strncmp(answer, "HTTP/1.1 200", 12) != 0);
	free(answer);
	buf_free(&request);
	expect("/livez", 200, "ok");
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

#define MANY 200

/* Milliseconds until the whole answer was there: the best of three, since others use this machine too. */
static int
answer_ms(const char *path, int want_status, size_t *ret_length)
{
	int64_t best_ns = INT64_MAX;

	for (int i = 0; i < 3; i++) {
		int64_t start_ns = clock_monotonic_ns(), took_ns;
		char *text = body(path, want_status);

		took_ns = clock_monotonic_ns() - start_ns;
		if (took_ns < best_ns)
			best_ns = took_ns;
		*ret_length = strlen(text);
		free(text);
	}
	return (int)(best_ns / NSEC_PER_MSEC);
}

static void
signal_all(int signo)
{
	char name[16];

	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "w%d", i);
		ck_assert_int_eq(kill(site_pid(&site, name), signo), 0);
	}
}

/* Answers come from memory: workers that stand still are shown, not waited for. Readers that stand still do not use up the memory. */
START_TEST(many_workers_that_stand_still)
{
	static const char *const paths[] = {
		"/livez", "/healthz?verbose", "/readyz?format=json", "/metrics"};
	struct buf names = BUF_INIT;
	int fds[40];
	size_t length;

	for (int i = 0; i < MANY; i++)
		buf_addf(&names, "w%d ", i);
	start("heartbeat: 60s\nlog: {level: warn, format: text}\n", names.data);
	buf_free(&names);
	WAIT_FOR(answers("/readyz", 200));
	signal_all(SIGSTOP);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int ms = answer_ms(paths[i], 200, &length);

		printf("%s with %d workers: %zu bytes in %d ms\n", paths[i], MANY, length, ms);
		ck_assert_int_lt(ms, 1000);
	}
	ck_assert_uint_gt(length, 500000);
	for (int i = 0; i < 40; i++) {
		fds[i] = site_connect(site.http);
		ck_assert_int_ge(fds[i], 0);
		ck_assert_int_eq(write(fds[i], "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 35), 35);
	}
	ck_assert_int_lt(answer_ms("/livez", 200, &length), 1000);
	char *page = body("/healthz/w0", 200);
	free(page);
	for (int i = 0; i < 40; i++)
		(void)close(fds[i]);
	WAIT_FOR(answers("/metrics", 200));
	signal_all(SIGCONT);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* E205: whatever a scraper would like best. */
static const char *const accepts[] = {
	"*/*",
	"text/plain",
	"text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	"application/json",
	"application/openmetrics-text;version=1.0.0,application/"
	"openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5",
	"application/"
	"vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
};

START_TEST(the_type_of_the_metrics)
{
	char request[400];

	start_live("", "a");
	for (size_t i = 0; i < sizeof(accepts) / sizeof(*accepts); i++)
		for (int head = 0; head < 2; head++) {
			(void)snprintf(request, sizeof(request),
				"%s /metrics HTTP/1.1\r\nHost: x\r\nAccept: %s\r\nConnection: "
				"close\r\n\r\n",
				head ? "HEAD" : "GET", accepts[i]);
			char *answer = talk(request);
			ck_assert_int_eq(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
			ck_assert_ptr_nonnull(strstr(answer,
				"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
			ck_assert_int_eq(strstr(answer, "# TYPE") == NULL, head);
			free(answer);
		}
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

static int
bound_port(int *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

START_TEST(one_address_of_ipv6)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	char top[64];
	int port, fd = bound_port(&port);

	(void)close(fd);
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		printf("no IPv6 here: not tested\n");
		return;
	}
	(void)close(fd);
	(void)snprintf(top, sizeof(top), "http: {listen: \"[::1]:%d\"}\n", port);
	start_live(top, "a");
	address.sin6_port = htons((uint16_t)port);
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	(void)close(fd);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_a_port_that_is_taken_is_named)
{
	char top[128], listen_[64];
	int port, fd = bound_port(&port);

	(void)snprintf(listen_, sizeof(listen_), _i ? ":%d" : "127.0.0.1:%d", port);
	(void)snprintf(top, sizeof(top), "http: {listen: \"%s\"}\n", listen_);
	start(top, "a");
	ck_assert_int_eq(site_wait(&site, 15000), 1);
	ck_assert_uint_eq(site_log_has(&site, listen_), 1);
	ck_assert_uint_eq(site_log_has(&site, "worker a started"), 0);
	(void)close(fd);
}
END_TEST

/* ":PORT" is every address of both kinds. */
START_TEST(test_every_address)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	char top[64];
	int port, fd = bound_port(&port);

	(void)close(fd);
	(void)snprintf(top, sizeof(top), "http: {listen: \":%d\"}\n", port);
	start_live(top, "a");
	address.sin_port = htons((uint16_t)port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	(void)close(fd);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* A socket that somebody listens on is not taken away; a leftover is replaced. */
START_TEST(test_a_unix_socket_in_use_and_a_leftover)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	site_open(&site, "", "a");
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", site.http);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	site_start(&site);
	ck_assert_int_eq(site_wait(&site, 15000), 1);
	ck_assert_uint_eq(site_log_has(&site, "Address already in use"), 1);
	(void)close(fd);
	site_start(&site);
	WAIT_FOR(answers("/livez", 200));
	WAIT_FOR(site_is(&site, "a", "live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
	ck_assert_int_ne(access(site.http, F_OK), 0);
}
END_TEST

/* --- control --- */

START_TEST(test_a_second_one_is_refused_by_the_first_ones_pid)
{
	char words[64];

	start_live("", "a");
	struct site other = site;
	(void)snprintf(words, sizeof(words), "already running as pid %d ", (int)site.pid);
	site_start(&other);
	ck_assert_int_eq(site_wait(&other, 15000), 1);
	ck_assert_uint_eq(site_log_has(&site, words), 1);
	ck_assert(site_is(&site, "a", "live"));
	/* After a death that left socket and lock behind, the next one starts. */
	ck_assert_int_eq(kill(site.pid, SIGKILL), 0);
	WAIT_FOR(is_gone(site.pid));
	ck_assert_int_eq(access(site.control, F_OK), 0);
	(void)kill(site.pid, SIGKILL);
	pid_t first = site.pid;
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live"));
	ck_assert_int_ne(site.pid, first);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_the_socket_is_ours_alone)
{
	struct stat st;

	start_live("", "a");
	ck_assert_int_eq(stat(site.control, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
	ck_assert_int_ne(access(site.control, F_OK), 0);
}
END_TEST

/* Nonsense, a request that it does not know, half a request: none keeps the others out. */
START_TEST(test_bad_requests)
{
	char bytes[RECORD_SIZE];
	struct record record;
	int code, fds[3];

	start_live("", "a");
	memset(bytes, 0x5a, sizeof(bytes));
	for (int i = 0; i < 3; i++)
		fds[i] = site_connect(site.control);
	ck_assert_int_eq(write(fds[0], bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
	WAIT_FOR(is_closed(fds[0]));
	ck_assert_int_eq(write(fds[1], bytes, 17), 17);
	free(site_ask(&site, RECORD_STOP, &code));
	ck_assert_int_eq(code, 1);
	/* Two requests on one connection: the second is one too many, whatever becomes of the first. */
	record_set(&record, RECORD_STATUS, 0, 0, NULL);
	ck_assert_int_eq(record_write(fds[2], &record), 0);
	(void)send(fds[2], &record, sizeof(record), MSG_NOSIGNAL);
	(void)close(fds[2]);
	ck_assert(site_is(&site, "a", "live"));
	(void)close(fds[0]);
	(void)close(fds[1]);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* As for HTTP: who only stays connected does not keep operatorctl out, and costs a bounded number of descriptors. */
START_TEST(test_idle_connections_are_cut)
{
	int fds[64], open_ = 0, code;

	start_live("", "a");
	for (int i = 0; i < 64; i++)
		fds[i] = site_connect(site.control);
	free(site_ask(&site, RECORD_STATUS, &code));
	ck_assert_int_eq(code, 0);
	WAIT_FOR(is_closed(fds[0]));
	ck_assert(!is_closed(fds[63]));
	for (int i = 0; i < 64; i++) {
		open_ += !is_closed(fds[i]);
		(void)close(fds[i]);
	}
	ck_assert_int_le(open_, 24);
	WAIT_FOR(site_is(&site, "a", "live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* E189: no place to write. */
START_TEST(test_a_control_path_that_can_not_be_used)
{
	site_open(&site, "", "a");
	(void)snprintf(site.control, sizeof(site.control), "/proc/self/nowhere/control");
	site_start(&site);
	ck_assert_int_eq(site_wait(&site, 15000), 1);
	ck_assert_uint_ge(site_log_has(&site, "/proc/self/nowhere/control"), 1);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("doors");
	TCase *health = tcase_create("health"), *http = tcase_create("http");
	TCase *control = tcase_create("control");
	TCase *const cases[] = {health, http, control};
	SRunner *runner = srunner_create(suite);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		tcase_add_checked_fixture(cases[i], NULL, teardown);
		tcase_set_timeout(cases[i], 120);
		suite_add_tcase(suite, cases[i]);
	}
	tcase_add_test(health, test_all_is_well);
	tcase_add_test(health, test_readiness_drops);
	tcase_add_test(health, test_who_is_not_required_does_not_count);
	tcase_add_test(health, test_metrics);
	tcase_add_loop_test(http, test_requests, 0, (int)(sizeof(requests) / sizeof(*requests)));
	tcase_add_test(http, test_silent_connections_are_cut);
	tcase_add_test(http, a_dripping_request_is_cut);
	tcase_add_test(http, long_headers_are_refused);
	tcase_add_test(http, many_workers_that_stand_still);
	tcase_add_test(http, the_type_of_the_metrics);
	tcase_add_test(http, one_address_of_ipv6);
	tcase_add_loop_test(http, test_a_port_that_is_taken_is_named, 0, 2);
	tcase_add_test(http, test_every_address);
	tcase_add_test(http, test_a_unix_socket_in_use_and_a_leftover);
	tcase_add_test(control, test_a_second_one_is_refused_by_the_first_ones_pid);
	tcase_add_test(control, test_the_socket_is_ours_alone);
	tcase_add_test(control, test_bad_requests);
	tcase_add_test(control, test_idle_connections_are_cut);
	tcase_add_test(control, test_a_control_path_that_can_not_be_used);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
