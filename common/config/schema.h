/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every key of the configuration, once: where it may stand, its type, bounds, default and meaning. Checking, defaults, decoding's
 * order, printing and --schema all read this table.
 *
 * A path is relative to its place: "retry.min" below a controller. A key and its parent are both in the table.
 */
#ifndef COMMON_CONFIG_SCHEMA_H
#define COMMON_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/config/syntax.h"

enum schema_place {
	SCHEMA_MAIN = 1 << 0,       /* top level of the main file */
	SCHEMA_FRAGMENT = 1 << 1,   /* top level of a file in conf.d */
	SCHEMA_DEFAULTS = 1 << 2,   /* below defaults */
	SCHEMA_CONTROLLER = 1 << 3, /* an item of controllers */
	SCHEMA_CHILD = 1 << 4,      /* an item of children */
};

enum schema_type {
	/* one value */
	SCHEMA_TEXT,
	SCHEMA_BOOL,
	SCHEMA_INT,      /* min..max */
	SCHEMA_NUMBER,   /* min..max, a fraction is fine */
	SCHEMA_DURATION, /* min..max in nanoseconds */
	SCHEMA_BYTES,    /* min..max */
	SCHEMA_WORD,     /* one of words */
	/* with a form of its own */
	SCHEMA_MAP,        /* of keys of this table */
	SCHEMA_VARS,       /* name: value or {fromEnv: NAME} */
	SCHEMA_DEFAULT_MAP,
	SCHEMA_CONTROLLERS,
	SCHEMA_CHILDREN,
	SCHEMA_NAMESPACES, /* all, or a list of names */
	SCHEMA_TEXTS,      /* a list of texts */
	SCHEMA_TEXT_LISTS, /* name: a list of texts */
	SCHEMA_CONDITION,  /* true, false or one expression */
	SCHEMA_TEMPLATE,   /* a child's object */
	SCHEMA_LET,        /* names and expressions, in order */
	SCHEMA_EACH,       /* one name and the expression of a list */
	SCHEMA_IDS,        /* ids of other children */
	SCHEMA_PATHS,      /* of fields */
	SCHEMA_FILE,       /* a file with a child's object, read by the checker */
	SCHEMA_STATUS,     /* a template of a status */
	/* refused */
	SCHEMA_LATER, /* a name that is taken, for what is not supported yet */
};

struct schema_key {
	const char *path;
	enum schema_type type;
	unsigned places;      /* of enum schema_place */
	const char *fallback; /* as it would be written; NULL: none */
	int64_t min, max;
	const char *words;    /* "force fail" */
	syntax_check *syntax; /* of SCHEMA_TEXT; NULL: syntax_text */
	bool required;
	const char *meaning;
};

extern const struct schema_key schema_keys[];
extern const size_t schema_n_keys;

/* The key of that path at a place, NULL if there is none. */
const struct schema_key *schema_find(enum schema_place place, const char *path);
/* Any place that has the path, 0 if none does: for "it belongs to ...". */
unsigned schema_places_of(const char *path);
/* "a controller", "the main file" */
const char *schema_place_name(unsigned places);
/* The supported key below prefix ("" or "retry.") nearest to what was written, without the prefix; NULL if nothing is near. */
const char *schema_suggest(enum schema_place place, const char *prefix, const char *written);
/* True for keys that hold a value of their own (neither maps of keys, nor files, nor refused): what defaults, decoding and printing walk over. */
bool schema_is_leaf(const struct schema_key *key);
/* "duration, 1s to 1h", "force or fail": for messages and --schema. */
void schema_describe(const struct schema_key *key, struct buf *out);

#endif
