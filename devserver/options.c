/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of CreateOptions, UpdateOptions, PatchOptions, DeleteOptions and ListOptions, in the real server's words. */
#include "config.h"

#include <string.h>
#include "devserver/causes.h"
#include "devserver/options.h"
#include "devserver/tree.h"

#define MANAGER_MAX 128

bool
options_fail(struct call *call, const char *kind, cJSON *causes)
{
	cJSON *details = cJSON_CreateObject();
	const cJSON *first = causes->child;

	tree_set_string(details, "group", "meta.k8s.io");
	tree_set_string(details, "kind", kind);
	tree_set(details, "causes", causes);
	return fail(call, 422, "Invalid", details, "%s.meta.k8s.io \"\" is invalid: %s: %s", kind,
		json_string(first, "field", ""), json_string(first, "message", ""));
}

static const char *
write_kind(const struct call *call)
{
	return call_is(call, "POST")    ? "CreateOptions"
	       : call_is(call, "PUT")   ? "UpdateOptions"
	       : call_is(call, "PATCH") ? "PatchOptions"
					: "DeleteOptions";
}

bool
options_check_write(struct call *call, bool apply)
{
	const char *dry = call_parameter(call, "dryRun"),
		   *manager = call_parameter(call, "fieldManager");
	const char *validation = call_parameter(call, "fieldValidation");
	cJSON *causes = NULL;

	if (dry && *dry && strcmp(dry, "All") != 0)
		causes = causes_add(causes, CAUSE_ENUM, "dryRun",
			"Unsupported value: [\"%s\"]: supported values: \"All\"", dry);
	if (call_is(call, "DELETE"))
		return !causes || options_fail(call, write_kind(call), causes);
	if (call_is(call, "PATCH") && !apply && call_parameter(call, "force"))
		causes = causes_add(causes, CAUSE_FORBIDDEN, "force",
			"Forbidden: may not be specified for non-apply patch");
	if (apply && !(manager && *manager))
		causes = causes_add(causes, CAUSE_REQUIRED, "fieldManager",
			"Required value: is required for apply patch");
	if (manager && strlen(manager) > MANAGER_MAX)
		causes = causes_add(causes, CAUSE_LONG, "fieldManager",
			"Too long: may not be more than %d bytes", MANAGER_MAX);
	if (validation && *validation && strcmp(validation, "Strict") != 0 &&
		strcmp(validation, "Warn") != 0 && strcmp(validation, "Ignore") != 0)
		causes = causes_add(causes, CAUSE_ENUM, "fieldValidation",
			"Unsupported value: \"%s\": supported values: \"\", \"Ignore\", "
			"\"Strict\", \"Warn\"",
			validation);
	return !causes || options_fail(call, write_kind(call), causes);
}

bool
options_check_list(struct call *call)
{
	const char *match = call_parameter(call, "resourceVersionMatch"),
		   *version = call_parameter(call, "resourceVersion");
	cJSON *causes = NULL;

	if (!match || !*match)
		return true;
	if (!version || !*version)
		causes = causes_add(NULL, CAUSE_FORBIDDEN, "resourceVersionMatch",
			"Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
			"provided");
	else if (strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
		causes = causes_add(NULL, CAUSE_ENUM, "resourceVersionMatch",
			"Unsupported value: \"%s\": supported values: \"Exact\", \"NotOlderThan\", "
			"\"\"",
			match);
	return !causes || options_fail(call, "ListOptions", causes);
}

bool
options_check_watch(struct call *call)
{
	const char *match = call_parameter(call, "resourceVersionMatch");
	bool given = match && *match;
	cJSON *causes = NULL;

	if (call_parameter(call, "sendInitialEvents")) {
		if (!given || strcmp(match, "NotOlderThan") != 0)
			causes = causes_add(NULL, CAUSE_FORBIDDEN, "resourceVersionMatch",
				"Forbidden: sendInitialEvents requires setting "
				"resourceVersionMatch to NotOlderThan");
	} else if (given) {
		causes = causes_add(NULL, CAUSE_FORBIDDEN, "resourceVersionMatch",
			"Forbidden: resourceVersionMatch is forbidden for watch unless "
			"sendInitialEvents is provided");
	}
	return !causes || options_fail(call, "ListOptions", causes);
}
