/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jq says what it does not know, not what there is, and counts brackets that are not the user's. Pure: text in, text out; what is not known
 * here stays as it is.
 */
#include "config.h"

#include <string.h>

#include "common/template/hint.h"

static const struct {
	const char *name, *use;
} helpers[] = {
	{"get", "get takes two arguments: get(PATH; DEFAULT), with a semicolon"},
	{"dnsName", "dnsName takes one list: dnsName([PART, ...])"},
	{"labelValue", "labelValue takes one value: labelValue(VALUE)"},
	{"quantity", "quantity takes one value: quantity(VALUE)"},
};

static const char *
function_hint(const char *text, const char *slash)
{
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
		if (strlen(helpers[i].name) == (size_t)(slash - text) &&
			strncmp(text, helpers[i].name, (size_t)(slash - text)) == 0)
			return helpers[i].use;
	}
	return "beside jq 1.6's functions there are get, spread, dnsName, labelValue and quantity";
}

void
hint_add(struct error *err, const char *expression)
{
	static const char undefined[] = " is not defined", bracket[] = "unexpected ')'";
	const char *end = strstr(err->text, undefined), *slash = strchr(err->text, '/');
	struct error old = *err;

	if (end && err->text[0] == '$')
		error_set(err, old.code, "%s; there are $children, $vars, $error, $uuid, and the names that let and forEach give before it",
			old.text);
	else if (end && slash && slash < end)
		error_set(err, old.code, "%s; %s", old.text, function_hint(err->text, slash));
	else if (strstr(err->text, bracket) && !strchr(expression, ')'))
		error_set(err, old.code, "syntax error: something is missing at the end");
}
