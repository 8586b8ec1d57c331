/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker's cage is made of: the ports of the target's server and proxy, and the directories of its files. A port that may be connected to refuses by itself
 * when nobody listens; one that may not is EACCES before that.
 */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sandbox/layers.h"
#include "workers/cage.h"

enum { LANDLOCK_WITH_PORTS = 4 };

static int
connect_to(uint16_t port)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	r = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
	(void)close(fd);
	return r;
}

static const struct {
	const char *server, *proxy;
	uint16_t port; /* the one that counts */
} targets[] = {
	{"https://kube.example.com", NULL, 443},
	{"https://kube.example.com:6443/prefix", NULL, 6443},
	{"https://[::1]:7443", NULL, 7443},
	{"http://127.0.0.1", NULL, 80},
	{"https://kube.example.com:6443", "http://proxy.example.com:3128", 3128},
	{"https://kube.example.com:6443", "http://proxy.example.com:3128/", 3128},
	{"https://kube.example.com:6443", "http://me:pass:word@proxy.example.com:3129", 3129},
	{"https://kube.example.com:6443", "socks5://me:p@ss:1@proxy.example.com:3130", 3130},
	{"https://kube.example.com:6443", "socks5h://[2001:db8::1]:3131", 3131},
	{"https://kube.example.com:6443", "http://proxy.example.com", 1080},
	{"https://kube.example.com:6443", "http://[2001:db8::1]", 1080},
	{"https://kube.example.com:6443", "HTTPS://proxy.example.com", 443},
};

START_TEST(connects_to_the_ports_of_its_target)
{
	const struct kube_target target = {.server = (char *)(uintptr_t)targets[_i].server,
		.proxy_url = (char *)(uintptr_t)targets[_i].proxy};
	int status;
	pid_t pid;

	if (landlock_version() < LANDLOCK_WITH_PORTS)
		return;
	pid = fork();
	if (pid == 0) {
		cage_enter(&target);
		_exit(connect_to(targets[_i].port) != EACCES && connect_to(53) != EACCES &&
					connect_to(10250) == EACCES
				? 0
				: 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(is_not_outdated_outside)
{
	ck_assert_ptr_null(cage_outdated());
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("cage");
	TCase *tests = tcase_create("targets");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tests, connects_to_the_ports_of_its_target, 0,
		(int)(sizeof(targets) / sizeof(targets[0])));
	tcase_add_test(tests, is_not_outdated_outside);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
