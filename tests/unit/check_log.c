/* SPDX-License-Identifier: Apache-2.0 */
/* One event is one whole line, whatever it is made of, shows no secret, and never blocks (E215, E217). */
#include "config.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/log_line.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Lines that were caught, each with a line end. */
static struct buf caught;

static void
take_line(enum log_level level, const char *line, void *data)
{
	(void)level;
	ck_assert_ptr_null(data);
	ck_assert_uint_lt(strlen(line), LOG_LINE_MAX);
	buf_adds(&caught, line);
	buf_addc(&caught, '\n');
}

static void
start(void)
{
	caught = BUF_INIT;
	log_open(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	log_capture(take_line, NULL);
}

static void
end(void)
{
	log_capture(NULL, NULL);
	log_context("controller", NULL);
	buf_free(&caught);
}

/* The one line that was caught, as JSON; its time checked and taken off. */
static cJSON *
parsed(void)
{
	struct error err;
	cJSON *object = json_parse(caught.data, caught.length, &err);

	ck_assert_msg(object != NULL, "%s: %s", err.text, caught.data);
	ck_assert_uint_eq(
		strlen(json_string(object, "time", "")), strlen("2026-11-30T22:05:00.123Z"));
	cJSON_DeleteItemFromObject(object, "time");
	return object;
}

static const struct line_case {
	enum log_format format;
	const char *controller, *namespace_, *name, *message, *value,
		*line; /* of text: without the time */
} line_cases[] = {
	{LOG_FORMAT_JOURNALD, NULL, NULL, NULL, "hello", NULL, "<4>hello\n"},
	{LOG_FORMAT_JOURNALD, "nginx", NULL, NULL, "hello", "v", "<4>nginx: hello key=v\n"},
	{LOG_FORMAT_JOURNALD, "nginx", "default", "web", "hello", "a b",
		"<4>nginx default/web: hello key=\"a b\"\n"},
	{LOG_FORMAT_JOURNALD, "nginx", NULL, "web", "hello", "", "<4>nginx web: hello key=\"\"\n"},
	{LOG_FORMAT_JOURNALD, NULL, "default", "web", "x", "a=b",
		"<4>default/web: x key=\"a=b\"\n"},
	{LOG_FORMAT_JOURNALD, NULL, NULL, NULL, "two\nlines\n", "q\"\\",
		"<4>two\\nlines key=\"q\\\"\\\\\"\n"},
	{LOG_FORMAT_JOURNALD, NULL, NULL, NULL,
		"\033[2J\xc2\x9b"
		"0m\x7f",
		NULL, "<4>\\u001b[2J\\u009b0m\\u007f\n"},
	{LOG_FORMAT_TEXT, "nginx", "default", "web", "hello", "v",
		" warn  nginx default/web: hello key=v\n"},
	{LOG_FORMAT_JSON, NULL, NULL, NULL, "hello", NULL,
		"{\"level\":\"warn\",\"msg\":\"hello\"}"},
	{LOG_FORMAT_JSON, "nginx", "default", "web", "\"\\\n\t\001", "v",
		"{\"level\":\"warn\",\"msg\":\"\\\"\\\\\\n\\t\\u0001\",\"controller\":\"nginx\","
		"\"namespace\":"
		"\"default\",\"name\":\"web\",\"key\":\"v\"}"},
	{LOG_FORMAT_JSON, NULL, NULL, NULL, "bad \xff\xed\xa0\x80 end \xe2\x82", NULL,
		"{\"level\":\"warn\",\"msg\":\"bad "
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd end "
		"\xef\xbf\xbd\xef\xbf\xbd\"}"},
};

START_TEST(lines_in_each_format)
{
	const struct line_case *c = &line_cases[_i];
	struct buf out = BUF_INIT;

	log_open(LOG_LEVEL_INFO, c->format);
	log_context("controller", c->controller);
	log_fields(LOG_LEVEL_WARN,
		LOG_FIELDS("namespace", c->namespace_, "name", c->name, "key", c->value), "%s",
		c->message);
	if (c->format == LOG_FORMAT_JSON) {
		cJSON *object = parsed();
		json_print(&out, object);
		ck_assert_str_eq(out.data, c->line);
		cJSON_Delete(object);
	} else {
		ck_assert_str_eq(caught.data + (c->format == LOG_FORMAT_TEXT ? 24 : 0), c->line);
	}
	buf_free(&out);
}
END_TEST

START_TEST(a_field_replaces_a_context)
{
	log_context("controller", "a");
	log_context("x", "old");
	log_fields(LOG_LEVEL_INFO, LOG_FIELDS("x", "new"), "m");
	ck_assert_ptr_nonnull(strstr(caught.data, "\"controller\":\"a\",\"x\":\"new\"}"));
	ck_assert_ptr_null(strstr(caught.data, "old"));
	log_context("x", NULL);
	buf_reset(&caught);
	log_info("m");
	ck_assert_ptr_null(strstr(caught.data, "\"x\""));
	for (int i = 0; i < 20; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		log_context(key, "v");
	}
	for (int i = 0; i < 20; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		log_context(key, NULL);
	}
}
END_TEST

START_TEST(levels)
{
	static const struct {
		enum log_level level;
		const char *name;
	} all[] = {{LOG_LEVEL_ERROR, "error"}, {LOG_LEVEL_WARN, "warn"}, {LOG_LEVEL_INFO, "info"},
		{LOG_LEVEL_DEBUG, "debug"}};

	for (size_t i = 0; i < COUNT(all); i++) {
		ck_assert_int_eq(log_level_parse(all[i].name), (int)all[i].level);
		ck_assert_str_eq(log_level_name(all[i].level), all[i].name);
		log_set_level(all[i].level);
		ck_assert_int_eq((int)log_get_level(), (int)all[i].level);
		buf_reset(&caught);
		log_error("e");
		log_warn("w");
		log_info("i");
		log_debug("d");
		size_t n = 0;
		for (size_t k = 0; k < caught.length; k++)
			n += caught.data[k] == '\n';
		ck_assert_uint_eq(n, i + 1);
	}
	ck_assert_int_eq(log_level_parse("Info"), -1);
	ck_assert_int_eq(log_level_parse(""), -1);
	ck_assert_int_eq(log_format_parse("json"), LOG_FORMAT_JSON);
	ck_assert_int_eq(log_format_parse("auto"), LOG_FORMAT_AUTO);
	ck_assert_int_eq(log_format_parse("xml"), -1);
}
END_TEST

START_TEST(errno_stays)
{
	errno = ENOTTY;
	log_info("m");
	ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

/* Sizes around every bound; each character takes 1 to 6 bytes when written. */
START_TEST(long_lines_stay_whole)
{
	static const char *const units[] = {
		"x", "\xc3\xa9", "\"", "\n.", "\001", "\xff", "\xf0\x9f\x98\x80"};
	static const size_t sizes[] = {3100, 3500, 4000, 4096, 8190, 8192, 8193, 20000};

	for (size_t u = 0; u < COUNT(units); u++)
		for (size_t s = 0; s < COUNT(sizes); s++)
			for (size_t shift = 0; shift < 7; shift++) {
				struct buf text = BUF_INIT;
				cJSON *object;

				while (text.length < sizes[s] + shift)
					buf_adds(&text, units[u]);
				buf_reset(&caught);
				log_fields(LOG_LEVEL_INFO,
					LOG_FIELDS("first", "short", "second", text.data, "third",
						"short", "fourth", text.data),
					"%.*s%s", (int)shift, "xxxxxxx", text.data);
				object = parsed();
				ck_assert_str_eq(json_string(object, "first", ""), "short");
				ck_assert_ptr_nonnull(
					strstr(json_string(object, "msg", ""), "..."));
				ck_assert_ptr_nonnull(
					strstr(json_string(object, "second", ""), "..."));
				cJSON_Delete(object);
				buf_free(&text);
			}
}
END_TEST

START_TEST(text_lines_are_bounded)
{
	char text[9000];

	log_open(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	memset(text, ' ', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_fields(LOG_LEVEL_INFO, LOG_FIELDS("namespace", text, "name", text, "a", text, "b", "v"),
		"%s", text);
	ck_assert_ptr_nonnull(strstr(caught.data, "..."));
	ck_assert_int_eq(caught.data[caught.length - 2], '"');
}
END_TEST

static const char secret[] = "s3cr\"et\n-t\\oken";

START_TEST(secrets_are_masked)
{
	char text[100];

	log_mask("short", 5);
	log_mask(secret, strlen(secret));
	log_mask(secret, strlen(secret));
	log_fields(LOG_LEVEL_INFO, LOG_FIELDS("k", secret), "a %s b%sc short", secret, secret);
	ck_assert_ptr_nonnull(strstr(caught.data, "\"a *** b***c short\",\"k\":\"***\"}"));
	(void)snprintf(text, sizeof(text), "%s%s.", secret, secret);
	log_apply_mask(text);
	ck_assert_str_eq(text, "******.");
	(void)snprintf(text, sizeof(text), "none");
	log_apply_mask(text);
	ck_assert_str_eq(text, "none");
}
END_TEST

/* At every place around the point where text is cut before it is masked. */
START_TEST(secrets_at_the_cut_are_masked)
{
	static const char token[] = "0123456789abcdefghijklmnopqrstuv";
	static char text[9000];

	log_mask(token, strlen(token));
	for (size_t at = 8140; at < 8200; at++) {
		memset(text, '\xff', sizeof(text) - 1);
		memcpy(text + at, token, strlen(token));
		/* Without what stands before, nothing is cut away by the line's own bound. */
		buf_reset(&caught);
		log_fields(LOG_LEVEL_INFO, LOG_FIELDS("k", text), "%s", text);
		ck_assert_ptr_null(strstr(caught.data, "0123"));
	}
	/* A secret that alone is longer than what is masked at once. */
	static char big[9000];
	memset(big, 'q', sizeof(big) - 1);
	log_mask(big, sizeof(big) - 1);
	buf_reset(&caught);
	log_info("%s", big);
	ck_assert_ptr_null(strstr(caught.data, "qqqq"));
	ck_assert_ptr_nonnull(strstr(caught.data, "***"));
}
END_TEST

START_TEST(the_oldest_secret_makes_room)
{
	char text[32];

	for (int i = 0; i < 65; i++) {
		(void)snprintf(text, sizeof(text), "secret-%04d", i);
		log_mask(text, strlen(text));
	}
	(void)snprintf(text, sizeof(text), "secret-%04d", 64);
	log_apply_mask(text);
	ck_assert_str_eq(text, "***");
	(void)snprintf(text, sizeof(text), "secret-%04d", 0);
	log_apply_mask(text);
	ck_assert_str_eq(text, "secret-0000");
}
END_TEST

/* What nobody registered, and what only looks like it. */
static const struct {
	const char *text, *shown;
} lookalikes[] = {
	{"GET https://user:pa55word@host:6443/x failed", "GET https://***@host:6443/x failed"},
	{"proxy http://u:p@ss@host", "proxy http://***@host"},
	{"https://token@host?a=b@c", "https://***@host?a=b@c"},
	{"https://host/a@b", "https://host/a@b"},
	{"https://host?mail=a@b", "https://host?mail=a@b"},
	{"\"https://a:b@h\" \"x@y\"", "\"https://***@h\" \"x@y\""},
	{"Authorization: Bearer abcdef0123.-_~+/=", "Authorization: Bearer ***"},
	{"authorization: bearer abcdef0123", "authorization: bearer ***"},
	{"the bearer of it", "the bearer of it"},
	{"Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"},
	{"Basic authentication is not supported", "Basic authentication is not supported"},
	{"token eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJl.c2lnbmF0dXJl!", "token ***!"},
	{"eyJ eyJa.b.c", "eyJ eyJa.b.c"},
	{"", ""},
	{"://", "://"},
	{"://a@", "://a@"},
	{"Bearer ", "Bearer "},
};

START_TEST(what_looks_like_a_secret_is_masked)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "%s", lookalikes[_i].text);
	log_apply_mask(text);
	ck_assert_str_eq(text, lookalikes[_i].shown);
	log_apply_mask(text);
	ck_assert_str_eq(text, lookalikes[_i].shown);
}
END_TEST

/* --- repetitions --- */

static size_t
lines(void)
{
	size_t n = 0;

	for (size_t k = 0; k < caught.length; k++)
		n += caught.data[k] == '\n';
	return n;
}

START_TEST(repetitions_are_held_back_and_summed_up)
{
	log_hold_repeats();
	for (int i = 0; i < 1000; i++)
		log_fields(LOG_LEVEL_WARN, LOG_FIELDS("namespace", "d", "name", "web"),
			"no answer (failure %d, next try in %.1f s)", i, i / 10.0);
	ck_assert_uint_eq(lines(), 5);
	ck_assert_uint_eq(log_repeated(), 995);
	log_flush(false);
	ck_assert_uint_eq(lines(), 5);
	buf_reset(&caught);
	log_flush(true);
	ck_assert_uint_eq(lines(), 1);
	cJSON *sum = parsed();
	ck_assert_str_eq(json_string(sum, "repeated", ""), "995");
	ck_assert_str_eq(json_string(sum, "name", ""), "web");
	ck_assert_str_eq(json_string(sum, "level", ""), "warn");
	ck_assert_ptr_nonnull(
		strstr(json_string(sum, "msg", ""), "995 more like this in the last"));
	ck_assert_ptr_nonnull(strstr(json_string(sum, "msg", ""), "no answer (failure 0"));
	cJSON_Delete(sum);
	log_flush(true);
	ck_assert_uint_eq(lines(), 1);
}
END_TEST

/* Another object, level, word, or a number that is part of a name. */
START_TEST(what_differs_is_not_held_back)
{
	log_hold_repeats();
	for (int i = 0; i < 20; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "web-%d", i);
		log_fields(LOG_LEVEL_INFO, LOG_FIELDS("namespace", "d", "name", name), "same");
		log_info("worker %s started", name);
		log_warn("w%d started", i);
	}
	ck_assert_uint_eq(lines(), 60);
	buf_reset(&caught);
	log_set_level(LOG_LEVEL_DEBUG);
	for (int i = 0; i < 20; i++)
		log_warn("all of it, for who looks for a fault");
	ck_assert_uint_eq(lines(), 20);
	ck_assert_uint_eq(log_repeated(), 0);
}
END_TEST

START_TEST(where_one_field_ends_is_a_difference)
{
	log_hold_repeats();
	for (int i = 0; i < 20; i++) {
		log_fields(LOG_LEVEL_INFO, LOG_FIELDS("namespace", "ab", "name", "c"), "%d cut", i);
		log_fields(LOG_LEVEL_INFO, LOG_FIELDS("namespace", "a", "name", "bc"), "%d cut", i);
	}
	ck_assert_uint_eq(lines(), 10);
}
END_TEST

#define MINUTE (60 * NSEC_PER_SEC)

START_TEST(after_a_minute_one_line_and_the_sum)
{
	struct log_repeat sum;
	int64_t now_ns = 1000 * MINUTE;

	log_repeat_clear();
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(log_repeat_note(now_ns, LOG_LEVEL_WARN, "", "", "m", &sum),
			LOG_REPEAT_PASSES);
	for (int minute = 1; minute < 10; minute++) {
		for (int i = 0; i < 7; i++)
			ck_assert_int_eq(log_repeat_note(now_ns, LOG_LEVEL_WARN, "", "", "m", &sum),
				LOG_REPEAT_HELD);
		now_ns += MINUTE;
		ck_assert_int_eq(log_repeat_note(now_ns, LOG_LEVEL_WARN, "", "", "m", &sum),
			LOG_REPEAT_PASSES_AFTER_SUM);
		ck_assert_uint_eq(sum.n, 7);
		ck_assert_str_eq(sum.message, "m");
		ck_assert_int_eq(sum.over_ns, MINUTE);
	}
	/* Quiet for a minute: as if it had never been. */
	now_ns += MINUTE;
	ck_assert(!log_repeat_due(now_ns, false, &sum));
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(log_repeat_note(now_ns, LOG_LEVEL_WARN, "", "", "m", &sum),
			LOG_REPEAT_PASSES);
}
END_TEST

/* Of each message only its sum is lost from sight, never its number: those that make room are said. */
START_TEST(the_table_is_bounded_and_loses_nothing)
{
	struct log_repeat sum;
	uint64_t passed = 0, held = 0, summed = 0;

	log_repeat_clear();
	for (int round = 0; round < 20000; round++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "n%u", (unsigned)(clock_random() % 100));
		switch (log_repeat_note(round, LOG_LEVEL_INFO, "d", name, "m", &sum)) {
		case LOG_REPEAT_PASSES_AFTER_SUM:
			summed += sum.n;
			passed++;
			break;
		case LOG_REPEAT_PASSES:
			passed++;
			break;
		case LOG_REPEAT_HELD:
			held++;
			break;
		}
	}
	while (log_repeat_due(0, true, &sum))
		summed += sum.n;
	ck_assert_uint_eq(passed + held, 20000);
	ck_assert_uint_eq(summed, held);
	ck_assert_uint_eq(log_repeated(), held);
	ck_assert(!log_repeat_due(0, true, &sum));
}
END_TEST

