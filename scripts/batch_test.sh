#!/bin/bash
# An archive on many machines, on a real Slurm with two nodes, GNU parallel (also over ssh) and
# Dask, with tasks that are cancelled, requeued, killed, run twice at once, nodes that die, a full
# disk, a store that is missing, bits that flip; each result is compared with that of one run.
#
#   scripts/batch_test.sh PROGRAM [CASE...]
#
# CASE      1 to 11, all by default (below, each with what it does)
# BATCH_MB  size of the largest log, in megabytes (default: 100)
#
# What the machine lacks (packages: `scripts/deps.sh batch`; root, mounts, room) is skipped, which
# is said. Everything is in build/batch and, for Slurm's sockets, a folder of /tmp; both go at the
# end. A fault comes where it is wanted, by scripts/slow_rename.c, not by luck. The last line is
# "N passed, N failed", with ", N skipped" where there is any.
set -u
cd "$(dirname "$0")/.."
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
unset SYMCACHE_STORE SYMCACHE_FROZEN
root=$PWD built=$(realpath "${1:?usage: scripts/batch_test.sh PROGRAM [CASE...]}")
shift
[ $# -gt 0 ] || set -- 1 2 3 4 5 6 7 8 9 10 11
passed=0 failed=0 skipped=0 begun=$SECONDS
dir=$root/build/batch tmp=$(mktemp -d /tmp/batch.XXXXXX) mounted=() started=()
rm -rf "$dir"
mkdir -p "$dir"
chmod 755 "$tmp" # munged asks for it
python=$(for p in python3 /usr/bin/python3; do "$p" -c 'import distributed' 2> /dev/null && echo $p; done | head -n 1)

clean_up() {
	cd "$root" || exit
	[ ! -e "$tmp/slurm/slurm.conf" ] || scripts/slurm-down.sh "$tmp/slurm"
	[ ${#started[@]} = 0 ] || kill -9 "${started[@]}" 2> /dev/null
	for m in "${mounted[@]}"; do umount "$m" 2> /dev/null || umount -l "$m"; done
	rm -rf "$dir" "$tmp"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# ---- cases ----------------------------------------------------------------------------

ok() { echo "ok $*"; passed=$((passed + 1)); }
bad() { echo "FAILED $*"; failed=$((failed + 1)); }
skip() { echo "skipped $*"; skipped=$((skipped + 1)); }
finish() {
	local more=
	[ $skipped = 0 ] || more=", $skipped skipped"
	echo "$((SECONDS - begun)) s"
	echo "$passed passed, $failed failed$more"
	[ $failed = 0 ]
	exit
}
have() { command -v "$1" > /dev/null; }

[ "$(df -k --output=avail "$dir" | tail -n 1)" -gt 6000000 ] || { skip "batch: less than 6 GB are free"; finish; }
for p in python3 zstd; do have $p || { skip "batch: there is no $p"; finish; }; done
if ! ${CC:-cc} -O2 -D_GNU_SOURCE -shared -fPIC -o "$dir/slow.so" scripts/slow_rename.c; then
	skip "batch: there is no compiler"
	finish
fi
# By its name processes are known as ours.
mkdir "$dir/bin"
cp "$built" "$dir/bin/symcache"
symcache=$dir/bin/symcache store=$dir/all.store
export SYMCACHE=$symcache

# running: the processes of ours that are at work.
running() {
	local p
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/exe" 2> /dev/null)" != "$symcache" ] || echo "${p#/proc/}"
	done
}

# until SECONDS COMMAND…: tries until it succeeds.
until_ok() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}
none_runs() { [ -z "$(running)" ]; }

# check NAME [ARCHIVE]: merges $out, and compares it with the single run's.
check() {
	local name=$1 of=${2:-main} status
	if ! until_ok 120 none_runs; then
		bad "$name: processes are left:" $(running)
		return
	fi
	(cd "$dir" && "$symcache" merge "$of.plan" "$out") 2> "$dir/merge.err"
	status=$?
	if [ $status != "$(cat "$dir/$of.status")" ]; then
		tail -n 3 "$dir/merge.err"
		bad "$name: merge ended with status $status"
	elif ! diff -rq -x .symcache "$dir/$of.one" "$out" || ! cmp "$dir/merge.err" "$dir/$of.err"; then
		bad "$name: the result is not that of one run"
	elif find "$out" -name '*.[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]' | grep .; then
		bad "$name: temporary files are left"
	else
		ok "$name"
	fi
}

missing() { "$symcache" merge --missing "$dir/${1:-main}.plan" "$out"; }
# What is missing at the end is run here: an engine may lose a task, and the user then does this.
do_missing() {
	local n
	for n in $(missing "$@" | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }'); do
		echo "(task $n was lost by the engine)"
		task $n "$@"
	done
}
task() { "$symcache" filter -q --plan "$dir/${2:-main}.plan" --task "$1" -o "$out" --input-root "$dir" --store "$store"; }

# ---- archive, store, plans, the single runs ---------------------------------------------

library=$(ldconfig -p | sed -n 's/.*libc\.so\.6 .*x86-64.* => //p' | head -n 1)
[ -n "$library" ] || library=$built
"$symcache" index -q --store "$store" "$library" 2> /dev/null
id=$("$symcache" list --frozen --store "$store" | head -n 1 | cut -d ' ' -f 1)
rm -f "$store"-*
python3 scripts/batch_archive.py "$dir/logs" "$id" "${BATCH_MB:-100}" || { bad "the archive"; finish; }
cd "$dir" || exit 2
demux=--demux
for of in main demux; do
	[ $of = demux ] || demux=
	[ $of = main ] || demux=--demux
	"$symcache" plan -q -o $of.plan --store "$store" --frozen --task-size 16M $demux logs/$of || { bad "plan"; finish; }
	"$symcache" filter -j 1 --frozen --store "$store" --debug-file-directory /nonexistent $demux \
		--output-dir $of.one logs/$of 2> $of.err
	echo $? > $of.status
done
tasks=$(wc -l < main.plan/tasks)
echo "$(du -sm logs | cut -f 1) MB of logs, $tasks tasks and $(wc -l < demux.plan/tasks), $((SECONDS - begun)) s"

# ---- Slurm ------------------------------------------------------------------------------

start_slurm() {
	[ -z "${slurm:-}" ] || return
	slurm=no
	if [ "$(id -u)" != 0 ]; then slurm_lacks="not root"
	elif ! have slurmctld || ! have munged; then slurm_lacks="no slurm-wlm"
	elif "$root/scripts/slurm-up.sh" "$tmp/slurm" 2 4 > "$tmp/slurm.log" 2>&1; then
		slurm=yes
		. "$tmp/slurm/env"
	else
		tail -n 3 "$tmp/slurm.log"
		slurm_lacks="Slurm does not start here"
	fi
}
# with_slurm CASE WHAT
with_slurm() {
	start_slurm
	[ $slurm = yes ] || { skip "$1: $slurm_lacks"; return 1; }
}
# submit ARRAY PLAN [SBATCH'S OPTION…]: into $job.
submit() {
	local array=$1 of=$2
	shift 2
	job=$(sbatch --parsable --array="$array" -o "$tmp/task-%a" "$@" "$root/scripts/batch/slurm.sh" \
		"$dir/$of.plan" "$out" --input-root "$dir" ${store_option-"--store=$store"} -j 2)
}
# Are all elements of the array at their end? Those that wait to be tried again are brought forward.
ended() {
	local states=$(squeue -h -r -j "$job" -o '%F_%K %T' 2> /dev/null) id
	for id in $(sed -n 's/ PENDING$//p' <<< "$states"); do
		scontrol release "$id" 2> /dev/null # held, if it was tried too often
		scontrol update JobId="$id" StartTime=now 2> /dev/null
	done
	[ -z "$states" ] || { sleep 0.5; return 1; }
}
# wait_job SECONDS: if it takes longer, what Slurm has lost is cancelled.
wait_job() {
	until_ok "$1" ended && return
	echo "(Slurm does not end the rest; it is cancelled)"
	scancel --full "$job" 2> /dev/null
	until_ok 20 none_runs
}
node_is() { sinfo -h -N -n "$1" -o %t | grep -q "$2"; }
slow() { export LD_PRELOAD=$dir/slow.so SYMCACHE_TEST_SLOW=$1 SLOW_NAME=$2 SLOW_LOG=$tmp/slow; : > "$tmp/slow"; }
fast() { unset LD_PRELOAD SYMCACHE_TEST_SLOW SLOW_NAME SLOW_LOG; }
# paused NAME: a task waits before it gives a file that name.
paused() { grep -q "$1" "$tmp/slow"; }

case_1() {
	with_slurm "1: Slurm" || return
	local of
	for of in main demux; do
		submit 0-$(($(wc -l < "$dir/$of.plan/tasks") - 1)) $of
		wait_job 120
		do_missing $of
		check "1: Slurm, an array of all tasks ($of)" $of
		rm -rf "$out" && mkdir "$out"
	done
}

case_2() {
	with_slurm "2: Slurm" || return
	slow 3 done/
	submit 0-$((tasks - 1)) main
	fast
	until_ok 30 paused done/1.json
	scancel "${job}_1"
	scontrol requeue "${job}_2" 2> /dev/null
	until_ok 20 paused done/4.json
	"$tmp/slurm/kill-node" n2
	until_ok 60 node_is n2 down || echo "(n2 is not down)"
	"$tmp/slurm/start-node" n2
	wait_job 120
	local left=$(missing)
	[ -z "$left" ] || { submit "$left" main; wait_job 60; }
	do_missing
	check "2: Slurm, cancelled, requeued, a node killed, then what is missing"
}

case_3() {
	with_slurm "3: Slurm" || return
	local n pid
	for ((n = 4; n < tasks; n++)); do task $n; done
	slow 45 done/
	submit 0-3 main -w n2 --cpus-per-task=1
	fast
	until_ok 40 eval '[ "$(wc -l < "$tmp/slow")" = 4 ]' || echo "(not all four wait)"
	kill -9 "$(cat "$tmp/slurm/pid/slurmd-n2")"
	until_ok 60 node_is n2 down
	# The second attempts run here, next to the first ones, which wait.
	scontrol update NodeName=n2 State=DOWN Reason=test 2> /dev/null
	for n in 0 1; do task $n; done
	pid=$(sed -n 's/ .*done\/0.json$//p' "$tmp/slow" | head -n 1)
	kill -9 "$pid" 2> /dev/null                    # before its rename
	pid=$(sed -n 's/ .*done\/2.json$//p' "$tmp/slow" | head -n 1)
	kill -9 "$pid" 2> /dev/null                    # and one of which there is no second yet
	for n in 2 3; do task $n; done
	[ "$(running | wc -l)" -ge 2 ] && ok "3: two attempts overlap" ||
		skip "3: no attempts overlap: this machine is too slow now"
	until_ok 60 none_runs                          # the others rename late
	scancel --full "$job" 2> /dev/null
	"$tmp/slurm/start-node" n2
	until_ok 30 node_is n2 idle
	check "3: Slurm, a node cut off, tasks twice at once"
}

case_4() {
	with_slurm "4: Slurm" || return
	mkdir -p "$out/.symcache/parts"
	if ! mount -t tmpfs -o size=8m tmpfs "$out/.symcache/parts" 2> /dev/null; then
		skip "4: a full disk: no mounts here"
		return
	fi
	mounted+=("$out/.symcache/parts")
	submit 0-$((tasks - 1)) main
	until_ok 60 eval 'grep -qs "No space left" "$tmp"/task-*'
	grep -qs 'No space left' "$tmp"/task-* && ok "4: the disk was full" ||
		skip "4: the disk was not full in time"
	mount -o remount,size=2g "$out/.symcache/parts"
	wait_job 120
	do_missing
	mkdir "$dir/parts" && mv "$out"/.symcache/parts/* "$dir/parts"
	umount "$out/.symcache/parts" && unset 'mounted[-1]'
	mv "$dir"/parts/* "$out/.symcache/parts" && rmdir "$dir/parts"
	check "4: Slurm, a full disk, requeued by status 75"
}

case_5() {
	with_slurm "5: Slurm" || return
	local wrap=$tmp/by_node
	mkdir -p "$dir/node-n1" && cp "$store" "$dir/node-n1/all.store"
	printf '#!/bin/bash\nexport SYMCACHE_STORE=%s/node-$SLURMD_NODENAME/all.store\nexec %s "$@"\n' "$dir" "$symcache" > "$wrap"
	chmod +x "$wrap"
	SYMCACHE=$wrap store_option= submit 0-$((tasks - 1)) main
	until_ok 60 eval 'grep -qs "no store at" "$tmp"/task-*' && ok "5: no store on a node" ||
		skip "5: no task came to the node without a store in time"
	scontrol update NodeName=n2 State=DRAIN Reason="no store"
	wait_job 120
	scontrol update NodeName=n2 State=RESUME
	do_missing
	check "5: Slurm, a node without the store"
}

# ---- GNU parallel ------------------------------------------------------------------------

by_parallel() { "$root/scripts/batch/parallel.sh" "$dir/main.plan" "$out" "$@" -- --input-root "$dir" --store "$store" -j 1; }

case_6() {
	have parallel || { skip "6: no GNU parallel"; return; }
	local pid parent
	slow 1 done/
	by_parallel -j 4 > "$tmp/parallel" 2>&1 &
	parent=$!
	until_ok 30 paused done/ && kill -9 $(sed -n '1,2s/ .*//p' "$tmp/slow") 2> /dev/null
	until_ok 30 paused done/6.json
	for pid in $(pgrep -P $parent -f parallel) ; do kill -9 "$pid"; done # its children go on
	wait $parent 2> /dev/null
	fast
	by_parallel -j 4 > "$tmp/parallel" 2>&1
	do_missing
	check "6: parallel, children and itself killed, then --resume-failed"
}

case_7() {
	have parallel || { skip "7: no GNU parallel"; return; }
	have sshd && have ssh || { skip "7: no ssh or sshd"; return; }
	[ "$(id -u)" = 0 ] || { skip "7: not root"; return; }
	local port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	mkdir -p /run/sshd "$tmp/ssh" && chmod 700 "$tmp/ssh"
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/host"
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/key"
	cat > "$tmp/ssh/sshd" <<- END
		Port $port
		ListenAddress 127.0.0.1
		HostKey $tmp/ssh/host
		AuthorizedKeysFile $tmp/ssh/key.pub
		PidFile none
		StrictModes no
		PermitRootLogin prohibit-password
		MaxStartups 100
	END
	cat > "$tmp/ssh/config" <<- END
		Host east west
		HostName 127.0.0.1
		Port $port
		User root
		IdentityFile $tmp/ssh/key
		IdentitiesOnly yes
		StrictHostKeyChecking no
		UserKnownHostsFile /dev/null
		LogLevel ERROR
	END
	"$(command -v sshd)" -D -f "$tmp/ssh/sshd" 2> "$tmp/ssh/log" &
	started+=($!)
	disown
	if ! until_ok 10 ssh -F "$tmp/ssh/config" east true 2> /dev/null; then
		skip "7: sshd does not work here: $(tail -n 1 "$tmp/ssh/log")"
		return
	fi
	by_parallel -j 2 --ssh "ssh -F $tmp/ssh/config" -S east,west > "$tmp/parallel" 2>&1 || tail -n 3 "$tmp/parallel"
	awk 'NR > 1 { print $2 }' "$out/.symcache/joblog" | sort -u | tr '\n' ' ' | grep -q 'east west' ||
		skip "7: both machines: one was fast enough"
	do_missing
	check "7: parallel over ssh, two machines"
}

# ---- Dask ----------------------------------------------------------------------------------

case_8() {
	[ -n "$python" ] || { skip "8: no python3-distributed"; return; }
	local scheduler workers=() i
	"$python" -m distributed.cli.dask_scheduler --host 127.0.0.1 --port 0 --no-dashboard \
		--scheduler-file "$tmp/dask.json" > "$tmp/dask" 2>&1 &
	started+=($!)
	disown
	if ! until_ok 30 test -s "$tmp/dask.json"; then
		skip "8: Dask does not start here: $(tail -n 1 "$tmp/dask")"
		return
	fi
	for i in 0 1; do
		"$python" -m distributed.cli.dask_worker --scheduler-file "$tmp/dask.json" --no-nanny --nthreads 2 \
			--no-dashboard --local-directory "$tmp" > "$tmp/dask-$i" 2>&1 &
		workers[i]=$!
		started+=($!)
		disown $!
	done
	scheduler=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["address"])' "$tmp/dask.json")
	# The pauses are in the workers' environment only if they have it: so in the tasks' command.
	printf '#!/bin/sh\nexport LD_PRELOAD=%s/slow.so SYMCACHE_TEST_SLOW=1 SLOW_NAME=done/ SLOW_LOG=%s/slow\nexec %s "$@"\n' \
		"$dir" "$tmp" "$symcache" > "$tmp/slowly"
	chmod +x "$tmp/slowly"
	: > "$tmp/slow"
	SYMCACHE=$tmp/slowly "$python" "$root/scripts/batch/dask.py" "$scheduler" "$dir/main.plan" "$out" \
		--input-root "$dir" --store "$store" -j 1 > "$tmp/dask.out" 2>&1 &
	i=$!
	until_ok 60 paused done/3.json && kill -9 "${workers[1]}"
	wait $i && ok "8: Dask ended with 0" || { tail -n 3 "$tmp/dask.out"; skip "8: Dask did not end well"; }
	do_missing
	kill "${workers[0]}" 2> /dev/null
	check "8: Dask, one of two workers killed"
}

# ---- what is damaged -------------------------------------------------------------------------

flip() { # FILE OFFSET
	python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2])); b = f.read(1)[0] ^ 1
