/* Shards → tasks: see deal.h. A heap has the task with the least on top. */
#include "cmd/plan/deal.h"

#include <stdlib.h>

enum { UNPACKED = 8 };

struct dealt {
	uint64_t cost;
	uint64_t number; /* of the shard; of the task, in the order in which it got its first */
};

uint64_t plan_cost(const struct plan_log *log, const struct plan_shard *s)
{
	return (s->to - s->from) * (log->kind == LOG_PLAIN ? 1 : UNPACKED);
}

static bool less(const struct dealt *a, const struct dealt *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->number < b->number;
}

static int by_falling_cost(const void *a, const void *b)
{
	const struct dealt *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

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

uint64_t plan_deal(struct plan_shards *shards, const struct plan_logs *logs, uint64_t task_size,
		   uint64_t most)
{
	struct dealt *order = must_calloc(shards->len + 1, sizeof(*order)), *heap;
	uint64_t total = 0, tasks, *renumbered;

	for (size_t i = 0; i < shards->len; i++) {
		const struct plan_shard *s = &shards->data[i];

		order[i] = (struct dealt){ plan_cost(&logs->data[s->log], s), i };
		total += order[i].cost;
	}
	qsort(order, shards->len, sizeof(*order), by_falling_cost);
	tasks = total / task_size + !!(total % task_size);
	tasks = tasks < most ? tasks : most;
	tasks = tasks < shards->len ? tasks : shards->len;
	tasks += !tasks && shards->len;
	heap = must_calloc(tasks + 1, sizeof(*heap));
	for (size_t i = 0; i < tasks; i++)
		heap[i].number = i;
	for (size_t i = 0; i < shards->len; i++) {
		shards->data[order[i].number].task = heap[0].number;
		heap[0].cost += order[i].cost;
		sink(heap, tasks);
	}
	qsort(heap, tasks, sizeof(*heap), by_falling_cost);
	renumbered = must_calloc(tasks + 1, sizeof(*renumbered));
	for (size_t i = 0; i < tasks; i++)
		renumbered[heap[i].number] = i;
	for (size_t i = 0; i < shards->len; i++)
		shards->data[i].task = renumbered[shards->data[i].task];
	free(renumbered);
	free(heap);
	free(order);
	return tasks;
}
