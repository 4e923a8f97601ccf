#!/bin/bash
#SBATCH --job-name=symcache
#SBATCH --requeue --open-mode=append
#SBATCH --signal=B:TERM@30
# A task of a plan, as one element of a Slurm array:
#
#   sbatch --array=0-99 slurm.sh PLAN OUT [OPTION OF symcache filter...]
#   sbatch --array=$(symcache merge --missing PLAN OUT) slurm.sh PLAN OUT ...
#   symcache merge PLAN OUT
#
# With RequeueExit=75 in slurm.conf Slurm itself runs again what could not be done now or on
# that node. It may lose a task nevertheless: what is missing only `merge --missing` knows.
# Arrays end at MaxArraySize (1001 by default): `symcache plan --tasks` keeps below it.
# Give each task a whole node, or much of one (--cpus-per-task): one run with many threads
# shares names and caches, many runs do not. $SYMCACHE: the program, if it is not in PATH.
set -u
plan=${1:?usage: sbatch --array=N-M slurm.sh PLAN OUT [OPTION...]} out=${2:?no OUT}
shift 2
exec "${SYMCACHE:-symcache}" filter --plan "$plan" --task "$SLURM_ARRAY_TASK_ID" -o "$out" "$@"
