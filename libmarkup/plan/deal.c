/* Shards → tasks: see deal.h. A heap has the task with the least on top. */
#include "libmarkup/plan/deal.h"

#include "libsymcache/base/sort.h"

enum { UNPACKED = 8 };

struct dealt {
	uint64_t cost;
	uint64_t number; /* of the shard; of the task, in the order in which it got its first */
};

uint64_t markup_log_cost(enum markup_log_kind kind, uint64_t bytes)
{
	return bytes * (kind == MARKUP_LOG_PLAIN ? 1 : UNPACKED);
}

static bool less(const struct dealt *a, const struct dealt *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->number < b->number;
}

static inline bool costs_more(const struct dealt *a, const struct dealt *b)
{
	return a->cost > b->cost || (a->cost == b->cost && a->number < b->number);
}

SC_SORT(sort_by_falling_cost, struct dealt, costs_more)

/* The top got more: it goes down to where it belongs. */
static void sink(struct dealt *heap, size_t n)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && less(&heap[child + 1], &heap[child]);
		if (less(&heap[i], &heap[child]))
			return;
		const struct dealt up = heap[child];
		heap[child] = heap[i];
		heap[i] = up;
	}
}

/* `order`: the shards by falling cost; *total: the costs of all. */
static bool order_shards(const struct mk_shards *shards, const struct markup_log *logs,
			 struct dealt *order, uint64_t *total)
{
	*total = 0;
	for (size_t i = 0; i < shards->len; i++) {
		const struct mk_shard *s = &shards->data[i];

		order[i] = (struct dealt){ markup_log_cost(logs[s->log].kind, s->to - s->from), i };
		*total += order[i].cost;
	}
	return sort_by_falling_cost(order, shards->len);
}

bool mk_deal(struct mk_shards *shards, const struct markup_log *logs, uint64_t task_size,
	     uint64_t most, uint64_t *ret)
{
	struct dealt *order = calloc(shards->len + 1, sizeof(*order)), *heap = NULL;
	uint64_t total, tasks = 0, *renumbered = NULL;
	bool done = order && order_shards(shards, logs, order, &total);

	if (done) {
		tasks = total / task_size + !!(total % task_size);
		tasks = tasks < most ? tasks : most;
		tasks = tasks < shards->len ? tasks : shards->len;
		tasks += !tasks && shards->len;
		heap = calloc(tasks + 1, sizeof(*heap));
		renumbered = calloc(tasks + 1, sizeof(*renumbered));
		done = heap && renumbered;
	}
	for (size_t i = 0; i < tasks && done; i++)
		heap[i].number = i;
	for (size_t i = 0; i < shards->len && done; i++) {
		shards->data[order[i].number].task = heap[0].number;
		heap[0].cost += order[i].cost;
		sink(heap, tasks);
	}
	done = done && sort_by_falling_cost(heap, tasks);
	for (size_t i = 0; i < tasks && done; i++)
		renumbered[heap[i].number] = i;
	for (size_t i = 0; i < shards->len && done; i++)
		shards->data[i].task = renumbered[shards->data[i].task];
	free(renumbered);
	free(heap);
	free(order);
	*ret = tasks;
	return done;
}
