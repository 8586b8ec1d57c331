/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates for tests, made when they are needed. Aborts when OpenSSL refuses. */
#ifndef TESTS_UNIT_HTTPS_CERTS_H
#define TESTS_UNIT_HTTPS_CERTS_H

#include <openssl/evp.h>
#include <openssl/x509.h>

/* alternative: subject alternative names or NULL. issuer NULL: signs itself and is an authority. */
X509 *https_certificate(const char *name, const char *alternative, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key);
/* PEM, to be freed. */
char *https_certificate_text(X509 *certificate);
char *https_key_text(EVP_PKEY *key);

#endif
