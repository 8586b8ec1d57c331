/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the PEM texts of a target with OpenSSL and drops the result: the TLS library would find the same faults at the first
 * handshake only, in words that don't say which file is meant, and would ask the terminal for the passphrase of a key.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "common/kube/http_tls.h"

static int
no_passphrase(char *buffer, int size, int writing, void *data)
{
	bool *asked = data;

	(void)buffer;
	(void)size;
	(void)writing;
	*asked = true;
	return -1;
}

static BIO *
open_pem(const char *pem, size_t length)
{
	return length > INT_MAX ? NULL : BIO_new_mem_buf(pem, (int)length);
}

static X509 *
read_certificate(const char *pem, size_t length)
{
	BIO *bio = open_pem(pem, length);
	X509 *out = bio == NULL ? NULL : PEM_read_bio_X509(bio, NULL, NULL, NULL);

	BIO_free(bio);
	return out;
}

static EVP_PKEY *
read_key(const char *pem, size_t length, bool *ret_encrypted)
{
	BIO *bio = open_pem(pem, length);
	EVP_PKEY *out = bio == NULL
				? NULL
				: PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, ret_encrypted);

	BIO_free(bio);
	return out;
}

static int
check_pair(const struct kube_target *target, struct error *err)
{
	bool encrypted = false;
	X509 *certificate = read_certificate(target->cert_pem, target->cert_pem_length);
	EVP_PKEY *key = read_key(target->key_pem, target->key_pem_length, &encrypted);
	int r = 0;

	if (certificate == NULL)
		r = error_set(err, -EINVAL, "the client certificate is not a certificate in PEM");
	else if (encrypted)
		r = error_set(err, -EINVAL,
			"the client key is encrypted; operatord can't ask for a passphrase, store "
			"it without one");
	else if (key == NULL)
		r = error_set(err, -EINVAL, "the client key is not a private key in PEM");
	else if (X509_check_private_key(certificate, key) != 1)
		r = error_set(
			err, -EINVAL, "the client key does not belong to the client certificate");
	X509_free(certificate);
	EVP_PKEY_free(key);
	return r;
}

int
http_tls_check(const struct kube_target *target, struct error *err)
{
	int r = 0;

	if (target->ca_pem != NULL) {
		X509 *ca = read_certificate(target->ca_pem, target->ca_pem_length);

		if (ca == NULL)
			r = error_set(err, -EINVAL,
				"the certificate authority holds no certificate in PEM");
		X509_free(ca);
	}
	if (r == 0 && target->cert_pem != NULL)
		r = check_pair(target, err);
	ERR_clear_error();
	return r;
}
