/* Ed25519 by libsodium: see sign.h. */
#include "libsymcache/bundle/sign.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

/* What stands in front of the 32 bytes of an Ed25519 key in DER: RFC 8410. */
static const uint8_t private_head[] = {
	0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
	0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
};
static const uint8_t public_head[] = {
	0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
};

enum { KEY = 32 };

static int read_key(const char *path, const char *kind, const uint8_t *head, size_t head_size,
		    uint8_t key[KEY], struct sc_error *err)
{
	char text[4096], begin[64];
	uint8_t der[256];
	size_t len, size = 0;
	const char *at;
	FILE *f = fopen(path, "re");

	if (!f && errno == ENOENT && kind[1] == 'R')
		return sc_error_set(err, SC_ESYS, "there is no key %s: 'openssl genpkey "
				    "-algorithm ed25519 -out key.pem' makes one", path);
	if (!f)
		return sc_error_sys(err, "cannot open the key %s", path);
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[len] = 0;
	snprintf(begin, sizeof(begin), "-----BEGIN %s KEY-----", kind);
	at = strstr(text, begin);
	if (!at || sodium_init() < 0 ||
	    sodium_base642bin(der, sizeof(der), at + strlen(begin),
			      strcspn(at + strlen(begin), "-"), " \r\n", &size, NULL,
			      sodium_base64_VARIANT_ORIGINAL) ||
	    size != head_size + KEY || memcmp(der, head, head_size))
		return kind[1] == 'R' ?
			sc_error_set(err, SC_EINVAL, "%s has no Ed25519 private key in PEM; 'openssl "
				     "genpkey -algorithm ed25519 -out key.pem' makes one", path) :
			sc_error_set(err, SC_EINVAL, "%s has no Ed25519 public key in PEM; 'openssl "
				     "pkey -in key.pem -pubout -out public.pem' makes it from the private one", path);
	memcpy(key, der + head_size, KEY);
	sodium_memzero(der, sizeof(der));
	sodium_memzero(text, sizeof(text));
	return 0;
}

int sign_bytes(const char *key_file, const void *bytes, size_t size,
	       uint8_t signature[SIGNATURE_SIZE], struct sc_error *err)
{
	uint8_t seed[KEY], public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
	int rc = read_key(key_file, "PRIVATE", private_head, sizeof(private_head), seed, err);

	if (rc)
		return rc;
	crypto_sign_seed_keypair(public, secret, seed);
	crypto_sign_detached(signature, NULL, bytes, size, secret);
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(secret, sizeof(secret));
	return 0;
}

int sign_verify(const char *public_key_file, const void *bytes, size_t size, const void *signature,
		size_t signature_size, struct sc_error *err)
{
	uint8_t public[KEY];
	int rc = read_key(public_key_file, "PUBLIC", public_head, sizeof(public_head), public, err);

	if (rc)
		return rc;
	if (signature_size != SIGNATURE_SIZE ||
	    crypto_sign_verify_detached(signature, bytes, size, public))
		return sc_error_set(err, SC_EFORMAT,
				    "the manifest was not signed by the key %s",
				    public_key_file);
	return 0;
}
