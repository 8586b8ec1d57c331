/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor as a process under test. It dies with the test, however that ends. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "tests/unit/supervisor_fixture.h"

#define POLL_MS      5
#define ASK_LIMIT_NS (20 * NSEC_PER_SEC)

static struct buf last_log = BUF_INIT;
static const struct site *last_site;

/* --- waiting --- */

void
pause_ms(int ms)
{
	const struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};

	(void)nanosleep(&time, NULL);
}

long
wait_tries(void)
{
	return 30000 / POLL_MS;
}

bool
wait_more(long *tries)
{
	pause_ms(POLL_MS);
	return --*tries > 0;
}

const char *
wait_log(void)
{
	buf_reset(&last_log);
	if (last_site)
		(void)buf_read_file(&last_log, last_site->log, 1 << 24);
	return last_log.length > 6000 ? last_log.data + last_log.length - 6000 : last_log.data;
}

bool
is_gone(pid_t pid)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	(void)fclose(file);
	state = strrchr(text, ')');
	return !state || state[1] == '\0' || state[2] == 'Z' || state[2] == 'X';
}

/* --- files --- */

/* By rename: a reload must not see half a file. */
static void
put_file(const char *path, const char *text)
{
	char new[128];
	FILE *file;

	(void)snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(new, 0644), 0);
	ck_assert_int_eq(rename(new, path), 0);
}

static void
conf_path(const struct site *site, const char *name, char out[128])
{
	(void)snprintf(out, 128, "%s/conf.d/%s", site->directory, name);
}

void
site_write(struct site *site, const char *name, const char *text)
{
	char path[128];

	conf_path(site, name, path);
	put_file(path, text);
}

void
site_remove(struct site *site, const char *name)
{
	char path[128];

	conf_path(site, name, path);
	(void)unlink(path);
}

void
site_write_main(struct site *site, const char *top, const char *names)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, "version: 1\n");
	if (!strstr(top, "heartbeat:"))
		buf_addf(&text, "heartbeat: %dms\n", HEARTBEAT_MS);
	if (!strstr(top, "log:"))
		buf_adds(&text, "log: {level: debug, format: text}\n");
	if (!strstr(top, "http:"))
		buf_addf(&text, "http: {listen: \"unix:%s\"}\n", site->http);
	buf_adds(&text, top);
	buf_adds(&text, "controllers:\n");
	for (const char *p = names + strspn(names, " "); *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");
		buf_addf(&text, "- {name: %.*s, resource: things.v1.example.com}\n", (int)n, p);
		p += n;
	}
	put_file(site->config, text.data);
	buf_free(&text);
}

void
site_open(struct site *site, const char *top, const char *names)
{
	char path[128];

	*site = (struct site){0};
	(void)snprintf(site->directory, sizeof(site->directory), "/tmp/supervisor-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(site->directory));
	(void)snprintf(site->config, sizeof(site->config), "%s/main.yaml", site->directory);
	(void)snprintf(site->control, sizeof(site->control), "%s/control", site->directory);
	(void)snprintf(site->http, sizeof(site->http), "%s/http", site->directory);
	(void)snprintf(site->log, sizeof(site->log), "%s/log", site->directory);
	(void)snprintf(site->notify, sizeof(site->notify), "%s/notify", site->directory);
	conf_path(site, "", path);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	site_write_main(site, top, names);
}

/* --- the process --- */

/* We stay who we are, by another name: files keep their owner. */
static void
enter_user_namespace(void)
{
	char map[64];
	int n = snprintf(map, sizeof(map), "0 %u 1", (unsigned)geteuid());

	if (unshare(CLONE_NEWUSER) < 0)
		return;
	int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, map, (size_t)n) == n)
		(void)close(fd);
}

static void __attribute__((noreturn)) run(const struct site *site)
{
	const struct supervisor_options options = {.config_path = site->config,
		.control = site->control,
		.log_level = -1,
		.worker_main = fake_worker_main};
	const struct rlimit files = {(rlim_t)site->files_limit, 4096};
	int log = open(site->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)setpgid(0, 0);
	(void)dup2(log, STDERR_FILENO);
	(void)close(log);
	(void)setenv("NOTIFY_SOCKET", site->notify, 1);
	(void)setenv("WATCHDOG_USEC", "20000000", 1);
	if (site->own_user_namespace)
		enter_user_namespace();
	if (site->files_limit)
		(void)setrlimit(RLIMIT_NOFILE, &files);
	exit(supervisor_run(&options)); /* not _exit: the leak sanitizer shall look */
}

void
site_start(struct site *site)
{
	last_site = site;
	(void)fflush(NULL);
	site->pid = fork();
	ck_assert_int_ge(site->pid, 0);
	if (site->pid == 0)
		run(site);
}

int
site_wait(struct site *site, int within_ms)
{
	int64_t deadline_ns = clock_monotonic_ns() + within_ms * NSEC_PER_MSEC;
	int status;

	for (;;) {
		if (waitpid(site->pid, &status, WNOHANG) == site->pid)
			break;
		if (clock_monotonic_ns() > deadline_ns)
			ck_abort_msg("still runs after %d ms:\n%s", within_ms, wait_log());
		pause_ms(POLL_MS);
	}
	site->pid = 0;
	if (!WIFEXITED(status))
		ck_abort_msg("ended with wait status %#x:\n%s", (unsigned)status, wait_log());
	return WEXITSTATUS(status);
}

