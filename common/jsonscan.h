/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scanner over the bytes of JSON: one walk, no tree, no allocation. It validates what it walks (strings, numbers, nesting to
 * JSON_DEPTH_MAX), so bytes that passed may be kept and sent on. Ranges are offsets into the given bytes.
 */
#ifndef COMMON_JSONSCAN_H
#define COMMON_JSONSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_range {
	uint32_t start, length; /* length 0: absent; strings without their quotes */
};

/*
 * What a Kubernetes object says about itself. Bytes of one object are at most 2^31. Strings are as they stand, escapes included (names and
 * versions have none on a server that keeps its own rules; jsonscan_unescape() for any other). A member of another type than the API's is absent.
 */
struct json_object_info {
	struct json_range api_version, kind, name, namespace_, uid, resource_version;
	struct json_range labels, annotations, owner_references, finalizers, managed_fields; /* whole values */
	struct json_range last_applied;  /* the member kubectl.kubernetes.io/last-applied-configuration with its key */
	struct json_range managed_member; /* the member "managedFields": [...] with its key */
	struct json_range metadata;     /* the whole value, {...} */
	struct json_range spec, status; /* whole values of any type but null, commonly {...} */
	struct json_range deletion_timestamp;
	int64_t generation; /* 0: absent; clamped to 64 bits */
};

/* Skips one JSON value at p; returns the byte behind it, or NULL if it is not valid or does not end before end. */
const char *jsonscan_skip(const char *p, const char *end);
/*
 * Scans one whole object (white space around it is fine); false: not valid JSON, or not an object. Here and below keys are compared as they
 * read, escapes undone, and of equal keys the last counts.
 */
bool jsonscan_object(const char *bytes, size_t length, struct json_object_info *ret);
/* A watch line: {"type": "...", "object": {...}} in any order, other members skipped; ranges of both, object as a whole value. */
bool jsonscan_event(const char *bytes, size_t length, struct json_range *ret_type, struct json_range *ret_object);
/* Looks up a member of the object value in bytes (not recursive); the range of its value, quotes of a string included. */
bool jsonscan_member(const char *bytes, size_t length, const char *key, struct json_range *ret_value);
/*
 * Copies an object without managedFields and last-applied-configuration, commas mended, into out (at least length bytes);
 * returns the length. info as jsonscan_object() gave it for these bytes.
 */
size_t jsonscan_strip(const char *bytes, size_t length, const struct json_object_info *info, char *out);
/* In a managedFields array, the value of fieldsV1 of the entry of this manager, operation Apply, without subresource; false: no such entry. */
bool jsonscan_fields_of(const char *managed_fields, size_t length, const char *manager, struct json_range *ret_fields);
/* Unescapes a JSON string's inside (no quotes) to out of at least n bytes; returns the length, U+0000 kept as a byte. */
size_t jsonscan_unescape(const char *bytes, size_t n, char *out);

/*
 * Cuts a list body into its items as the bytes come, at any chunking: feed bytes, get each item of "items" as one range of whole
 * bytes, and at the end the list's metadata. Holds at most one item (bound: item_limit).
 */
struct jsonscan_list;
struct jsonscan_list_callbacks {
	void (*item)(void *data, const char *bytes, size_t length); /* one object, validated; bytes are valid during the call */
	void *data;
};
/* NULL: no memory. */
struct jsonscan_list *jsonscan_list_new(const struct jsonscan_list_callbacks *callbacks, size_t item_limit);
/* 0; -EBADMSG: not a list in JSON (a Status, a Table and what has no "items" are none); -EFBIG: an item or other value over the bound; -ENOMEM. After an error only free it. */
int jsonscan_list_feed(struct jsonscan_list *list, const char *bytes, size_t length);
/* True when the document is complete. */
bool jsonscan_list_done(const struct jsonscan_list *list);
const char *jsonscan_list_resource_version(const struct jsonscan_list *list); /* "" until known */
const char *jsonscan_list_continue(const struct jsonscan_list *list);         /* "" when it is the last page */
void jsonscan_list_free(struct jsonscan_list *list);

#endif
