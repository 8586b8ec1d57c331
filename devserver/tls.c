/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates by OpenSSL: an EC P-256 CA that signs one server certificate.
 *
 * Nothing is written to disk; the CA's key is gone when tls_generate() returns. Valid for a year: a server that lives
 * longer is not what this is for.
 */
#include "config.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include "common/memory.h"
#include "devserver/tls.h"

#define VALID_SECONDS (365L * 24 * 3600)

struct authority {
	EVP_PKEY *key;
	X509 *certificate;
};

static bool
add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;
	bool added;

	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	added = extension && X509_add_ext(certificate, extension, -1);
	X509_EXTENSION_free(extension);
	return added;
}

static bool
set_basics(X509 *certificate, EVP_PKEY *key, const char *name)
{
	X509_NAME *subject = X509_get_subject_name(certificate);
	unsigned char serial[8];
	BIGNUM *number;
	bool done;

	if (RAND_bytes(serial, sizeof(serial)) != 1)
		return false;
	serial[0] &= 0x7f;
	number = BN_bin2bn(serial, sizeof(serial), NULL);
	done = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) &&
	       X509_set_version(certificate, 2) &&
	       /* An hour back: clocks of clients may differ. */
	       X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) &&
	       X509_gmtime_adj(X509_getm_notAfter(certificate), VALID_SECONDS) &&
	       X509_set_pubkey(certificate, key) &&
	       X509_NAME_add_entry_by_txt(
		       subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
	BN_free(number);
	return done;
}

/* issuer NULL: signed by its own key, a CA. names: subjectAltName of a server. */
static X509 *
make_certificate(EVP_PKEY *key, const char *name, const struct authority *issuer, const char *names)
{
	X509 *certificate = X509_new(), *signer = issuer ? issuer->certificate : certificate;
	bool done;

	if (!certificate)
		return NULL;
	done = set_basics(certificate, key, name) &&
	       X509_set_issuer_name(certificate, X509_get_subject_name(signer));
	if (done && !issuer)
		done = add_extension(
			       certificate, signer, NID_basic_constraints, "critical,CA:TRUE") &&
		       add_extension(certificate, signer, NID_key_usage,
			       "critical,keyCertSign,cRLSign") &&
		       add_extension(certificate, signer, NID_subject_key_identifier, "hash");
	else if (done)
		done = add_extension(
			       certificate, signer, NID_key_usage, "critical,digitalSignature") &&
		       add_extension(certificate, signer, NID_ext_key_usage, "serverAuth") &&
		       add_extension(certificate, signer, NID_authority_key_identifier, "keyid") &&
		       add_extension(certificate, signer, NID_subject_alt_name, names);
	if (done && X509_sign(certificate, issuer ? issuer->key : key, EVP_sha256()))
		return certificate;
	X509_free(certificate);
	return NULL;
}

static bool
to_pem(struct buf *out, X509 *certificate, EVP_PKEY *key)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *data;
	long length;
	bool done;

	if (!bio)
		return false;
	done = certificate ? PEM_write_bio_X509(bio, certificate)
			   : PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
	length = BIO_get_mem_data(bio, &data);
	if (done && length > 0)
		buf_add(out, data, (size_t)length);
	BIO_free(bio);
	return done && !out->failed;
}

int
tls_generate(struct tls_identity *ret, const char *address, struct error *err)
{
	struct authority ca = {EVP_EC_gen("P-256"), NULL};
	EVP_PKEY *key = EVP_EC_gen("P-256");
	char *names = xasprintf("IP:127.0.0.1,IP:::1,DNS:localhost%s%s", address ? ",IP:" : "",
		address ? address : "");
	X509 *certificate = NULL;
	int result = 0;

	*ret = (struct tls_identity){BUF_INIT, BUF_INIT, BUF_INIT};
	if (ca.key && key &&
		(ca.certificate = make_certificate(ca.key, "operatord-devserver CA", NULL, NULL)))
		certificate = make_certificate(key, "operatord-devserver", &ca, names);
	if (!certificate || !to_pem(&ret->ca, ca.certificate, NULL) ||
		!to_pem(&ret->certificate, certificate, NULL) || !to_pem(&ret->key, NULL, key))
		result = error_set(err, -EIO, "can't make certificates: %s",
			ERR_reason_error_string(ERR_peek_last_error()));
	X509_free(certificate);
	X509_free(ca.certificate);
	EVP_PKEY_free(ca.key);
	EVP_PKEY_free(key);
	free(names);
	return result;
}

void
tls_free(struct tls_identity *identity)
{
	buf_free(&identity->ca);
	buf_free(&identity->certificate);
	if (identity->key.capacity)
		OPENSSL_cleanse(identity->key.data, identity->key.length);
	buf_free(&identity->key);
}
