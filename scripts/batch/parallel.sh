#!/bin/bash
# All tasks of a plan by GNU parallel, here or over ssh:
#
#   parallel.sh PLAN OUT [OPTION OF parallel...] [-- OPTION OF symcache filter...]
#   parallel.sh /net/plan /net/out -S node1,node2 -- --input-root /net --store /net/all.store
#
# One task at a time on each machine, with all its threads; -j 4 makes it four. Run it again
# after a failure, or when it was killed: what is recorded in OUT is done at once.
# Exit status: 0 all tasks are recorded; 1 some are not: they are printed. Then
# `symcache merge PLAN OUT`. $SYMCACHE: the program, if it is not in PATH.
set -u
plan=${1:?usage: parallel.sh PLAN OUT [OPTION...] [-- OPTION...]} out=${2:?no OUT}
shift 2
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	options+=("$1")
	shift
done
[ $# = 0 ] || shift
symcache=${SYMCACHE:-symcache}
mkdir -p "$out/.symcache" || exit
parallel --will-cite -q -j 1 --retries 3 --joblog "$out/.symcache/joblog" --resume-failed \
	"${options[@]}" "$symcache" filter --plan "$plan" --task {} -o "$out" "$@" :::: "$plan/tasks"
"$symcache" merge --missing "$plan" "$out"
