/*
 * symcache pack, symcache unpack: a SymCache file for transport and storage, and back.
 */
#include <stdlib.h>

#include "cmd/cli/output.h"
#include "cmd/cmd.h"
#include "libsymcache/packed/packed.h"
#include "libsymcache/read/read.h"

static struct {
	const char *output;
	uint64_t level;
} o;

static const struct opt pack_opts[] = {
	{ "output", 'o', OPT_STRING, &o.output, "FILE",
	  "the packed file to write; - for standard output" },
	{ "level", 0, OPT_COUNT, &o.level, "N",
	  "zstd's level, from 1 (fast) to 19 (small); 3 by default" },
	{ 0 },
};

static const struct opt unpack_opts[] = {
	{ "output", 'o', OPT_STRING, &o.output, "FILE",
	  "the SymCache file to write; - for standard output" },
	{ 0 },
};

static int open_operand(int argc, char **argv, struct symcache_map *ret, struct sc_error *err)
{
	*ret = (struct symcache_map){ 0 };
	if (argc != 1 || !o.output)
		return sc_error_set(err, SC_EINVAL, "%s", argc != 1 ? "give one SymCache file" :
				    "no output given: use -o FILE");
	return symcache_map_open(argv[0], ret, err);
}

static int pack(int argc, char **argv, struct sc_error *err)
{
	struct symcache_map file __attribute__((cleanup(symcache_map_close)));
	const uint64_t level = o.level ? o.level : PACKED_LEVEL;
	void *packed = NULL;
	size_t size;
	int rc = open_operand(argc, argv, &file, err);

	if (!rc && file.unpacked.num)
		return sc_error_set(err, SC_EINVAL, "%.200s: packed already", argv[0]);
	if (!rc)
		rc = packed_pack(&(struct packed_bytes){ file.bytes, file.size }, 1,
				 level < 100 ? (int)level : 100, &packed, &size, err);
	if (!rc)
		rc = out_write(o.output, packed, size, err);
	free(packed);
	return rc;
}

static int unpack(int argc, char **argv, struct sc_error *err)
{
	struct symcache_map file __attribute__((cleanup(symcache_map_close)));
	int rc = open_operand(argc, argv, &file, err);

	if (!rc && !file.unpacked.num)
		return sc_error_set(err, SC_EINVAL, "%.200s: not packed", argv[0]);
	return rc ? rc : out_write(o.output, file.cache.data, file.cache.size, err);
}

const struct command pack_command = {
	.name = "pack",
	.operands = "CACHE",
	.summary = "make a SymCache file small, for transport and storage",
	.description =
		"Writes a file of a tenth to an eighteenth of the size, from which 'symcache unpack' "
		"makes the same bytes. A packed file can be used wherever a SymCache file can; it is "
		"unpacked in memory.",
	.opts = pack_opts,
	.examples =
		"  symcache build /usr/bin/python3 -o python.symcache\n"
		"  symcache pack python.symcache -o python.packed --level 19\n"
		"  symcache lookup --cache python.packed 0x1f3a2\n",
	.see_also = "symcache-unpack(1) symcache-export(1)",
	.run = pack,
};

const struct command unpack_command = {
	.name = "unpack",
	.operands = "FILE",
	.summary = "restore a packed SymCache file",
	.description =
		"Writes the bytes that were given to 'symcache pack'. If they cannot be restored "
		"exactly, that is an error, and nothing is written.",
	.opts = unpack_opts,
	.examples = "  symcache unpack python.packed -o python.symcache\n",
	.see_also = "symcache-pack(1) symcache-verify(1)",
	.run = unpack,
};
