#!/bin/bash
# Starts a throw-away Slurm on this machine: munged, slurmctld and some slurmd, each a
# "node" of its own, on loopback and random free ports. For tests; as root.
#
#   Debian 12: apt-get install --no-install-recommends slurm-wlm
#              (slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins)
#
#   slurm-up.sh DIR [NODES [CPUS]]   DIR: empty or not there yet; default 2 nodes of 2 CPUs
#   . DIR/env                        sets SLURM_CONF: then sbatch, squeue, scancel … work
#   slurm-down.sh DIR                ends all of it, jobs included; DIR may be removed then
#
#   DIR/kill-node n2                 a node dies, with the jobs on it
#   DIR/start-node n2                it comes back; returns after 5 s, see there
#
# All that it needs lies in DIR: nothing in /etc, /run, /var is read or written, no
# systemd, no cgroups, no database. DIR/pid/NAME has the process of each daemon (munged,
# slurmctld, slurmd-n1 …). `kill -9 $(cat DIR/pid/slurmd-n2)` alone is a node that lost its
# network: its jobs go on, so that a task runs twice. A node counts as down after some 15 s;
# its tasks are requeued, and begin 2 minutes later; to bring them forward:
#   scontrol update JobId=7_3 StartTime=now
# CPUS is what Slurm hands out, whatever the machine has. Takes 2 to 10 seconds.
# Exit status: 0 all nodes are idle; 2 it could not be started: the end of the logs is shown.
set -eu
[ $# -ge 1 ] && [ $# -le 3 ] || { sed -n '2,24s/^# \{0,1\}//p' "$0" >&2; exit 2; }
nodes=${2:-2} cpus=${3:-2}
die() { echo "slurm-up: $*" >&2; exit 2; }
export PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" = 0 ] || die "run it as root: slurmd starts jobs as their users"
for p in munged slurmctld slurmd sinfo perl; do
	command -v $p > /dev/null || die "no $p: apt-get install --no-install-recommends slurm-wlm"
done
mkdir -p "$1"
dir=$(cd "$1" && pwd -P)
[ -z "$(ls -A "$dir")" ] || die "$dir is not empty"
case $dir in *[!A-Za-z0-9/._-]*) die "$dir: letters, digits and ._- only, for slurm.conf" ;; esac
[ ${#dir} -le 70 ] || die "$dir: too long for the path of a socket"
chmod 755 "$dir"
mkdir -p "$dir/state" "$dir/log" "$dir/pid" "$dir/munge"
chmod 700 "$dir/state"

# Free at the same time, then let go: another program may take one before we do; then it fails.
ports=($(perl -MIO::Socket::INET -e '
	my @s = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) or die $! } 1 .. shift;
	print join(" ", map { $_->sockport } @s), "\n"' $((nodes + 1))))

host=$(hostname -s)
cat > "$dir/slurm.conf" <<END
ClusterName=throwaway$$
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/state/slurmctld.pid
SlurmdPidFile=$dir/state/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd-%n
# No cgroups, no accounting, nothing of the machine's
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/log/jobs
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
# The CPUs are what we say, not what is there
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=200000,bf_interval=2
# Quick to notice that a node is gone, and to take it back
SlurmdTimeout=8
ReturnToService=2
JobRequeue=1
KillWait=3
BatchStartTimeout=10
MessageTimeout=5
MinJobAge=3600
# Which exit statuses of a job mean: elsewhere, again
RequeueExit=75
MaxArraySize=10001
END
for ((i = 1; i <= nodes; i++)); do
	echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=$cpus" \
		"RealMemory=1000 State=UNKNOWN"
done >> "$dir/slurm.conf"
echo "PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP" >> "$dir/slurm.conf"
# A node that dies with all that runs on it, and one that comes back.
cat > "$dir/kill-node" <<END
#!/bin/bash
kill -9 \$(cat "$dir/pid/slurmd-\$1")
for p in /proc/[0-9]*; do
	if grep -qzx "SLURM_CLUSTER_NAME=throwaway$$" \$p/environ 2> /dev/null &&
	   grep -qzx "SLURMD_NODENAME=\$1" \$p/environ 2> /dev/null; then
		parent=\$(sed -n 's/^PPid:[[:space:]]*//p' \$p/status)
		! grep -qx slurmstepd /proc/\$parent/comm || kill -9 \$parent
		kill -9 \${p#/proc/}
	fi
done 2> /dev/null
true
END
cat > "$dir/start-node" <<END
#!/bin/bash
export SLURM_CONF=$dir/slurm.conf PATH=\$PATH:/usr/sbin:/sbin
rm -rf "$dir/spool-\$1"
cd $dir
setsid slurmd -D -N "\$1" -f $dir/slurm.conf < /dev/null >> "$dir/log/slurmd-\$1.out" 2>&1 &
echo \$! > "$dir/pid/slurmd-\$1"
for ((i = 0; i < 50; i++)); do
	# slurmctld still has to tell the dead node to end its jobs, and tells this one: it
	# would end an attempt that is requeued here within a second, as FAILED.
	sinfo -h -N -n "\$1" -t idle,mix,alloc -o %t | grep -qx '[a-z]*' && exec sleep 5
	sleep 0.2
done
exit 2
END
chmod +x "$dir/kill-node" "$dir/start-node"
cat > "$dir/env" <<END
export SLURM_CONF=$dir/slurm.conf PATH=\$PATH:/usr/sbin:/sbin
END
export SLURM_CONF=$dir/slurm.conf # by which slurm-down.sh knows the daemons, too

# A session of its own, so that Ctrl-C here does not end it; exec, so that $! is the daemon.
start() {
	local name=$1
	shift
	(cd "$dir" && exec setsid "$@") < /dev/null >> "$dir/log/$name.out" 2>&1 &
	echo $! > "$dir/pid/$name"
}
failed() {
	echo "slurm-up: $*" >&2
	tail -n 15 "$dir"/log/* >&2
	"$(dirname "$0")/slurm-down.sh" "$dir" || true
	exit 2
}

(umask 077; dd if=/dev/urandom of="$dir/munge/key" bs=1 count=1024 status=none)
start munged munged --foreground --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
	--pid-file="$dir/munge/pid" --log-file="$dir/log/munged" --seed-file="$dir/munge/seed" \
	--num-threads=2
for ((i = 0; i < 50; i++)); do
	[ -S "$dir/munge/socket" ] && break
	sleep 0.1
done
[ -S "$dir/munge/socket" ] || failed "munged did not start"
start slurmctld slurmctld -D -f "$dir/slurm.conf"
for ((i = 1; i <= nodes; i++)); do
	start "slurmd-n$i" slurmd -D -N "n$i" -f "$dir/slurm.conf"
done
for ((i = 0; i < 150; i++)); do
	ready=$(timeout 5 sinfo -h -N -t idle -o %N 2> /dev/null | wc -l)
	[ "$ready" = "$nodes" ] && break
	sleep 0.2
done
[ "$ready" = "$nodes" ] || failed "$ready of $nodes nodes became idle"
echo "$nodes nodes of $cpus CPUs; now: . $dir/env"