int
site_stop(struct site *site, int signo)
{
	ck_assert_int_eq(kill(site->pid, signo), 0);
	return site_wait(site, 15000);
}

void
site_close(struct site *site)
{
	static const char *const names[] = {"main.yaml", "control", "control.lock", "http", "log", "notify"};
	char path[192];

	if (site->pid > 0) {
		(void)kill(site->pid, SIGKILL);
		(void)waitpid(site->pid, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", site->directory, names[i]);
		(void)unlink(path);
	}
	site_remove(site, "a.yaml");
	site_remove(site, "b.yaml");
	conf_path(site, "", path);
	(void)rmdir(path);
	(void)rmdir(site->directory);
	last_site = NULL;
	buf_free(&last_log);
}

unsigned
site_log_has(const struct site *site, const char *words)
{
	struct buf text = BUF_INIT;
	unsigned n = 0;

	(void)buf_read_file(&text, site->log, 1 << 24);
	for (const char *p = text.data; (p = strstr(p, words)); p++)
		n++;
	buf_free(&text);
	return n;
}

/* --- its sockets --- */

int
site_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static bool
is_readable(int fd, int64_t deadline_ns)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	int64_t left_ns = deadline_ns - clock_monotonic_ns();

	return left_ns > 0 && poll(&pollfd, 1, (int)(left_ns / NSEC_PER_MSEC) + 1) > 0;
}

char *
site_ask(struct site *site, enum record_type type, int *ret_code)
{
	return site_ask_value(site, type, 0, ret_code);
}

char *
site_ask_value(struct site *site, enum record_type type, int32_t value, int *ret_code)
{
	int64_t deadline_ns = clock_monotonic_ns() + ASK_LIMIT_NS;
	struct record_reader reader = {0};
	struct buf text = BUF_INIT;
	struct record record;
	int fd = site_connect(site->control);

	*ret_code = -1;
	if (fd < 0)
		return buf_detach(&text, NULL);
	record_set(&record, type, 0, value, NULL);
	ck_assert_int_eq(record_write(fd, &record), 0);
	while (*ret_code < 0 && is_readable(fd, deadline_ns)) {
		int r = record_read(&reader, fd, &record);
		if (r < 0)
			break;
		if (r == 1 && record.type == RECORD_LINE)
			buf_add(&text, record.text, record.length);
		if (r == 1 && record.type == RECORD_END)
			*ret_code = record.value;
	}
	(void)close(fd);
	return buf_detach(&text, NULL);
}

cJSON *
site_worker(struct site *site, const char *name)
{
	int code;
	char *text = site_ask(site, RECORD_STATUS, &code);
	cJSON *status = code == 0 ? json_parse(text, strlen(text), NULL) : NULL, *item,
	      *found = NULL;

	/* An answer that is one must be a document. */
	ck_assert(code != 0 || status);
	free(text);
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(status, "workers"))
	{
		if (strcmp(json_string(item, "name", ""), name) == 0)
			found = cJSON_Duplicate(item, true);
	}
	cJSON_Delete(status);
	return found;
}

pid_t
site_pid(struct site *site, const char *name)
{
	return (pid_t)site_number(site, name, "pid");
}

double
site_number(struct site *site, const char *name, const char *key)
{
	cJSON *worker = site_worker(site, name);
	const cJSON *number = worker ? cJSON_GetObjectItemCaseSensitive(worker, key) : NULL;
	double value = cJSON_IsNumber(number) ? number->valuedouble : 0;

	cJSON_Delete(worker);
	return value;
}

bool
site_is(struct site *site, const char *name, const char *state)
{
	cJSON *worker = site_worker(site, name);
	bool is = worker && strcmp(json_string(worker, "state", ""), state) == 0;

	cJSON_Delete(worker);
	return is;
}

bool
site_cause_has(struct site *site, const char *name, const char *words)
{
	cJSON *worker = site_worker(site, name);
	bool has = worker && strstr(json_string(worker, "cause", ""), words);

	cJSON_Delete(worker);
	return has;
}

char *
site_get(struct site *site, const char *path, int *ret_status)
{
	int64_t deadline_ns = clock_monotonic_ns() + ASK_LIMIT_NS;
	struct buf text = BUF_INIT;
	char bytes[8192];
	ssize_t n;
	int fd = site_connect(site->http);

	*ret_status = 0;
	if (fd < 0)
		return buf_detach(&text, NULL);
	buf_addf(&text, "GET %s HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", path);
	ck_assert_int_eq(write(fd, text.data, text.length), (ssize_t)text.length);
	buf_reset(&text);
	while (is_readable(fd, deadline_ns) && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_add(&text, bytes, (size_t)n);
	(void)close(fd);
	if (strncmp(text.data, "HTTP/1.1 ", 9) == 0)
		*ret_status = (int)strtol(text.data + 9, NULL, 10);
	return buf_detach(&text, NULL);
}