f.seek(int(sys.argv[2])); f.write(bytes([b]))' "$1" "$2"
}
all_here() {
	local n
	for n in $(cat "$dir/${1:-main}.plan/tasks"); do task $n "$@" || return; done
}

case_9() {
	local f said n shard=$(ls main.plan/contexts | head -n 1)
	for f in plan.json contexts/$shard; do
		rm -rf "$dir/bad.plan" && cp -r "$dir/main.plan" "$dir/bad.plan" && flip "$dir/bad.plan/$f" 41
		n=$(sed -n "s/{\"task\":\([0-9]*\),\"shard\":$((10#$shard)),.*/\1/p" main.plan/shards.jsonl)
		said=$(task "$n" bad 2>&1)
		[ $? = 2 ] && [[ $said = *"bad.plan/$f is damaged"* ]] && ok "9: $f, a bit flipped" || bad "9: $f: $said"
	done
	all_here
	cp -r "$out" "$dir/damaged" && flip "$dir/damaged/.symcache/parts/$shard" 100000
	said=$("$symcache" merge main.plan "$dir/damaged" 2>&1)
	[ $? = 2 ] && [[ $said = *"parts/$shard is not there, or not what its record says"* ]] &&
		ok "9: a part, a bit flipped" || bad "9: a part: $said"
	rm -rf "$dir/damaged"
	n=$(sed -n 's/.*run task \([0-9]*\) again.*/\1/p' <<< "$said")
	flip "$out/.symcache/parts/$shard" 100000 && rm "$out/.symcache/done/$n.json" && task "$n"
	check "9: the task that was named, again"
}

