/*
 * The module of a mapping: by its build ID; without one by its name, as `filter` does. See
 * places.h, and format/profiles.md for the rules.
 */
#include <stdio.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/profile/places.h"

static bool has_byte(struct sc_str s, char c)
{
	return s.len && memchr(s.ptr, c, s.len);
}

/* ---- kernels ----------------------------------------------------------------------------- */

static const char kernel_map[] = "[kernel.kallsyms]", guest_map[] = "[guest.kernel.kallsyms";

static bool is_kernel(struct sc_str name)
{
	return sc_str_begins(name, kernel_map) || sc_str_begins(name, guest_map);
}

/* "[overlay]", or the file of a module of the kernel. */
static bool is_kernel_module(struct sc_str name)
{
	static const char *const files[] = { ".ko", ".ko.xz", ".ko.gz", ".ko.zst" };
	static const char *const others[] = { "[vdso]", "[vsyscall]", "[heap]", "[stack", "[anon",
					      "[vvar", "[uprobes]", "[sigpage]", "[vectors]" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (sc_str_ends(name, files[i]))
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (sc_str_begins(name, others[i]))
			return false;
	return sc_str_begins(name, "[") && sc_str_ends(name, "]") && !is_kernel(name) &&
	       !sc_str_begins(name, "[bpf") && !sc_str_begins(name, "[kernel");
}

/* What the store calls it: "vmlinux", or the name of its module. */
static struct sc_str kernel_name(struct sc_str name)
{
	const char *from = sc_last_part(name).ptr, *end = name.ptr + name.len, *to;

	if (is_kernel(name))
		return sc_str_of("vmlinux");
	from += *from == '[';
	for (to = from; to < end && *to != '.' && *to != ']'; to++)
		;
	return sc_span(from, to);
}

static bool symbol_at(struct prof_places *p, struct symcache_module *m, struct sc_str name,
		      uint64_t *vaddr)
{
	uint32_t at = 0;

	return symcache_symbolize_name(p->symbolizer, m, name, &at, vaddr);
}

/* What lies at the start of a kernel's mapping: the symbol behind the name of the mapping, else
 * _stext, which the kernel's random base moves by whole pages; else where its first segment of
 * code begins. */
static bool kernel_start(struct prof_places *p, const struct prof_mapping *m, uint64_t *vaddr)
{
	struct symcache_module *module = p->modules.data[m->module];
	const char *bracket = memchr(m->name.ptr, ']', m->name.len);
	struct sc_str symbol = { NULL, 0 };

	if (bracket)
		symbol = (struct sc_str){
			bracket + 1, m->name.len - (size_t)(bracket + 1 - m->name.ptr) };
	if (symbol.len)
		return symbol_at(p, module, symbol, vaddr);
	if (symbol_at(p, module, sc_str_of("_stext"), vaddr) && !((*vaddr ^ m->start) & 4095))
		return true;
	if (!m->cache->num_segments || !symcache_valid(m->cache, m->cache->segments, sizeof(*m->cache->segments)))
		return false;
	*vaddr = m->cache->segments->vaddr;
	return true;
}

/* How an address of the mapping becomes a p_vaddr. False: it cannot. */
static bool set_origin(struct prof_places *p, struct prof_mapping *m)
{
	m->origin = SYMCACHE_FROM_FILE;
	m->base = m->offset;
	if (!m->start && !m->offset && (!m->limit || m->limit == UINT64_MAX)) {
		m->origin = SYMCACHE_FROM_ZERO;
	} else if (is_kernel(m->name)) {
		m->origin = SYMCACHE_FROM_ZERO;
		return kernel_start(p, m, &m->base);
	} else if (is_kernel_module(m->name)) { /* .text is at 0 in the cache of one */
		m->origin = SYMCACHE_FROM_ZERO;
		m->base = 0;
	}
	return true;
}

/* ---- missing ones ------------------------------------------------------------------------ */

/* Up to a NUL. */
static int string_len(struct sc_str s)
{
	return s.len ? (int)strnlen(s.ptr, s.len < 4096 ? s.len : 4096) : 0;
}

/* More modules are not told apart: they are hostile. */
enum { MISSING_MAX = 65536 };

static uint32_t note_missing(struct prof_places *p, const struct prof_mapping *m)
{
	char text[2 * 4096 + 2];
	const int len = snprintf(text, sizeof(text), "%.*s%c%.*s", string_len(m->name),
				 m->name.len ? m->name.ptr : "", 0, string_len(m->id),
				 m->id.len ? m->id.ptr : "");
	uint32_t ret;

	if (p->missing.len >= MISSING_MAX)
		return PROF_NONE;
	ret = vec_reserve(&p->missing, 1) ?
		prof_texts_add(&p->missing_texts, text, (size_t)len) : PROF_NONE;
	p->no_memory |= ret == PROF_NONE;
	if (ret == p->missing.len)
		vec_push(&p->missing)->last = UINT64_MAX;
	return ret;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* By what the mapping says; NULL: nothing is. */
static struct symcache_module *module_of(struct prof_places *p, struct prof_mapping *m)
{
	static const char deleted[] = " (deleted)"; /* of what was replaced meanwhile */
	struct symcache_file_id of = { .path = m->name };
	struct symcache_module *module;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char text[SYMCACHE_BUILD_ID_TEXT];
	struct sc_error err;

	if (m->id.len && !has_byte(m->id, '/')) { /* else Go's */
		if (m->id.len >= sizeof(text) || has_byte(m->id, 0))
			return NULL;
		memcpy(text, m->id.ptr, m->id.len);
		text[m->id.len] = 0;
		if (!symcache_build_id_read(text, id, &of.build_id_len))
			return NULL;
		of.build_id = id;
	}
	of.kernel = is_kernel(m->name) || is_kernel_module(m->name);
	if (of.kernel)
		of.path = kernel_name(m->name);
	else if (sc_str_ends(of.path, deleted))
		of.path.len -= strlen(deleted);
	return symcache_find_module(&p->finder, &of, &module, &err) ? NULL : module;
}

uint32_t prof_module_of(struct prof_places *p, struct prof_mapping *m)
{
	struct symcache_module *module, **slot;

	if (m->asked)
		return m->module;
	m->asked = true;
	module = module_of(p, m);
	if (!module || symcache_module_cache(module, &m->cache, NULL, NULL)) {
		m->missing = note_missing(p, m);
		return PROF_NONE;
	}
	for (uint32_t i = 0; i < p->modules.len; i++)
		if (p->modules.data[i] == module)
			m->module = i;
	if (m->module == PROF_NONE) {
		slot = vec_push(&p->modules);
		p->no_memory |= !slot;
		if (!slot)
			return PROF_NONE;
		*slot = module;
		m->module = (uint32_t)(p->modules.len - 1);
	}
	if (!set_origin(p, m))
		m->module = PROF_NONE;
	return m->module;
}
