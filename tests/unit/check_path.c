/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/kube/path.h"
#include "common/kube/url.h"

static const struct {
	const char *group, *version, *plural, *namespace_, *name, *subresource, *expected;
} paths[] = {
	{"", "v1", "pods", NULL, NULL, NULL, "/api/v1/pods"},
	{"", "v1", "pods", "default", "a", "status", "/api/v1/namespaces/default/pods/a/status"},
	{"apps", "v1", "deployments", "x", "", "", "/apis/apps/v1/namespaces/x/deployments"},
	{"g.io", "v1", "things", NULL, "n", NULL, "/apis/g.io/v1/things/n"},
	{"g.io", "v1", "things", "a/b", "c?d#e %", NULL,
		"/apis/g.io/v1/namespaces/a%2Fb/things/c%3Fd%23e%20%25"},
	{"g.io", "v1", "things", "..", ".", NULL, "/apis/g.io/v1/namespaces/%2E%2E/things/%2E"},
	{"g.io", "v1", "things", NULL, "system:x", NULL, "/apis/g.io/v1/things/system%3Ax"},
};

static struct kube_resource
resource(const char *group, const char *version, const char *plural)
{
	struct kube_resource r = {0};

	strncpy(r.group, group, sizeof(r.group) - 1);
	strncpy(r.version, version, sizeof(r.version) - 1);
	strncpy(r.plural, plural, sizeof(r.plural) - 1);
	return r;
}

START_TEST(test_paths)
{
	struct kube_resource r = resource(paths[_i].group, paths[_i].version, paths[_i].plural);
	struct buf out = BUF_INIT;

	kube_path(&out, &r, paths[_i].namespace_, paths[_i].name, paths[_i].subresource);
	ck_assert_str_eq(out.data, paths[_i].expected);
	buf_free(&out);
}
END_TEST

START_TEST(test_query)
{
	struct buf out = BUF_INIT;

	buf_adds(&out, "/x");
	kube_path_query(&out, "limit", "500");
	kube_path_query(&out, "absent", NULL);
	kube_path_query(&out, "labelSelector", "a=b,c in (d)");
	kube_path_query(&out, "empty", "");
	ck_assert_str_eq(out.data, "/x?limit=500&labelSelector=a%3Db%2Cc%20in%20%28d%29&empty=");
	buf_free(&out);
}
END_TEST

static const struct {
	const char *text;
	int result;
	const char *plural, *version, *group;
} names[] = {
	{"pods.v1.", 0, "pods", "v1", ""},
	{"nginx.v1.stable.underneathall.com", 0, "nginx", "v1", "stable.underneathall.com"},
	{"pods", -EINVAL, NULL, NULL, NULL},
	{"pods.v1", -EINVAL, NULL, NULL, NULL},
	{".v1.g", -EINVAL, NULL, NULL, NULL},
	{"a..g", -EINVAL, NULL, NULL, NULL},
	{"a.v1..g", -EINVAL, NULL, NULL, NULL},
	{"a.v1.g.", -EINVAL, NULL, NULL, NULL},
	{"A.v1.g", -EINVAL, NULL, NULL, NULL},
	{"a/b.v1.g", -EINVAL, NULL, NULL, NULL},
	{"", -EINVAL, NULL, NULL, NULL},
	{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.v1.g",
		-EINVAL, NULL, NULL, NULL},
};

START_TEST(test_names)
{
	struct kube_resource r = {0};
	char version[320];

	ck_assert_int_eq(kube_resource_parse(names[_i].text, &r), names[_i].result);
	if (names[_i].result < 0)
		return;
	ck_assert_str_eq(r.plural, names[_i].plural);
	ck_assert_str_eq(r.version, names[_i].version);
	ck_assert_str_eq(r.group, names[_i].group);
	kube_api_version(version, &r);
	ck_assert_str_eq(version, *names[_i].group == '\0' ? "v1" : "stable.underneathall.com/v1");
}
END_TEST

