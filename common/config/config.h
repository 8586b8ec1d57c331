/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effective configuration, as the supervisor and a worker use it.
 *
 * The way: files --(check.h, in the checker process: YAML, schema table, expressions)--> canonical JSON document --(config_decode)--> these structs.
 * The document carries a controller's settings with all defaults filled in, so that equal settings are equal bytes: a reload compares them.
 */
#ifndef COMMON_CONFIG_CONFIG_H
#define COMMON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include "common/error.h"
#include "common/kube/path.h"
#include "common/log.h"

#define CONFIG_CONTROLLERS_MAX 1000
#define CONFIG_CHILDREN_MAX    64
#define CONFIG_LETS_MAX        64   /* of a controller, and of a child */
#define CONFIG_PATHS_MAX       8    /* of createOnly, and of ignoreFields */
#define CONFIG_EACH_MAX        1000 /* items of one forEach */

/* What ties a child to its object: an owner reference, which the server's garbage collector follows; our finalizer on the object; nothing. */
enum config_owner { CONFIG_OWNER_REFERENCE, CONFIG_OWNER_FINALIZER, CONFIG_OWNER_NONE };
/* What becomes of the objects when their controller is removed from the configuration. */
enum config_remove { CONFIG_REMOVE_RELEASE, CONFIG_REMOVE_KEEP, CONFIG_REMOVE_DELETE };
enum config_conflict { CONFIG_CONFLICT_FORCE, CONFIG_CONFLICT_FAIL };

struct field_path;
struct config_child {
	char *id;
	char *api_version, *kind;   /* literals of the template */
	const cJSON *template_;     /* within the controller's document */
	const cJSON *when;          /* expression string or boolean, NULL: always */
	const cJSON *for_each;      /* {"zone": "${...}"}: an object for each item of a list; NULL: one object */
	const cJSON *let;           /* [{"name": "${...}"}, ...] in order; NULL: none */
	size_t n_lets;
	const cJSON *ready_when;    /* as when, of $self; NULL: as the kind says */
	const cJSON *depends_on;    /* ids */
	size_t *depends;            /* children that must be ready first, n_depends */
	size_t n_depends;
	bool awaited;               /* it has readyWhen, or another depends on it: its readiness is looked at */
	bool literal;
	enum config_conflict conflict;
	enum config_owner owner;
	struct field_path *create_only, *ignore; /* n_create_only, n_ignore */
	size_t n_create_only, n_ignore;
	bool adopt, recreate;
	bool retain;                /* deletion: retain; never together with CONFIG_OWNER_REFERENCE */
};

struct config_controller {
	char *name;                 /* DNS label, at most 63 */
	struct kube_resource resource; /* group, version, plural */
	char **namespaces;          /* n_namespaces; 0: all */
	size_t n_namespaces;
	char *selector, *field_selector; /* NULL: none */
	bool required;
	bool paused;
	struct config_child *children;
	size_t n_children;
	size_t *order;              /* of the children: each after those that it depends on, else as written */
	const cJSON *let;           /* as a child's; these come first */
	size_t n_lets;
	const cJSON *status;        /* template; a member {"once": "${...}"} is a once field; NULL: none */
	const cJSON *status_on_error;
	unsigned concurrency;       /* objects in flight, default 16 */
	unsigned prune_max;         /* prune.max, default 10 */
	enum config_remove on_remove;
	int64_t remove_timeout_ns;
	int64_t stuck_after_ns;
	int64_t watch_silence_ns, request_timeout_ns, resync_ns, retry_min_ns, retry_max_ns, render_timeout_ns;
	double writes_per_second;
	unsigned writes_burst;
	int64_t memory_limit;       /* limits.memory in bytes, 0: none */
	int64_t file_limit;         /* limits.files, 0: as the system */
	/* credentials.*, NULL: not set; token_file and the other two exclude each other */
	char *token_file, *certificate_file, *key_file;
	const cJSON *impersonate;   /* {user, uid, groups, extra}, NULL: nobody */
	/* from the top level, repeated for the worker */
	char *instance;
	char *kubeconfig, *context; /* its own credentials', else cluster.*; NULL: the standard rules */
	const cJSON *vars;
	int64_t heartbeat_ns;
	cJSON *document;            /* owns what the const cJSON pointers above point into */
};

struct config_supervisor {
	char *instance;
	char *http_listen;          /* "auto", "HOST:PORT", ":PORT", "unix:PATH", "off" */
	enum log_level log_level;
	enum log_format log_format;
	bool strict_start;
	bool reload_auto;           /* reload: auto */
	int64_t heartbeat_ns, stop_grace_ns, kill_grace_ns;
};

/*
 * The checker's document:
 * {"valid": bool, "errors": ["file:line:column: path: problem", ...], "warnings": [...],
 *  "files": [{"path": "...", "valid": bool, "main": bool, "controllers": ["name", ...], "templates": ["path that `file` names", ...]}],
 *  "places": {"nginx": {"place": "file:line", "children": {"deploy": "file:line"}}},
 *  "supervisor": {...}, "controllers": {"nginx": {...}, ...}}
 * "valid" is false only when the main file is not usable (then "places", "supervisor" and "controllers" are absent). A bad conf.d file is "valid": false in files, with its controllers' names as
 * far as they could be read; they are not in "controllers".
 */
int config_decode_supervisor(const cJSON *document, struct config_supervisor *ret, struct error *err);
void config_supervisor_clear(struct config_supervisor *config);
/* One member of "controllers", as canonical bytes. NULL with the cause. */
/* depends.c: resolves the ids of dependsOn and finds the order; -EBADMSG when there is a cycle or an id is not there. */
int config_decode_depends(struct config_controller *controller);
struct config_controller *config_decode_controller(const char *bytes, size_t length, struct error *err);
void config_controller_free(struct config_controller *controller);
/* Kinds that stay when nobody wants them any more, unless `deletion: delete` says otherwise: what they hold can't be had again. */
bool config_kind_retained(const char *group, const char *kind);
/* The same, of "apps/v1" and "Deployment". */
bool config_kind_retained_of(const char *api_version, const char *kind);
/*
 * The groups of a controller's templates in their fixed order (shared by checker and worker): for each child those of enum config_child_group; the lets of the controller, then of
 * each child; CONFIG_GROUP_STATUS, CONFIG_GROUP_ON_ERROR, then a group a once field.
 */
enum config_child_group { CONFIG_CHILD_WHEN, CONFIG_CHILD_TEMPLATE, CONFIG_CHILD_EACH, CONFIG_CHILD_READY, CONFIG_CHILD_GROUPS };
struct template_source;
struct config_templates;
struct config_templates *config_templates_new(const struct config_controller *controller);
const struct template_source *config_templates_source(const struct config_templates *templates);
size_t config_group_when(const struct config_controller *controller, size_t child);
size_t config_group_template(const struct config_controller *controller, size_t child);
size_t config_group_each(const struct config_controller *controller, size_t child);
size_t config_group_ready(const struct config_controller *controller, size_t child);
size_t config_group_status(const struct config_controller *controller);   /* the status without its once fields */
size_t config_group_on_error(const struct config_controller *controller);
size_t config_n_once(const struct config_templates *templates);
const char *config_once_key(const struct config_templates *templates, size_t i); /* key in status */
size_t config_group_once(const struct config_controller *controller, size_t i);
void config_templates_free(struct config_templates *templates);

#endif
