/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources that are served: the built-in ones from one table (builtin.c), the custom ones from CRDs (crd.c).
 * A struct resource is one plural in one group, with one struct version for each version of it.
 */
#ifndef DEVSERVER_KINDS_H
#define DEVSERVER_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include "devserver/store.h"

enum {
	KIND_NAMESPACED = 1 << 0,
	KIND_STATUS = 1 << 1,           /* has the status subresource */
	KIND_GENERATION = 1 << 2,       /* counts metadata.generation */
	KIND_SCALE = 1 << 3,            /* has the scale subresource */
	KIND_ANSWER = 1 << 4,           /* create answers and stores nothing */
	KIND_NEW_EVENT = 1 << 5,        /* events.k8s.io/v1: the other spelling of the core Event */
	KIND_CREATE_ON_UPDATE = 1 << 6, /* PUT of a missing object creates it */
	KIND_FREE_NAME = 1 << 7,        /* names with ':' are fine (RBAC) */
	KIND_ALL = 1 << 8,              /* in kubectl's category "all" */
	KIND_LABEL_NAME = 1 << 9,       /* names are single labels: no dots */
	KIND_SHOW_DELETED = 1 << 10,    /* delete answers the object, not a Status */
};

/* One row: a kind in one version. */
struct builtin {
	const char *group, *version, *plural, *kind;
	const char *short_names; /* comma between */
	unsigned int flags;
	const char *schema;  /* a name in the definitions, NULL: none */
	const char *columns; /* NAME|TYPE|PATH;... between Name and Age */
	const char *fields; /* field selectors beyond metadata.name and .namespace, comma between */
	/* old NULL: a create. defaults: what the schema's can't say; prepare: what no manager owns. */
	void (*defaults)(cJSON *object, const cJSON *old);
	void (*prepare)(cJSON *object, const cJSON *old);
	/* Causes beyond the schema, NULL: none. */
	cJSON *(*check)(const cJSON *object, const cJSON *old);
};

extern const struct builtin builtin_kinds[];
extern const size_t builtin_count;
/* The schemas that the table names, in the shorthand of builtin_schemas.c; ends with a NULL name. */
extern const struct builtin_schema {
	const char *name, *text;
} builtin_schemas[];

struct version {
	struct resource *resource;
	char *name;
	char *api_version; /* GROUP/VERSION, or VERSION */
	cJSON *schema;     /* NULL: anything goes. Built-in: borrowed from the definitions */
	cJSON *columns;    /* additionalPrinterColumns, NULL: Name and Age */
	cJSON *fields;     /* array of selectable paths without the leading dot */
	cJSON *scale;      /* specReplicasPath and so on, NULL: no scale */
	bool served, status;
};

struct resource {
	char *group, *plural, *singular, *kind, *list_kind;
	cJSON *short_names, *categories; /* arrays */
	struct collection *collection;
	const struct builtin *builtin; /* NULL: from a CRD */
	unsigned int flags;
	struct version *versions; /* the first is the storage version */
	size_t version_count;
	bool terminating; /* its CRD is being deleted: no more creates */
	struct resource *next;
};

struct kinds {
	struct resource *first, **last;
	cJSON *definitions;
};

void kinds_open(struct kinds *kinds, struct store *store); /* adds the built-in ones */
void kinds_close(struct kinds *kinds);
struct resource *kinds_find(const struct kinds *kinds, const char *group, const char *plural);
struct version *kinds_version(
	const struct resource *resource, const char *version); /* a served one, or NULL */
/* By apiVersion and kind, as owner references name it. */
struct version *kinds_by_kind(const struct kinds *kinds, const char *api_version, const char *kind);
void kinds_add(struct kinds *kinds, struct resource *resource); /* takes it */
void kinds_remove(struct kinds *kinds, struct resource *resource);
void kinds_resource_free(struct resource *resource);
bool kinds_namespaced(const struct resource *resource);
/* "GROUP/VERSION", or "VERSION" for the core group; free(). */
char *kinds_api_version(const char *group, const char *version);
/* "a,b" as an array of strings; NULL gives an empty one. */
cJSON *kinds_words(const char *words);

#endif