/* stderr is something else between these two. */
static int
replace_stderr(int fd, enum log_format format)
{
	int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);

	ck_assert_int_ge(saved, 0);
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	log_capture(NULL, NULL);
	log_open(LOG_LEVEL_INFO, format);
	return saved;
}

static void
restore_stderr(int saved)
{
	ck_assert_int_eq(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	(void)close(saved);
}

/* Reads what is there now. */
static void
drain(int fd, struct buf *out)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char bytes[4096];

	while (poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN)) {
		ssize_t n = read(fd, bytes, sizeof(bytes));
		if (n <= 0)
			return;
		buf_add(out, bytes, (size_t)n);
	}
}

/* Each line is an object; returns how many, and of those that tell of lost lines how many are lost. */
static size_t
count_objects(const struct buf *lines, uint64_t *ret_lost)
{
	size_t n = 0;

	*ret_lost = 0;
	for (const char *p = lines->data, *stop; p < lines->data + lines->length; p = stop + 1) {
		struct error err;
		cJSON *object;

		stop = strchr(p, '\n');
		ck_assert_msg(stop != NULL, "the last line has no end");
		object = json_parse(p, (size_t)(stop - p), &err);
		ck_assert_msg(object != NULL, "%s: %.*s", err.text, (int)(stop - p), p);
		if (json_string(object, "lost", NULL))
			*ret_lost += strtoull(json_string(object, "lost", ""), NULL, 10);
		else
			n++;
		cJSON_Delete(object);
	}
	return n;
}