case_10() {
	have mksquashfs || { skip "10: no squashfs-tools"; return; }
	mkdir -p "$dir/image" "$dir/mnt" && cp "$store" "$dir/image"
	mksquashfs "$dir/image" "$dir/all.squashfs" -comp zstd -no-progress -quiet > /dev/null
	if ! mount -o loop,ro "$dir/all.squashfs" "$dir/mnt" 2> /dev/null; then
		skip "10: no loop mounts of squashfs here"
		return
	fi
	mounted+=("$dir/mnt")
	local kept=$store n pids=() lost=0
	store=$dir/mnt/all.store all_here
	for ((n = 0; n < 200; n++)); do
		"$symcache" lookup --frozen --store "$dir/mnt/all.store" "$id" 0x28000 > /dev/null 2>&1 &
		pids+=($!)
	done
	# The same on a file system that can be written: nothing appears there.
	for ((n = 0; n < 200; n++)); do
		"$symcache" lookup --frozen --store "$dir/image/all.store" --module libc.so.6 malloc > /dev/null &
		pids+=($!)
	done
	for n in "${pids[@]:200}"; do wait "$n" || lost=$((lost + 1)); done
	wait "${pids[@]:0:200}"
	[ $lost = 0 ] || bad "10: $lost of 200 readers failed"
	[ "$(ls -A "$dir/image" "$dir/mnt" | grep -c store)" = 2 ] && ok "10: 200 readers, no file appears" ||
		bad "10: $(ls -A "$dir/image" "$dir/mnt")"
	check "10: a store in a read-only squashfs"
}

case_11() {
	local n threads
	mkdir -p "$tmp/elsewhere"
	for n in $(cat main.plan/tasks); do
		(cd "$tmp/elsewhere" && env -i taskset -c 0 "$symcache" filter -q --plan "$dir/main.plan" --task "$n" \
			-o "$out" --input-root "$dir" --store "$store") || break
	done
	rm "$out/.symcache/done/0.json"
	slow 5 done/
	taskset -c 0 "$symcache" filter -q --plan "$dir/main.plan" --task 0 -o "$out" --input-root "$dir" --store "$store" &
	fast
	until_ok 30 paused done/0.json
	threads=$(sed -n 's/^Threads:[[:space:]]*//p' "/proc/$!/status")
	wait $!
	[ "$threads" = 1 ] && ok "11: one processor, one thread" || bad "11: $threads threads on one processor"
	check "11: no environment, another folder, one processor"
}

for number; do
	out=$dir/out-$number at=$SECONDS
	mkdir -p "$out"
	rm -f "$tmp"/task-*
	case_$number
	rm -rf "$out"
	echo "($number: $((SECONDS - at)) s)"
done
finish
