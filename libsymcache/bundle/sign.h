/*
 * sign.h: Ed25519 signatures, with keys in PEM files as OpenSSL writes them:
 *
 *   openssl genpkey -algorithm ed25519 -out key.pem
 *   openssl pkey -in key.pem -pubout -out public.pem
 */
#ifndef BUNDLE_SIGN_H
#define BUNDLE_SIGN_H

#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/error.h"

enum { SIGNATURE_SIZE = 64 };

/* SC_ESYS; SC_EINVAL: not an Ed25519 key of this kind. */
int sign_bytes(const char *key_file, const void *bytes, size_t size,
	       uint8_t signature[SIGNATURE_SIZE], struct sc_error *err);

/* SC_EFORMAT: the signature is not of that key and these bytes. */
int sign_verify(const char *public_key_file, const void *bytes, size_t size, const void *signature,
		size_t signature_size, struct sc_error *err);

#endif
