/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes a target before anything is connected. Impersonation becomes header lines here, once: nothing else needs to know of it. Files are read once here,
 * so that what can't be read is an error at the start, and again by credentials.c when others rotate them.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/kube/identity.h"
#include "common/kube/kubeconfig_set.h"
#include "common/memory.h"

/* --- headers --- */

/* A value with a line break in it would be a header of its own. */
static bool
is_header_value(const char *text)
{
	size_t n = strlen(text);

	if (n == 0 || text[0] == ' ' || text[n - 1] == ' ')
		return false;
	for (const char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	}
	return true;
}

int
identity_add_header(
	struct kube_target *target, const char *header, const char *value, struct error *err)
{
	if (!is_header_value(value))
		return error_set(err, -EINVAL, "holds a value that no HTTP header can carry");
	if (target->n_headers == IDENTITY_HEADERS_MAX)
		return error_set(err, -E2BIG, "has more than %d values to impersonate with",
			IDENTITY_HEADERS_MAX);
	target->headers =
		xreallocarray(target->headers, target->n_headers + 1, sizeof(*target->headers));
	target->headers[target->n_headers++] = xasprintf("%s: %s", header, value);
	return 0;
}

/* The key is part of a header's name: what such a name can't hold goes as %XX, which the API server undoes. */
char *
identity_extra_header(const char *key)
{
	struct buf name = BUF_INIT;

	buf_adds(&name, "Impersonate-Extra-");
	for (const char *c = key; *c != '\0'; c++) {
		if (isalnum((unsigned char)*c) || strchr("!#$&'*+-.^_`|~", *c) != NULL)
			buf_addc(&name, *c);
		else
			buf_addf(&name, "%%%02X", (unsigned)(unsigned char)*c);
	}
	return buf_detach(&name, NULL);
}

/* --- what was there before --- */

static void
drop_headers(struct kube_target *target)
{
	for (size_t i = 0; i < target->n_headers; i++)
		free(target->headers[i]);
	free(target->headers);
	target->headers = NULL;
	target->n_headers = 0;
}

/* --- what takes its place --- */

static void
say(struct kube_target *target, const char *what, const char *name)
{
	char *source = xasprintf("%s, %s %s", target->source, what, name);

	free(target->source);
	target->source = source;
}

static int
read_pem(const char *what, const char *path, char **ret, size_t *ret_length, struct error *err)
{
	int r = kubeconfig_read_pem(path, ret, ret_length);

	return r < 0 ? error_set(err, r, "%s %s: %s", what, path, strerror(-r)) : 0;
}

static int
use_certificate(const struct kube_identity *identity, struct kube_target *target, struct error *err)
{
	int r;

	if ((r = read_pem("clientCertificate", identity->certificate_file, &target->cert_pem,
		     &target->cert_pem_length, err)) < 0 ||
		(r = read_pem("clientKey", identity->key_file, &target->key_pem,
			 &target->key_pem_length, err)) < 0)
		return r;
	target->cert_file = xstrdup(identity->certificate_file);
	target->key_file = xstrdup(identity->key_file);
	say(target, "client certificate", identity->certificate_file);
	return 0;
}

static int
add_list(struct kube_target *target, const char *header, const cJSON *list, struct error *err)
{
	const cJSON *item;
	int r = 0;

	cJSON_ArrayForEach(item, list)
	{
		if (r == 0 && cJSON_IsString(item))
			r = identity_add_header(target, header, item->valuestring, err);
	}
	return r;
}

static int
impersonate(const struct kube_identity *identity, struct kube_target *target, struct error *err)
{
	const cJSON *list;
	int r = identity_add_header(target, "Impersonate-User", identity->user, err);

	if (r == 0 && identity->uid != NULL)
		r = identity_add_header(target, "Impersonate-Uid", identity->uid, err);
	if (r == 0)
		r = add_list(target, "Impersonate-Group", identity->groups, err);
	cJSON_ArrayForEach(list, identity->extra)
	{
		char *header = identity_extra_header(list->string);

		if (r == 0)
			r = header == NULL ? error_set(err, -ENOMEM, "out of memory")
					   : add_list(target, header, list, err);
		free(header);
	}
	if (r < 0)
		error_set(err, r, "impersonate %s", err->text);
	else
		say(target, "as", identity->user);
	return r;
}

int
identity_apply(const struct kube_identity *identity, struct kube_target *target, struct error *err)
{
	bool other = identity->token_file != NULL || identity->certificate_file != NULL;
	int r = 0;

	if (other && strncmp(target->server, "http://", 7) == 0)
		return error_set(err, -EINVAL,
			"%s: credentials are not sent to %s without TLS; use https://",
			target->source, target->server);
	if (other)
		kube_target_drop_credentials(target);
	if (other || identity->user != NULL)
		drop_headers(target);
	if (identity->token_file != NULL) {
		target->token_file = xstrdup(identity->token_file);
		say(target, "token file", identity->token_file);
	} else if (identity->certificate_file != NULL) {
		r = use_certificate(identity, target, err);
	}
	return r == 0 && identity->user != NULL ? impersonate(identity, target, err) : r;
}