static const struct {
	const char *text;
	int result;
	const char *authority, *prefix;
} urls[] = {
	{"https://h", 0, "h:443", ""},
	{"https://h:6443/", 0, "h:6443", ""}, /* E31 */
	{"HTTPS://h:6443///", 0, "h:6443", ""},
	{"https://h/k8s/clusters/c-1", 0, "h:443", "/k8s/clusters/c-1"}, /* E29 */
	{"https://[::1]:6443/x/", 0, "[::1]:6443", "/x"},                /* E41 */
	{"https://[fd00::13]", 0, "[fd00::13]:443", ""},
	{"http://127.0.0.1:8001", 0, "127.0.0.1:8001", ""},
	{"h:6443", -EINVAL, NULL, NULL},
	{"https://", -EINVAL, NULL, NULL},
	{"https://:443", -EINVAL, NULL, NULL},
	{"https://h:", -EINVAL, NULL, NULL},
	{"https://h:0", -EINVAL, NULL, NULL},
	{"https://h:65536", -EINVAL, NULL, NULL},
	{"https://h:99999999999999999999", -EINVAL, NULL, NULL},
	{"https://u:p@h", -EINVAL, NULL, NULL},
	{"https://u@h", -EINVAL, NULL, NULL},
	{"https://h/?a", -EINVAL, NULL, NULL},
	{"https://h/#a", -EINVAL, NULL, NULL},
	{"https://h/a b", -EINVAL, NULL, NULL},
	{"https://[::1", -EINVAL, NULL, NULL},
	{"https://[zz]", -EINVAL, NULL, NULL},
	{"https://::1:443", -EINVAL, NULL, NULL},
};

START_TEST(test_urls)
{
	struct kube_url url = {0};
	struct error err = {0};
	char authority[272];

	ck_assert_int_eq(kube_url_parse(urls[_i].text, &url, &err), urls[_i].result);
	if (urls[_i].result < 0) {
		ck_assert_str_ne(err.text, "");
		return;
	}
	kube_url_authority(&url, authority);
	ck_assert_str_eq(authority, urls[_i].authority);
	ck_assert_str_eq(url.prefix, urls[_i].prefix);
}
END_TEST

static const struct {
	const char *text, *decoded; /* NULL: refused */
} base64s[] = {
	{"", ""},
	{"Zg==", "f"},
	{"Zm8=", "fo"},
	{"Zm9v", "foo"},
	{"Zm9vYmFy", "foobar"},
	{"Zm9v\nYmFy\r\n", "foobar"},
	{"Zg", NULL}, /* E47: lost padding */
	{"Zg=", NULL},
	{"Zm8", NULL},
	{"Zm9vYmF", NULL},
	{"Zh==", NULL}, /* bits left over */
	{"Zm9=", NULL},
	{"Zg==Zg==", NULL},
	{"=", NULL},
	{"====", NULL},
	{"Z===", NULL},
	{"Zm 9v", NULL},
	{"Zm9_", NULL},
};

START_TEST(base64_both_ways)
{
	static const struct {
		const char *plain, *text;
	} rows[] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
		{"\xff\xfe", "//4="}};
	static const char *const bad[] = {
		"Z", "Zg=", "Zg===", "Z===", "Zm9v!", "Zm9 ", "====", "Zg==Zg=="};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf out = BUF_INIT;
		char *back;
		size_t length;

		base64_encode(&out, rows[i].plain, strlen(rows[i].plain));
		ck_assert_str_eq(out.data, rows[i].text);
		ck_assert_int_eq(base64_decode(out.data, out.length, &back, &length), 0);
		ck_assert_str_eq(back, rows[i].plain);
		ck_assert_uint_eq(length, strlen(rows[i].plain));
		free(back);
		buf_free(&out);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *back;
		size_t length;

		ck_assert_msg(
			base64_decode(bad[i], strlen(bad[i]), &back, &length) < 0, "%s", bad[i]);
	}
}
END_TEST

START_TEST(test_base64)
{
	char *out = NULL;
	size_t n = 0;
	int r = base64_decode(base64s[_i].text, strlen(base64s[_i].text), &out, &n);

	ck_assert_int_eq(r, base64s[_i].decoded == NULL ? -EBADMSG : 0);
	if (r == 0) {
		ck_assert_str_eq(out, base64s[_i].decoded);
		ck_assert_uint_eq(n, strlen(base64s[_i].decoded));
	}
	free(out);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int
main(void)
{
	Suite *suite = suite_create("path");
	TCase *tc = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, test_paths, 0, COUNT(paths));
	tcase_add_test(tc, test_query);
	tcase_add_loop_test(tc, test_names, 0, COUNT(names));
	tcase_add_loop_test(tc, test_urls, 0, COUNT(urls));
	tcase_add_test(tc, base64_both_ways);
	tcase_add_loop_test(tc, test_base64, 0, COUNT(base64s));
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