static void
assert_full_sink_drops(const int fds[2])
{
	uint64_t dropped = log_dropped(), lost;
	struct buf lines = BUF_INIT;
	char text[3000];
	int saved, flags;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	saved = replace_stderr(fds[1], LOG_FORMAT_JSON);
	flags = fcntl(STDERR_FILENO, F_GETFL);
	for (int i = 0; i < 1000; i++)
		log_info("%s", text);
	ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFL), flags);
	dropped = log_dropped() - dropped;
	ck_assert_uint_gt(dropped, 0);
	ck_assert_uint_lt(dropped, 1000);
	drain(fds[0], &lines);
	log_info("gets through");
	drain(fds[0], &lines);
	restore_stderr(saved);
	ck_assert_uint_eq(count_objects(&lines, &lost), 1000 - dropped + 1);
	ck_assert_uint_eq(lost, dropped);
	ck_assert_ptr_nonnull(strstr(lines.data, "lines were lost"));
	buf_free(&lines);
}

START_TEST(a_full_pipe_drops_and_tells)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	assert_full_sink_drops(fds);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

START_TEST(a_full_socket_drops_and_tells)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_full_sink_drops(fds);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

/* The default action of SIGPIPE would end the test. */
START_TEST(a_reader_that_left)
{
	uint64_t dropped = log_dropped();
	int fds[2], saved;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	saved = replace_stderr(fds[1], LOG_FORMAT_JSON);
	(void)close(fds[0]);
	log_info("nobody reads");
	(void)close(STDERR_FILENO);
	log_info("nothing is there");
	ck_assert_int_eq(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	(void)close(saved);
	ck_assert_uint_eq(log_dropped() - dropped, 2);
	(void)close(fds[1]);
}
END_TEST

/* The pipe is opened anew, so that our descriptor never blocks and everybody else's does as before. */
START_TEST(others_keep_a_pipe_that_blocks)
{
	int fds[2], saved;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	saved = replace_stderr(fds[1], LOG_FORMAT_JSON);
	ck_assert_int_ne(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFD), 0);
	ck_assert_int_eq(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
	restore_stderr(saved);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

START_TEST(a_full_disk)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC), saved;
	uint64_t dropped = log_dropped();

	ck_assert_int_ge(fd, 0);
	saved = replace_stderr(fd, LOG_FORMAT_JSON);
	log_info("no space left on device");
	log_info("nor now");
	restore_stderr(saved);
	ck_assert_uint_eq(log_dropped() - dropped, 2);
	(void)close(fd);
}
END_TEST

