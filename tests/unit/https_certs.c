/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "https_certs.h"

static void
add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;

	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	if (extension == NULL)
		abort();
	X509_add_ext(certificate, extension, -1);
	X509_EXTENSION_free(extension);
}

X509 *
https_certificate(const char *name, const char *alternative, EVP_PKEY *key, X509 *issuer,
	EVP_PKEY *issuer_key)
{
	static long serial;
	X509 *certificate = X509_new();
	X509_NAME *subject = X509_get_subject_name(certificate);

	X509_set_version(certificate, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
	X509_set_pubkey(certificate, key);
	X509_NAME_add_entry_by_txt(
		subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(certificate, issuer != NULL ? X509_get_subject_name(issuer) : subject);
	add_extension(certificate, issuer != NULL ? issuer : certificate, NID_basic_constraints,
		issuer == NULL ? "critical,CA:TRUE" : "critical,CA:FALSE");
	if (alternative != NULL)
		add_extension(certificate, issuer, NID_subject_alt_name, alternative);
	if (X509_sign(certificate, issuer_key != NULL ? issuer_key : key, EVP_sha256()) <= 0)
		abort();
	return certificate;
}

static char *
to_text(BIO *bio)
{
	char *data, *out;
	long n = BIO_get_mem_data(bio, &data);

	out = strndup(data, (size_t)n);
	BIO_free(bio);
	return out;
}

char *
https_certificate_text(X509 *certificate)
{
	BIO *bio = BIO_new(BIO_s_mem());

	PEM_write_bio_X509(bio, certificate);
	return to_text(bio);
}

char *
https_key_text(EVP_PKEY *key)
{
	BIO *bio = BIO_new(BIO_s_mem());

	PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
	return to_text(bio);
}
