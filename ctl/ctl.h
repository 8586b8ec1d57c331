/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatorctl: one verb a file, each a function of (context, its arguments). Exit codes: 0 done, 1 it could not be done, 64 usage,
 * 77 no permission, 78 bad configuration.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/kube/client.h"
#include "common/kube/path.h"
#include "common/loop/loop.h"
#include "common/records.h"

enum { CTL_DONE = 0, CTL_FAILED = 1, CTL_USAGE = 64, CTL_NO_PERMISSION = 77, CTL_CONFIG = 78 };

enum ctl_output {
	CTL_OUTPUT_TABLE,
	CTL_OUTPUT_WIDE,
	CTL_OUTPUT_NAME,
	CTL_OUTPUT_JSON,
	CTL_OUTPUT_MAX
};

/* What the options say. */
struct ctl {
	const char *kubeconfig, *context,
		*namespace_; /* NULL: by the standard rules; the context's namespace, else "default" */
	bool all_namespaces;
	enum ctl_output output;
	const char *control;  /* control socket, NULL: the default of operatord */
	const char *selector; /* label selector, NULL: none */
	bool dry_run, yes;    /* of verbs that change the cluster */
	const char *instance; /* only what is this installation's, NULL: any */
	const char *config;   /* configuration file, NULL: the default of operatord */
	const char *account;  /* NAMESPACE/NAME of a service account, NULL: operatord/operatord */
};

/* Verbs: argv are the arguments behind the verb and the options. Each returns the exit code and has said on stderr why it failed. */
int ctl_check(const struct ctl *ctl, int argc, char **argv);
int ctl_rbac(const struct ctl *ctl, int argc, char **argv);
int ctl_list(const struct ctl *ctl, int argc, char **argv);
int ctl_release(const struct ctl *ctl, int argc, char **argv);
int ctl_watch(const struct ctl *ctl, int argc, char **argv);
int ctl_reload(const struct ctl *ctl, int argc, char **argv);
int ctl_status(const struct ctl *ctl, int argc, char **argv);
int ctl_loglevel(const struct ctl *ctl, int argc, char **argv);

/* Prints "operatorctl: ..." to stderr, masked. */
void ctl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* check.c: the checker's document (common/config/config.h) of the one file that the arguments or options name; cJSON_Delete(). NULL with *ret_code: said. */
cJSON *ctl_read_config(const struct ctl *ctl, const char *verb, int argc, char **argv, int *ret_code);

/* cluster.c: the server that the options name; NULL when it can't be (said). The loop is the caller's. */
struct kube *ctl_connect(const struct ctl *ctl, struct loop *loop);
/* What is wrong with an answer, and whose credentials they were if that is it. */
void ctl_complain_answer(const struct kube *kube, const struct kube_result *result);
/* The resource that a word names on that server; false: said. */
bool ctl_find_resource(struct kube *kube, const char *word, struct kube_resource *ret);
/* The namespace to ask for: NULL for all of them or for a resource without namespaces. */
const char *ctl_namespace(
	const struct ctl *ctl, const struct kube *kube, const struct kube_resource *resource);

/* pages.c: the path of one page of a list, into path; a GET, its answer in body (false: said); each object of a list, page by page (false: said). */
void ctl_list_path(const struct ctl *ctl, const struct kube_resource *resource,
	const char *namespace_, const char *token, struct buf *path);
bool ctl_fetch(
	struct kube *kube, const struct buf *path, const char *accept, struct buf *body);
bool ctl_each_object(const struct ctl *ctl, struct kube *kube,
	const struct kube_resource *resource, const char *namespace_,
	void (*item)(void *data, const char *bytes, size_t length), void *data);

/*
 * socket.c: asks the running operatord, with the record's value where its type has one; the text of its answer is appended to out. Returns the exit code that it answered, or
 * CTL_FAILED / CTL_NO_PERMISSION when it could not be asked (said).
 */
int ctl_ask(const struct ctl *ctl, enum record_type type, int32_t value, struct buf *out);

/* table.c: rows of cells, aligned when printed. Cells are copied; control characters in them are shown as '?'. */
struct ctl_table;
struct ctl_table *ctl_table_new(const char *const *headings, size_t n_columns);
void ctl_table_cell(struct ctl_table *table, const char *bytes, size_t length);
void ctl_table_print(const struct ctl_table *table);
void ctl_table_free(struct ctl_table *table);

#endif