START_TEST(formats_by_themselves)
{
	char stream[64], name[] = "/tmp/check_log.XXXXXX";
	struct buf lines = BUF_INIT;
	struct stat st;
	int fd, saved;

	fd = mkstemp(name);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	saved = replace_stderr(fd, LOG_FORMAT_AUTO);
	log_info("json");
	(void)snprintf(
		stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	(void)setenv("JOURNAL_STREAM", stream, 1);
	log_open(LOG_LEVEL_INFO, LOG_FORMAT_AUTO);
	log_info("journald");
	(void)snprintf(
		stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino + 1);
	(void)setenv("JOURNAL_STREAM", stream, 1);
	log_open(LOG_LEVEL_INFO, LOG_FORMAT_AUTO);
	log_info("json again");
	restore_stderr(saved);
	(void)unsetenv("JOURNAL_STREAM");
	ck_assert_int_eq(buf_read_file(&lines, name, 10000), 0);
	ck_assert_int_eq(lines.data[0], '{');
	ck_assert_ptr_nonnull(strstr(lines.data, "\n<6>journald\n{"));
	buf_free(&lines);
	(void)close(fd);
	(void)unlink(name);
}
END_TEST

START_TEST(colours_on_a_terminal)
{
	static const struct {
		const char *no_color, *term, *found;
	} cases[] = {
		{NULL, "xterm", " \033[31merror\033[0m red"},
		{"1", "xterm", " error red"},
		{NULL, "dumb", " error red"},
	};
	const char *term = getenv("TERM");
	char *term_before = term ? strdup(term) : NULL;

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf lines = BUF_INIT;
		int master, slave, saved;

		ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
		(void)setenv("TERM", cases[i].term, 1);
		(void)unsetenv("NO_COLOR");
		if (cases[i].no_color)
			(void)setenv("NO_COLOR", cases[i].no_color, 1);
		saved = replace_stderr(slave, LOG_FORMAT_AUTO);
		log_error("red");
		restore_stderr(saved);
		drain(master, &lines);
		ck_assert_msg(strstr(lines.data, cases[i].found) != NULL, "%s", lines.data);
		buf_free(&lines);
		(void)close(master);
		(void)close(slave);
	}
	(void)unsetenv("NO_COLOR");
	if (term_before)
		(void)setenv("TERM", term_before, 1);
	free(term_before);
}
END_TEST

