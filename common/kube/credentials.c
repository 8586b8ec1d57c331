/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bearer tokens and certificate files. Every token that was ever read is registered with the log as a secret. A file that can't
 * be read later on is said once, and the last good content is used until the server refuses it.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/kube/credentials.h"
#include "common/log.h"
#include "common/memory.h"

#define TOKEN_SIZE_MAX   ((size_t)64 << 10)
#define TOKEN_REFRESH_NS (60 * NSEC_PER_SEC)
#define PEM_SIZE_MAX     ((size_t)1 << 20)

/* By scheme "Bearer" or "Basic". */
static void
set_authorization(struct credentials *c, const char *scheme, const char *token)
{
	char *value = xasprintf("%s %s", scheme, token);

	log_mask(token, strlen(token));
	if (c->authorization != NULL && strcmp(c->authorization, value) == 0) {
		memory_burn(value, strlen(value));
		return;
	}
	if (c->authorization != NULL)
		memory_burn(c->authorization, strlen(c->authorization));
	c->authorization = value;
	c->generation++;
}

/* A token is one word; white space around it is what editors and `echo` leave. */
static int
check_token(char *text, const char *path, char **ret, struct error *err)
{
	char *start = text + strspn(text, " \t\r\n"), *end = start + strlen(start);

	while (end > start && strchr(" \t\r\n", end[-1]) != NULL)
		*--end = '\0';
	if (end == start)
		return error_set(err, -EINVAL, "token file %s is empty", path);
	for (const char *c = start; *c != '\0'; c++) {
		if (*c <= ' ' || (unsigned char)*c >= 0x7f)
			return error_set(
				err, -EINVAL, "token file %s holds more than one token", path);
	}
	*ret = start;
	return 0;
}

static int
read_token(struct credentials *c, struct error *err)
{
	struct buf bytes = BUF_INIT;
	const char *path = c->target->token_file;
	char *token = NULL;
	int r = buf_read_file(&bytes, path, TOKEN_SIZE_MAX);

	if (r < 0)
		error_set(err, r, "token file %s: %s", path, strerror(-r));
	else if (strlen(bytes.data) != bytes.length)
		r = error_set(err, -EINVAL, "token file %s holds a NUL", path);
	else
		r = check_token(bytes.data, path, &token, err);
	if (r == 0)
		set_authorization(c, "Bearer", token);
	explicit_bzero(bytes.data, bytes.length);
	buf_free(&bytes);
	c->read_ns = clock_monotonic_ns();
	return r;
}

int
credentials_init(struct credentials *c, struct kube_target *target, struct error *err)
{
	*c = (struct credentials){.target = target};
	if (target->token_file != NULL) {
		int r = read_token(c, err);

		if (r == 0 || target->token == NULL)
			return r;
		/* As in client-go: the file is the newer one, when there is one. */
		log_warn("%s; the kubeconfig's token is used until it can be read", err->text);
		c->token_trouble = true;
	}
	if (target->token != NULL)
		set_authorization(c, "Bearer", target->token);
	else if (target->basic != NULL)
		set_authorization(c, "Basic", target->basic);
	return 0;
}

void
credentials_clear(struct credentials *c)
{
	if (c->authorization != NULL)
		memory_burn(c->authorization, strlen(c->authorization));
	c->authorization = NULL;
}

void
credentials_refresh_token(struct credentials *c, bool force)
{
	struct error err = {0};

	if (c->target->token_file == NULL ||
		(!force && clock_monotonic_ns() - c->read_ns < TOKEN_REFRESH_NS))
		return;
	if (read_token(c, &err) == 0) {
		c->token_trouble = false;
		return;
	}
	if (!c->token_trouble)
		log_warn("%s; the token read before is used on", err.text);
	c->token_trouble = true;
}

/* One file's new content; an empty buffer when it is not from a file. */
static int
read_pem(struct credentials *c, const char *path, struct buf *out)
{
	int r = path == NULL ? 0 : buf_read_file(out, path, PEM_SIZE_MAX);

	if (r < 0 && !c->files_trouble) {
		log_warn("%s: %s; the certificates read before are used on", path, strerror(-r));
		c->files_trouble = true;
	}
	return r;
}

static bool
set_pem(const char *given, char **pem, size_t *length)
{
	if (given == NULL ? *pem == NULL : *pem != NULL && strcmp(*pem, given) == 0)
		return false;
	memory_burn(*pem, *length);
	*pem = given != NULL ? xstrdup(given) : NULL;
	*length = given != NULL ? strlen(given) : 0;
	return true;
}

bool
credentials_set(struct credentials *c, const struct kube_credential *given)
{
	struct kube_target *t = c->target;
	bool changed = set_pem(given->cert_pem, &t->cert_pem, &t->cert_pem_length);

	changed |= set_pem(given->key_pem, &t->key_pem, &t->key_pem_length);
	if (given->token != NULL)
		set_authorization(c, "Bearer", given->token);
	else if (c->authorization != NULL)
		credentials_clear(c);
	if (changed)
		c->generation++;
	return changed;
}

static bool
replace(const char *path, struct buf *new, char **pem, size_t *length)
{
	if (path == NULL ||
		(*pem != NULL && new->length == *length &&memcmp(new->data, *pem, *length) == 0))
		return false;
	memory_burn(*pem, *length);
	*pem = buf_detach(new, length);
	return true;
}

bool
credentials_refresh_files(struct credentials *c)
{
	struct kube_target *t = c->target;
	struct buf ca = BUF_INIT, cert = BUF_INIT, key = BUF_INIT;
	bool changed = false;

	if (read_pem(c, t->ca_file, &ca) == 0 && read_pem(c, t->cert_file, &cert) == 0 &&
		read_pem(c, t->key_file, &key) == 0) {
		/* All three in turn: `||` would leave the rest as it was. */
		changed |= replace(t->ca_file, &ca, &t->ca_pem, &t->ca_pem_length);
		changed |= replace(t->cert_file, &cert, &t->cert_pem, &t->cert_pem_length);
		changed |= replace(t->key_file, &key, &t->key_pem, &t->key_pem_length);
		c->files_trouble = false;
	}
	if (changed)
		c->generation++;
	explicit_bzero(key.data, key.length);
	buf_free(&ca);
	buf_free(&cert);
	buf_free(&key);
	return changed;
}
