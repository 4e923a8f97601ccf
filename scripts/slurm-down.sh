#!/bin/bash
# Ends what slurm-up.sh started in DIR, the jobs included, by process IDs alone.
#
#   Debian 12: apt-get install --no-install-recommends slurm-wlm
#
#   slurm-down.sh DIR
#
# Daemons are known by their names and SLURM_CONF=DIR/slurm.conf in their environment, the
# processes of jobs by the name of the cluster, which is one of its own; nothing else is
# touched. May be called twice.
# Exit status: 0 nothing of it runs any more, 2 something does.
set -u
[ $# = 1 ] && [ -d "$1" ] || { echo "usage: slurm-down.sh DIR" >&2; exit 2; }
dir=$(cd "$1" && pwd -P)
export PATH=$PATH:/usr/sbin:/sbin
cluster=$(sed -n 's/^ClusterName=//p' "$dir/slurm.conf")
[ -n "$cluster" ] || { echo "slurm-down: $dir was not made by slurm-up.sh" >&2; exit 2; }

ours() {
	local p
	for p in /proc/[0-9]*; do
		if grep -qzx "SLURM_CLUSTER_NAME=$cluster" "$p/environ" 2> /dev/null ||
		   { grep -qxE 'munged|slurm(ctld|d|stepd|scriptd)' "$p/comm" 2> /dev/null &&
		     grep -qzxF "SLURM_CONF=$dir/slurm.conf" "$p/environ" 2> /dev/null; }; then
			echo "${p#/proc/}"
		fi
	done
}
# First asks, then kills.
SLURM_CONF=$dir/slurm.conf timeout 5 scancel --full --state=RUNNING -u root 2> /dev/null
for signal in TERM TERM KILL KILL; do
	pids=$(ours)
	[ -n "$pids" ] || break
	kill -$signal $pids 2> /dev/null
	for ((i = 0; i < 30; i++)); do
		[ -n "$(ours)" ] || break
		sleep 0.1
	done
done
pids=$(ours)
[ -z "$pids" ] || { echo "slurm-down: still running: "$pids >&2; exit 2; }
