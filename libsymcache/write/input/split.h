/*
 * Where split units stand: the .dwo files that skeleton units name, or a .dwp
 * package next to the image or its debug file.
 */
#ifndef SC_SPLIT_H
#define SC_SPLIT_H

#include <pthread.h>

#include "libsymcache/write/input/load.h"
#include "libsymcache/dwarf/package.h"
#include "libsymcache/dwarf/split.h"

/* Zeroed: closed. It must not move while it is open. */
struct sc_split {
	struct dw_split_source source;
	char *dirs[2];              /* of the file with the skeletons and of the image */
	struct sc_elf *package_elf; /* or NULL */
	struct dw_package package;
	unsigned threads;           /* to load a package; both are set before */
	struct sc_section_faults *faults; /* its faults are noted there */
	pthread_mutex_t lock;       /* of what follows */
	VEC(struct sc_elf *) files; /* .dwo files; what was read points into them */
	bool open;
};

/*
 * Looks for the package: `package` (or NULL), else FILE.dwp of the image or of `dwarf`, the
 * file with the skeletons, and loads it. Without one, .dwo files are looked for when their
 * units are read: where DW_AT_dwo_name and DW_AT_comp_dir say, and next to the two files.
 * SC_ENOMEM.
 */
int sc_split_open(struct sc_split *s, const struct sc_elf *image, const struct sc_elf *dwarf,
		  const char *package, struct sc_error *err);
void sc_split_close(struct sc_split *s);

#endif
