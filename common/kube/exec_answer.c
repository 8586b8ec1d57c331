/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.authentication.k8s.io, ExecCredential. Unlike the members of a kubeconfig, certificate and key are PEM here, not base64 of PEM (E19); what is
 * neither is refused, since to go on without would mean to be anonymous. A program that prints anything else beside the object is refused too (E17).
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/kube/exec_answer.h"

/* A member that is text, NULL when absent, null or empty; -EINVAL when it is something else. */
static int
get_text(const cJSON *status, const char *key, const char **ret, struct error *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(status, key);

	*ret = NULL;
	if (item == NULL || cJSON_IsNull(item))
		return 0;
	if (!cJSON_IsString(item))
		return error_set(err, -EINVAL, "status.%s is no string", key);
	if (item->valuestring[0] != '\0')
		*ret = item->valuestring;
	return 0;
}

static int
check_token(const char *token, struct error *err)
{
	for (const char *c = token; *c != '\0'; c++)
		if (*c <= ' ' || (unsigned char)*c >= 0x7f)
			return error_set(
				err, -EINVAL, "status.token holds characters that no token has");
	return 0;
}

static int
check_pem(const char *key, const char *text, struct error *err)
{
	if (strstr(text, "-----BEGIN ") == NULL)
		return error_set(err, -EINVAL, "status.%s is not PEM", key);
	return 0;
}

static int
read_status(const cJSON *status, struct kube_credential *ret, struct error *err)
{
	const char *expires;
	int r;

	if ((r = get_text(status, "token", &ret->token, err)) < 0 ||
		(r = get_text(status, "clientCertificateData", &ret->cert_pem, err)) < 0 ||
		(r = get_text(status, "clientKeyData", &ret->key_pem, err)) < 0 ||
		(r = get_text(status, "expirationTimestamp", &expires, err)) < 0)
		return r;
	if ((ret->cert_pem == NULL) != (ret->key_pem == NULL))
		return error_set(err, -EINVAL, "status has a client %s but no client %s",
			ret->cert_pem != NULL ? "certificate" : "key",
			ret->cert_pem != NULL ? "key" : "certificate");
	if (ret->token == NULL && ret->cert_pem == NULL)
		return error_set(
			err, -EINVAL, "status has neither a token nor a client certificate");
	if (ret->token != NULL && (r = check_token(ret->token, err)) < 0)
		return r;
	if (ret->cert_pem != NULL &&
		((r = check_pem("clientCertificateData", ret->cert_pem, err)) < 0 ||
			(r = check_pem("clientKeyData", ret->key_pem, err)) < 0))
		return r;
	if (expires != NULL && clock_parse_rfc3339(expires, &ret->expires_wall_ns) < 0)
		return error_set(
			err, -EINVAL, "status.expirationTimestamp is no time as in RFC 3339");
	return 0;
}

int
exec_answer_parse(const char *bytes, size_t length, const char *api_version,
	struct kube_credential *ret, cJSON **ret_json, struct error *err)
{
	struct kube_credential credential = {0};
	const cJSON *status;
	cJSON *json = json_parse(bytes, length, err);
	int r = -EINVAL;

	if (json == NULL) {
		error_prefix(err, "not one JSON object");
		return r;
	}
	status = cJSON_GetObjectItemCaseSensitive(json, "status");
	if (strcmp(json_string(json, "kind", ""), "ExecCredential") != 0)
		error_set(err, r, "the kind is not ExecCredential");
	else if (strcmp(json_string(json, "apiVersion", ""), api_version) != 0)
		error_set(err, r, "the apiVersion is not %s", api_version);
	else if (!cJSON_IsObject(status))
		error_set(err, r, "no status");
	else
		r = read_status(status, &credential, err);
	if (r < 0) {
		exec_answer_free(json);
		return r;
	}
	*ret = credential;
	*ret_json = json;
	return 0;
}

static void
burn(cJSON *item)
{
	for (; item != NULL; item = item->next) {
		if (cJSON_IsString(item) && item->valuestring != NULL)
			explicit_bzero(item->valuestring, strlen(item->valuestring));
		burn(item->child);
	}
}

void
exec_answer_free(cJSON *json)
{
	burn(json);
	cJSON_Delete(json);
}