#define WRITERS 8
#define LINES   200

/* Writes to the shared pipe, then how many of its lines were dropped to the other. */
static void
write_lines(int log_fd, int count_fd, int letter)
{
	static char text[8193];
	uint64_t dropped, before = log_dropped();

	memset(text, letter, sizeof(text) - 1);
	(void)dup2(log_fd, STDERR_FILENO);
	log_capture(NULL, NULL);
	log_open(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	for (int i = 0; i < LINES; i++)
		log_info("%s", text);
	dropped = log_dropped() - before;
	_exit(write(count_fd, &dropped, sizeof(dropped)) != sizeof(dropped));
}

/* E217: several processes, one pipe that is full most of the time. */
START_TEST(lines_of_several_processes_never_mix)
{
	struct buf lines = BUF_INIT;
	int log_fds[2], count_fds[2];
	uint64_t dropped_in_all = 0, dropped, lost;
	char bytes[4096];
	ssize_t n;

	ck_assert_int_eq(pipe2(log_fds, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(count_fds, O_CLOEXEC), 0);
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			write_lines(log_fds[1], count_fds[1], 'a' + i);
	}
	(void)close(log_fds[1]);
	(void)close(count_fds[1]);
	while ((n = read(log_fds[0], bytes, sizeof(bytes))) > 0)
		buf_add(&lines, bytes, (size_t)n);
	for (int i = 0; i < WRITERS; i++) {
		int status;
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
		ck_assert_int_eq(read(count_fds[0], &dropped, sizeof(dropped)), sizeof(dropped));
		dropped_in_all += dropped;
	}
	ck_assert_uint_eq(count_objects(&lines, &lost) + dropped_in_all, WRITERS * LINES);
	buf_free(&lines);
	(void)close(log_fds[0]);
	(void)close(count_fds[0]);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, start, end);
	tcase_add_loop_test(tcase, lines_in_each_format, 0, COUNT(line_cases));
	tcase_add_test(tcase, a_field_replaces_a_context);
	tcase_add_test(tcase, levels);
	tcase_add_test(tcase, errno_stays);
	tcase_add_test(tcase, long_lines_stay_whole);
	tcase_add_test(tcase, text_lines_are_bounded);
	tcase_add_test(tcase, secrets_are_masked);
	tcase_add_test(tcase, secrets_at_the_cut_are_masked);
	tcase_add_test(tcase, the_oldest_secret_makes_room);
	tcase_add_loop_test(tcase, what_looks_like_a_secret_is_masked, 0, COUNT(lookalikes));
	tcase_add_test(tcase, repetitions_are_held_back_and_summed_up);
	tcase_add_test(tcase, what_differs_is_not_held_back);
	tcase_add_test(tcase, where_one_field_ends_is_a_difference);
	tcase_add_test(tcase, after_a_minute_one_line_and_the_sum);
	tcase_add_test(tcase, the_table_is_bounded_and_loses_nothing);
	tcase_add_test(tcase, a_full_pipe_drops_and_tells);
	tcase_add_test(tcase, others_keep_a_pipe_that_blocks);
	tcase_add_test(tcase, a_full_disk);
	tcase_add_test(tcase, a_full_socket_drops_and_tells);
	tcase_add_test(tcase, a_reader_that_left);
	tcase_add_test(tcase, formats_by_themselves);
	tcase_add_test(tcase, colours_on_a_terminal);
	tcase_add_test(tcase, lines_of_several_processes_never_mix);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
