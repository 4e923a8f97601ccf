/* An entry of the store in JSON: see entry.h. */
#include "cmd/store/entry.h"

#include "symcache/build_id.h"

void sources_json(struct mk_gen *j, const char *key, uint32_t sources)
{
	mk_gen_open_array(j, key);
	for (int i = 0; symstore_kinds[i]; i++)
		if (sources & symstore_kind_bit(i))
			mk_gen_text(j, NULL, symstore_kinds[i]);
	mk_gen_close_array(j);
}

static void field_json(struct mk_gen *j, const struct symstore_field *f)
{
	const char *at = f->text, *item;
	size_t len;

	switch (f->type) {
	case SYMSTORE_TEXT:
		mk_gen_text(j, f->key, f->text);
		break;
	case SYMSTORE_NUMBER:
		mk_gen_number(j, f->key, f->number);
		break;
	case SYMSTORE_BOOL:
		mk_gen_bool(j, f->key, f->number);
		break;
	case SYMSTORE_LIST:
		mk_gen_open_array(j, f->key);
		while ((len = symstore_tags_next(&at, &item)))
			mk_gen_string(j, NULL, item, len);
		mk_gen_close_array(j);
	}
}

void entry_json(struct mk_gen *j, const struct symstore_entry *entry)
{
	struct symstore_fields fields;

	symstore_entry_fields(entry, &fields);
	for (size_t i = 0; i < fields.len; i++)
		field_json(j, &fields.data[i]);
}
