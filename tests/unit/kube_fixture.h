/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the Kubernetes client share: targets for the scripted server, and turning the loop until something holds. */
#ifndef TESTS_UNIT_KUBE_FIXTURE_H
#define TESTS_UNIT_KUBE_FIXTURE_H

#include <stdbool.h>
#include "common/kube/client.h"
#include "common/loop/loop.h"
#include "https_server.h"

/* A target for that server, with its CA. */
struct kube_target *fixture_target(const struct https_server *server);
/* Turns the loop until holds(data) or the time is over; says which. */
bool fixture_until(struct loop *loop, bool (*holds)(void *data), void *data, int ms);
/* Turns the loop for that long. */
void fixture_run(struct loop *loop, int ms);
/* A new directory below TMPDIR, and its end with all files in it. */
char *fixture_directory(void);
void fixture_remove(char *directory);
/* Writes DIRECTORY/NAME; returns its path, to be freed. */
char *fixture_file(const char *directory, const char *name, const char *text);

#endif
