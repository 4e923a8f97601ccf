/* The symbols of an input: see input.h. */
#include "libsymcache/base/account.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/search.h"
#include "libsymcache/write/input/input.h"

static void join_symbols(struct sc_input *in)
{
	pthread_mutex_lock(&in->reading.lock);
	if (in->reading.running)
		pthread_join(in->reading.thread, NULL);
	in->reading.running = false;
	pthread_mutex_unlock(&in->reading.lock);
}

/* The whole table of the debug file. SC_ENOTFOUND: it has none. */
static int read_separate_table(struct sc_input *in, const struct sc_elf_asked *only,
			       struct sc_elf_symbols *ret, struct sc_error *err)
{
	struct sc_elf_symbols whole;
	int rc = in->separate ? sc_elf_symbols_of_both(in->separate, NULL, only, &whole, err) :
				SC_ENOTFOUND;

	if (rc)
		return rc;
	if (whole.from_dynsym) {
		sc_elf_symbols_deinit(&whole);
		return SC_ENOTFOUND;
	}
	sc_elf_symbols_deinit(ret);
	*ret = whole;
	return 0;
}

/* A stripped image has .dynsym only; its debug file has the whole table, or
 * MiniDebugInfo the functions that .dynsym lacks. */
static int read_tables(struct sc_input *in, const struct sc_elf_asked *only,
		       struct sc_elf_symbols *ret, struct sc_error *err)
{
	struct sc_error fault;
	int rc = sc_elf_symbols_of_both(in->image, NULL, only, ret, err);

	if (rc || !ret->from_dynsym)
		return rc;
	rc = read_separate_table(in, only, ret, err);
	if (rc != SC_ENOTFOUND)
		return rc;
	rc = in->mini ? 0 : sc_elf_open_mini(in->image, &in->mini, &fault);
	if (rc == SC_EFORMAT && !in->reading.faults.count++)
		in->reading.faults.first = fault;
	if (rc)
		return rc == SC_ENOMEM ? sc_error_set(err, rc, "out of memory") : 0;
	sc_elf_symbols_deinit(ret);
	return sc_elf_symbols_of_both(in->image, in->mini, only, ret, err);
}

static int read_symbols(struct sc_input *in, struct sc_error *err)
{
	uint64_t base = in->image->load_base, limit = base + UINT32_MAX;
	int rc = read_tables(in, in->asked.n ? &in->asked : NULL, &in->symbols, err);

	if (rc)
		return rc;
	if (limit < base)
		limit = UINT64_MAX;
	for (size_t i = 0; i < in->symbols.code.len; i++) {
		const struct sc_elf_symbol *s = &in->symbols.code.data[i];
		const struct sc_elf_range *code = sc_elf_range_at(&in->image->exec, s->vaddr);
		struct sc_code_symbol *c;
		uint64_t end;

		if (!code)
			continue;
		if (s->vaddr < base || s->vaddr >= limit) {
			in->symbols_too_far++;
			continue;
		}
		end = code->end - s->vaddr < s->size ? code->end : s->vaddr + s->size;
		c = end > s->vaddr ? vec_push(&in->code_symbols) : NULL;
		if (end > s->vaddr && !c)
			return sc_no_memory(err);
		if (c)
			*c = (struct sc_code_symbol){ s->vaddr, end < limit ? end : limit, s->name };
	}
	return 0;
}

static void *read_symbols_thread(void *arg)
{
	struct sc_input *in = arg;

	sc_account = in->reading.account;
	in->reading.rc = read_symbols(in, &in->reading.err);
	atomic_store(&in->reading.done, true);
	return NULL;
}

void sc_input_begin_symbols(struct sc_input *in, bool meanwhile)
{
	struct sc_symbol_reading *r = &in->reading;

	r->begun = true;
	r->account = sc_account;
	r->running = meanwhile && sc_thread_start(&r->thread, read_symbols_thread, in);
	if (!r->running)
		read_symbols_thread(in);
}

int sc_input_symbols(struct sc_input *in, struct sc_error *err)
{
	struct sc_symbol_reading *r = &in->reading;

	join_symbols(in);
	if (r->faults.count && !in->faults.count)
		in->faults.first = r->faults.first;
	in->faults.count += r->faults.count;
	r->faults.count = 0;
	if (r->rc && err)
		*err = r->err;
	return r->rc;
}

void sc_input_narrow(struct sc_input *in)
{
	const struct dw_wanted wanted = { in->asked.vaddrs, in->asked.n };
	struct sc_elf_symbol *all = in->symbols.all.data, *aliases = in->symbols.aliases.data;
	size_t kept = 0;

	for (size_t i = 0; i < in->code_symbols.len; i++) {
		const struct sc_code_symbol s = in->code_symbols.data[i];

		if (dw_wanted_in(&wanted, s.start, s.end))
			in->code_symbols.data[kept++] = s;
	}
	in->code_symbols.len = kept;
	kept = 0;
	for (size_t i = 0; i < in->symbols.all.len; i++) /* one for each address */
		if (dw_wanted_in(&wanted, all[i].vaddr, i + 1 < in->symbols.all.len ?
				 all[i + 1].vaddr : UINT64_MAX))
			all[kept++] = all[i];
	in->symbols.all.len = kept;
	kept = 0;
	for (size_t i = 0, at = 0; i < in->symbols.aliases.len; i++) {
		while (at < in->symbols.all.len && all[at].vaddr < aliases[i].vaddr)
			at++;
		if (at < in->symbols.all.len && all[at].vaddr == aliases[i].vaddr)
			aliases[kept++] = aliases[i];
	}
	in->symbols.aliases.len = kept;
	vec_clear(&in->symbols.data);
}

uint64_t sc_input_code_end(const void *input, uint64_t vaddr)
{
	const struct sc_input *in = input;
	const struct sc_elf_range *r = sc_elf_range_at(&in->image->exec, vaddr);

	if (!in->image->exec.list.len) /* it does not say: what is left of a stripped file, or
					* an assembler's labels alone */
		return vaddr < UINT64_MAX - 1 ? UINT64_MAX - 1 : 0;
	return r ? r->end : 0;
}

/* All symbols, where in->symbols has those at some addresses alone: read when a function is met that
 * has no name. Without memory it has none. */
static const struct sc_elf_symbols *all_symbols(struct sc_input *in)
{
	pthread_mutex_lock(&in->reading.lock);
	if (!in->all_read)
		read_tables(in, NULL, &in->all_symbols, NULL);
	in->all_read = true;
	pthread_mutex_unlock(&in->reading.lock);
	return &in->all_symbols;
}

/* The symbols that name what begins somewhere. */
static const struct sc_elf_symbols *naming_symbols(const void *input)
{
	struct sc_input *in = (struct sc_input *)(uintptr_t)input;

	if (!atomic_load(&in->reading.done))
		join_symbols(in);
	return in->asked.n ? all_symbols(in) : &in->symbols;
}

static const char *name_at(const struct sc_elf_symbol *list, size_t n, uint64_t vaddr)
{
	const size_t at = SC_SEARCH(i, n, list[i].vaddr < vaddr);

	return at < n && list[at].vaddr == vaddr ? list[at].name : NULL;
}

const char *sc_input_symbol_at(const void *input, uint64_t vaddr)
{
	const struct sc_elf_symbols *s = naming_symbols(input);

	return name_at(s->code.data, s->code.len, vaddr);
}

const char *sc_input_shown_symbol_at(const void *input, uint64_t vaddr)
{
	const struct sc_elf_symbols *s = naming_symbols(input);

	return name_at(s->all.data, s->all.len, vaddr);
}
