/* SPDX-License-Identifier: Apache-2.0 */
/* Several kubeconfig files seen as one, by the rules of kubectl: the first file that has an entry provides all of it. */
#ifndef COMMON_KUBE_KUBECONFIG_SET_H
#define COMMON_KUBE_KUBECONFIG_SET_H

#include <stdbool.h>
#include <stddef.h>
#include "common/buf.h"
#include "common/error.h"
#include "common/kube/kubeconfig.h"
#include "common/yaml.h"

#define KUBECONFIG_FILES_MAX 32
#define KUBECONFIG_SIZE_MAX  ((size_t)4 << 20)

struct kubeconfig_file {
	char *path;      /* as given */
	char *directory; /* absolute: what relative paths in the file start from */
	struct yaml_node *root;
};
struct kubeconfig_set {
	struct kubeconfig_file files[KUBECONFIG_FILES_MAX];
	size_t n;
};
/* One named entry: the map of its contents, and the file that it is from. */
struct kubeconfig_entry {
	const struct kubeconfig_file *file;
	const struct yaml_node *value; /* NULL: the entry has a name only */
};

/* Adds a file. 0, -ENOENT when it is missing, or another -errno, with the path. */
int kubeconfig_set_add(struct kubeconfig_set *set, const char *path, struct error *err);
/* Burns and frees what was read. */
void kubeconfig_set_free(struct kubeconfig_set *set);
/* The first current-context that is not empty, or NULL. */
const char *kubeconfig_set_current_context(const struct kubeconfig_set *set);
/*
 * Finds the entry of a list ("clusters", "contexts", "users"), whose contents are in the member `member` ("cluster" ...).
 * 0, -ENOENT (no text in err), or -EINVAL when the file has it twice or it is not a map.
 */
int kubeconfig_set_find(const struct kubeconfig_set *set, const char *list, const char *member, const char *name,
	struct kubeconfig_entry *ret, struct error *err);
/* The names in a list, for messages: "a, b, c". */
void kubeconfig_set_names(const struct kubeconfig_set *set, const char *list, struct buf *out);
/* A text member of an entry: *ret is NULL when absent, null or empty. -EINVAL with the place when it is no text. */
int kubeconfig_text(const struct kubeconfig_entry *entry, const char *key, const char **ret, struct error *err);
/* A member that is true or false, and as for kubectl, which reads YAML 1.1, yes, on, no or off: false when absent or null. -EINVAL with the place. */
int kubeconfig_bool(const struct kubeconfig_entry *entry, const char *key, bool *ret, struct error *err);

/* A path in a file: relative ones start from the file's directory. Caller frees. */
char *kubeconfig_absolute(const struct kubeconfig_file *file, const char *path);
/* A certificate's or key's file, bounded: 0, or -errno. Caller frees (and burns a key). */
int kubeconfig_read_pem(const char *path, char **ret, size_t *ret_length);
/*
 * Reads a PEM member: KEY-data, in base64, wins over KEY, a path, which goes to *ret_file. All are left alone when there is neither. 0, or -errno.
 */
int kubeconfig_pem(const struct kubeconfig_entry *entry, const char *key, char **ret, size_t *ret_length, char **ret_file,
	struct error *err);
/* The user's entry into target: credentials and whom to impersonate. */
int kubeconfig_user(const struct kubeconfig_entry *entry, const char *name, struct kube_target *target, struct error *err);
/* The user's program for credentials into target->exec, which is left alone when there is none; cluster: what the program is told of it. */
int kubeconfig_exec(const struct kubeconfig_entry *entry, const char *name, const struct kubeconfig_entry *cluster,
	struct kube_target *target, struct error *err);
void kube_exec_free(struct kube_exec *exec);
/* The chosen context of a set as a target; options give the context. */
int kubeconfig_target(const struct kubeconfig_set *set, const char *context, struct kube_target **ret, struct error *err);
/* Burns and frees all that proves who we are; whom we act for stays. */
void kube_target_drop_credentials(struct kube_target *target);
/* A pod's service account. */
int kubeconfig_pod_target(const struct kubeconfig_options *options, struct kube_target **ret, struct error *err);
/* Path of a file of the service account's directory: caller frees. */
char *kubeconfig_pod_path(const struct kubeconfig_options *options, const char *name);

#endif
