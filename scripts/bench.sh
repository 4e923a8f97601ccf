#!/bin/bash
# Measures symcache next to LLVM's tools, in one run on one machine.
#
#   scripts/bench.sh PROGRAM [--quick] [--update] [--corpus DIR] [GROUP...]
#
# GROUP    index: ELF files → caches, next to llvm-gsymutil-19, and how large they get
#          lookup: addresses, by the program and in process
#          filter: logs, next to llvm-symbolizer-19 --filter-markup
#          traces: backtraces, next to asan_symbolize-19 and the kernel's
#          decode_stacktrace.sh (of /usr/src/linux-source-*/scripts, or what the variable
#          DECODE_STACKTRACE names)
#          store: what the store itself costs, with 10 entries, with 200,000, with 50 GB
#          (in holes: 1 GB on the disk)
#          plan: an archive in tasks, next to find, to filter and to cat
#          pack: packed caches, next to GSYM in zstd -19
#          profiles: next to google-pprof, jeprof, and perf script
#          core: the stacks of 1,001 threads out of a core file, next to gdb and eu-stack
#          library: look-ups through libsymcache.so and Python's module
#          default: all
# --quick  under a minute: fewer runs, shorter logs, no corpus
# --corpus where large files are looked for (./corpus, see scripts/corpus.sh):
#          ceph-osd's debug file, vmlinux and the kernel's modules; what is not
#          there is skipped
#
# --update puts the tables that came into scripts/BENCH.md
#
# BENCH_RUNS (5) runs of each command, in turns with its peer, the medians shown; those
# of a peer end after 20 seconds, and one that is stopped in its first run gives a lower bound. What
# an aim is missed by is said in the last column.
# The logs and stores are made anew in build/bench, 2 GB of them, and removed at the end.
set -eu -o pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
symcache=$(realpath "${1:?usage: scripts/bench.sh PROGRAM [OPTION...] [GROUP...]}")
shift
runs=${BENCH_RUNS:-5} corpus=corpus quick= update= groups=
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 ;;
	--update) update=1 ;;
	--corpus) corpus=${2:?--corpus needs a folder}; shift ;;
	index|lookup|filter|traces|profiles|store|plan|pack|core|library) groups="$groups $1" ;;
	*) echo "bench.sh: what is '$1'?" >&2; exit 2 ;;
	esac
	shift
done
: "${groups:=index lookup library filter traces profiles store plan pack core}"
lines=1000000 plain_bytes=1000000000 peer_seconds=20 lookups=5000000
[ -z "$quick" ] || { runs=3 lines=100000 plain_bytes=200000000 peer_seconds=3 lookups=1000000; }
symbolizer=llvm-symbolizer-19 gsymutil=llvm-gsymutil-19

dir=$PWD/build/bench store=$PWD/build/bench/store
rm -rf "$dir"
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
${CC:-cc} -O2 -D_GNU_SOURCE -o "$dir/measure" scripts/measure.c
${CC:-cc} -O2 -D_GNU_SOURCE -I. -o "$dir/lookup_bench" scripts/lookup_bench.c \
	"$(dirname "$symcache")/libsymcache.a" -lzstd -lxxhash
${CC:-cc} -O2 -D_GNU_SOURCE -I. -o "$dir/pack_bench" scripts/pack_bench.c \
	"$(dirname "$symcache")/libsymcache.a" -lzstd -lxxhash

measure() { "$dir/measure" -n "$runs" -t "$peer_seconds" "$@"; }
skip() { echo "  skipped: $*"; }

# ---- what is measured ----------------------------------------------------------

build_id() { readelf -n "$1" 2> /dev/null | sed -n 's/.*Build ID: //p'; }
debug_path() { echo ".build-id/${1:0:2}/${1:2}.debug"; }
# The debug file of a program or library of the system.
debug_file() { echo "/usr/lib/debug/$(debug_path "$(build_id "$1")")"; }

libc=$(debug_file /lib/*/libc.so.6)
python=$(debug_file /usr/bin/python3)
rados=$(find /usr/lib/*/ -maxdepth 1 -name 'librados.so.2.*' -type f 2> /dev/null | head -n 1)
[ -z "$rados" ] || rados=$(debug_file "$rados")
[ -e "$rados" ] && [ -z "$quick" ] || rados=
mapfile -t small < <(dpkg -L libc6-dbg | grep '\.debug$' | xargs grep -l ^.ELF)
osd= vmlinux= modules=()
if [ -z "$quick" ] && [ -d "$corpus" ]; then
	osd=$(find "$corpus" -name '*.debug' -type f -size +150M | sort | head -n 1)
	vmlinux=$(find "$corpus" -name 'vmlinux-*' -type f | sort | head -n 1)
	mapfile -t modules < <(find "$corpus" \( -name '*.ko' -o -name '*.ko.debug' \) -type f | sort)
fi

# For llvm-symbolizer: debug files by build ID.
mkdir "$dir/debug"
[ -z "$osd" ] || {
	link=$dir/debug/$(debug_path "$(build_id "$osd")")
	mkdir -p "$(dirname "$link")"
	ln -s "$(realpath "$osd")" "$link"
}

# ---- tables --------------------------------------------------------------------

# heading WHAT PEER
heading() {
	printf '\n%-36s %9s %9s %8s  %9s %9s %8s %8s  %s\n' "$1" symcache cpu peak \
		"$2" cpu peak faster aim
}

# row NAME MEASURED [AIM...]: one line of measure, or two. Aims: "time MS", "times N"
# (as fast as the peer), "peak MB".
row() {
	awk -v name="$1" -v ours="${2%%$'\n'*}" -v peer="$(sed -n 2p <<< "$2")" -v aims="${*:3}" '
	function t(s) { return s < 1 ? sprintf("%.1f ms", s * 1e3) : sprintf("%.2f s", s) }
	function mb(kb) { return sprintf("%.0f MB", kb / 1024) }
	function aim(text, ok) { aimed = aimed (aimed ? ", " : "") text (ok ? "" : " (missed)") }
	BEGIN {
		split(ours, o); n = split(peer, p); k = split(aims, a)
		for (i = 1; i < k; i += 2) {
			if (a[i] == "time") aim(a[i + 1] " ms", o[1] * 1e3 <= a[i + 1])
			if (a[i] == "peak") aim(a[i + 1] " MB", o[3] / 1024 <= a[i + 1])
			if (a[i] == "times" && n) aim(a[i + 1] " x", p[1] / o[1] >= a[i + 1])
		}
		stopped = n && p[5] == 124
		printf "%-36s %9s %9s %8s ", name, t(o[1]), t(o[2]), mb(o[3])
		if (n)
			printf " %9s %9s %8s %8s", t(p[1]), t(p[2]), mb(p[3]),
				sprintf("%s%.1f x", stopped ? "> " : "", p[1] / o[1])
		else
			printf " %9s %9s %8s %8s", "-", "", "", ""
		print "  " aimed
		if (o[5] > 1) print "  symcache failed: exit status " o[5]
		if (stopped) print "  the peer was stopped before its end"
		else if (n && p[5]) print "  the peer failed: exit status " p[5]
	}'
}

# ---- index ---------------------------------------------------------------------

sizes=()
# index NAME AIMS FILE...
index() {
	local name=$1 aims=$2
	shift 2
	row "$name" "$(measure -b "rm -f '$store.new' '$store.new-lock'" \
		"$symcache" index -q --store "$store.new" "$@" \
		--vs sh -c 'out=$1; shift; for f; do '"$gsymutil"' --quiet --num-threads=2 \
		--convert="$f" --out-file="$out"; done' sh "$dir/gsym" "$@")" $aims
	[ $# -gt 1 ] || {
		"$symcache" build "$1" -o "$dir/cache"
		sizes+=("$name $(stat -c %s "$dir/gsym") $("$dir/lookup_bench" "$dir/cache" 1000 |
			awk 'NR == 1 {print $9 + 0, $6 - $9}')")
	}
}

group_index() {
	heading "Indexing" gsymutil
	index "libc" "time 50" "$libc"
	index "python3" "" "$python"
	[ -n "$quick" ] || index "libc6-dbg, ${#small[@]} files" "times 15" "${small[@]}"
	if [ -n "$osd" ]; then index "ceph-osd" "times 5 peak 700" "$osd"; else skip ceph-osd; fi
	if [ -n "$vmlinux" ]; then index "vmlinux" "times 4.5 peak 600" "$vmlinux"; else skip vmlinux; fi
	if [ ${#modules[@]} -gt 0 ]; then
		index "kernel, ${#modules[@]} modules" "times 15" "${modules[@]}"
	else
		skip "the kernel's modules"
	fi
	printf '\n%-36s %9s %9s %9s  %s\n' "Size of a cache" base extension GSYM "aim: base, extension"
	printf '%s\n' "${sizes[@]}" | awk '{
		printf "%-36s %6.1f MB %6.1f MB %6.1f MB", $1, $3 / 1e6, $4 / 1e6, $2 / 1e6
		if ($1 == "ceph-osd")
			printf "  60 MB%s, 25 MB%s", ($3 > 60e6 ? " (missed)" : ""),
				($4 > 25e6 ? " (missed)" : "")
		print ""
	}'
}

# ---- lookup --------------------------------------------------------------------

# addresses N ELF: random ones in .text, the same every time
addresses() {
	readelf -SW "$2" 2> /dev/null | gawk -v n="$1" 'match($0, /\] \.text +[A-Z]+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)/, m) {
		start = strtonum("0x" m[1]); size = strtonum("0x" m[2])
		for (srand(1); n-- > 0;) printf "0x%x\n", start + int(rand() * size)
	}'
}

# lookup NAME AIMS ELF
lookup() {
	local id address
	id=$(build_id "$3")
	"$symcache" index -q --store "$store" "$3"
	addresses 20000 "$3" > "$dir/addresses"
	address=$(head -n 1 "$dir/addresses")
	row "$1, one address" "$(measure \
		"$symcache" lookup --store "$store" --build-id "$id" "$address" \
		--vs $symbolizer --obj="$3" "$address")" $2
	row "$1, 20,000 addresses" "$(measure -i "$dir/addresses" \
		"$symcache" lookup --store "$store" --build-id "$id" \
		--vs $symbolizer --obj="$3")"
}

# in_bulk NAME N ELF: many addresses through one run, as text and as JSON
in_bulk() {
	local id
	id=$(build_id "$3")
	"$symcache" index -q --store "$store" "$3"
	addresses "$2" "$3" > "$dir/addresses"
	row "$1, $2 addresses" "$(measure -i "$dir/addresses" \
		"$symcache" lookup --store "$store" --build-id "$id" \
		--vs $symbolizer --obj="$3")" times 40 peak 80
	row "$1, as JSON" "$(measure -i "$dir/addresses" \
		"$symcache" lookup --json --store "$store" --build-id "$id" \
		--vs $symbolizer --output-style=JSON --obj="$3")" times 25 peak 80
}

# against_binutils NAME N ELF: the same questions to addr2line
against_binutils() {
	command -v addr2line > /dev/null || { skip "addr2line"; return; }
	addresses "$2" "$3" > "$dir/addresses"
	row "$1, $2 addresses, addr2line" "$(SYMCACHE_STORE=$store measure -i "$dir/addresses" \
		"$symcache" addr2line -f -i -e "$3" --vs addr2line -f -i -e "$3")"
}

# first NAME AIM_EU AIM_OTHERS ELF: a file that is not in the store, next to those who read it,
# too; medians of five addresses
first() {
	local peer address aim
	addresses 5 "$4" > "$dir/addresses"
	for peer in "eu-addr2line -f -i -e" "$symbolizer --obj" "addr2line -f -i -e"; do
		aim=$3
		case $peer in eu-*) aim=$2 ;; esac
		command -v ${peer%% *} > /dev/null || { skip "${peer%% *}"; continue; }
		while read -r address; do
			SYMCACHE_STORE=$dir/none measure "$symcache" lookup --file "$4" "$address" \
				--vs $peer "$4" "$address"
		done < "$dir/addresses" > "$dir/first"
		row "$1, ${peer%% *}" "$(sed -n 'p;n' "$dir/first" | sort -g | sed -n 3p
			sed -n 'n;p' "$dir/first" | sort -g | sed -n 3p)" times "$aim"
	done
}

# in_process NAME NS_FIRST NS_ALL ELF: a row for pages of 4 KiB, one for 2 MiB. The aims
# are for one address after another.
in_process() {
	"$symcache" build "$4" -o "$dir/cache"
	"$dir/lookup_bench" "$dir/cache" $lookups | awk -v name="$1" -v a="$2" -v b="$3" '
	function aim(ns, most) { return most " ns" (ns + 0 > most ? " (missed)" : "") }
	function ns(label) { return sprintf("%7.1f ns", of[label]) }
	function row(pages) {
		printf "%-24s %10s %10s %10s %10s %10s %10s %7s  %s\n", name ", " pages,
			ns("range alone"), ns("first frame by numbers"),
			ns("first frame by numbers, in batches"), ns("first frame with names"),
			ns("all frames with names"), ns("all frames with names, in batches"), frames,
			a == "" ? "" : aim(of["first frame by numbers"], a) ", " \
				aim(of["all frames with names"], b)
	}
	/ look-ups in / { pages = / 0 KiB in pages/ ? "4 KiB pages" : "2 MiB pages" }
	match($0, / +[0-9.]+ ns/) {
		label = substr($0, 1, RSTART - 1)
		of[label] = substr($0, RSTART) + 0
		if (label == "all frames with names") frames = $(NF - 1)
		if (label == "all frames with names, in batches") row(pages)
	}'
}

group_lookup() {
	heading "Look-up by the program" symbolizer
	lookup "libc" "time 10" "$libc"
	lookup "python3" "time 10" "$python"
	if [ -n "$osd" ]; then lookup "ceph-osd" "time 10" "$osd"; else skip ceph-osd; fi
	if [ -n "$vmlinux" ]; then in_bulk "vmlinux" 1800000 "$vmlinux"; else skip vmlinux; fi
	against_binutils "libc" 2000 "$libc"
	heading "First answer, not indexed" "the other"
	first "libc" 1 1 "$libc"
	first "python3" 1 1 "$python"
	if [ -n "$rados" ]; then first "librados2" 1 1 "$rados"; else skip librados2-dbg; fi
	if [ -n "$osd" ]; then first "ceph-osd" 1 1 "$osd"; else skip ceph-osd; fi
	if [ -n "$vmlinux" ]; then first "vmlinux" 0.5 1 "$vmlinux"; else skip vmlinux; fi
	# "1st frame" has function and file by number: see lookup_bench.c.
	printf '\n%-24s %10s %10s %10s %10s %10s %10s %7s  %s\n' "Look-up in process" "range" \
		"1st frame" "in batches" "with names" "all names" "in batches" "frames" \
		"aim: 1st frame, all"
	in_process "libc" 40 120 "$libc"
	in_process "python3" "" "" "$python"
	if [ -n "$osd" ]; then in_process "ceph-osd" 120 700 "$osd"; else skip ceph-osd; fi
}

group_library() {
	local python lib=$(dirname "$symcache")
	printf '\n%-36s %12s %8s  %s\n' "Look-up through the library, libc" "an address" frames aim
	make --no-print-directory lib > /dev/null
	${CC:-cc} -O2 -Ilibsymcache/include -o "$dir/lib_bench" scripts/lib_bench.c "$lib/libsymcache.so.1"
	"$symcache" index -q --store "$store" "$libc"
	for python in python3 /usr/bin/python3; do
		make --no-print-directory PYTHON="$python" python > /dev/null 2>&1 && break
		python=
	done
	{
		LD_LIBRARY_PATH=$lib "$dir/lib_bench" "$store" "$(basename "$libc")" 1000000
		[ -z "$python" ] || LD_LIBRARY_PATH=$lib PYTHONPATH=$lib/python "$python" \
			scripts/python/tests/bench.py "$store" "$(basename "$libc")" 200000
	} | awk -F '\t' '
		BEGIN { aim["Python, numbers in a batch"] = 80; aim["Python, objects one by one"] = 2500 }
		{ a = aim[$1]; printf "%-36s %9.0f ns %8s  %s\n", $1, $2, $3, a ? a " ns" ($2 > a ? " (missed)" : "") : "" }'
	[ -n "$python" ] || skip "Python's module: python3-dev is missing"
	printf '\n%-40s %12s %8s  %s\n' "Names and lines to addresses, ceph-osd" "a question" found aim
	[ -n "$osd" ] || { skip ceph-osd; return; }
	"$symcache" index -q --store "$dir/osd.store" "$osd"
	LD_LIBRARY_PATH=$lib "$dir/lib_bench" "$dir/osd.store" "$(build_id "$osd")" 25000 names | awk -F '\t' '
		BEGIN { aim["library, definitions of a name"] = 1; aim["library, code of a line"] = 10
			aim["library, the first name"] = aim["library, the first demangled name"] = aim["library, the first line"] = 3e5 }
		{ a = aim[$1]; us = $2 / 1e3
		  printf "%-40s %9.2f µs %8s  %s\n", $1, us, $3, a ? a " µs" (us > a ? " (missed)" : "") : "" }'
	rm -f "$dir/osd.store"*
}

# ---- filter --------------------------------------------------------------------

# filter NAME AIMS LOG
filter() {
	row "$1" "$(measure -i "$3" "$symcache" filter --store "$store" \
		--vs $symbolizer --filter-markup --debug-file-directory="$dir/debug" \
		--debug-file-directory=/usr/lib/debug)" $2
}

# markup NAME AIMS ARGUMENTS...: a log of markup_log.py
markup() {
	local name=$1 aims=$2
	shift 2
	scripts/markup_log.py "$@" > "$dir/log" 2> /dev/null
	filter "$name" "$aims" "$dir/log"
}

group_filter() {
	local big=$python big_name=python3
	"$symcache" index -q --store "$store" "$libc" "$python" "${small[@]}" $osd
	[ -z "$osd" ] || big=$osd big_name=ceph-osd
	heading "Filtering logs" symbolizer
	markup "libc, 200 lines" "time 20" 200 "$libc"
	markup "python3, 200 lines" "time 20" 200 "$python"
	if [ -n "$osd" ]; then
		markup "ceph-osd, 200 lines" "time 15 peak 40" 200 "$osd"
		markup "ceph-osd, $lines lines" "times 50" $lines "$osd"
	else
		skip ceph-osd
	fi
	markup "libc, $lines lines" "times 50" $lines "$libc"
	markup "${#small[@]} modules, $lines lines" "times 50" $lines "${small[@]}"
	markup "$big_name, $lines, 2,000 addresses" "times 80" $lines --distinct 2000 "$big"
	scripts/markup_log.py $lines "$libc" 2> /dev/null | grep -vF '{{{' > "$dir/log"
	while cat "$dir/log"; do :; done 2> /dev/null | head -c $plain_bytes > "$dir/plain" || :
	filter "plain text, $((plain_bytes / 1000000)) MB" "time $((plain_bytes / 2500000))" "$dir/plain"
}

# ---- backtraces ----------------------------------------------------------------

# A row with the peer at a tenth of the log, times ten.
against_tenth() {
	local name=$1 aims=$2 ours
	shift 2
	head -n $((lines / 10)) "$dir/log" > "$dir/tenth"
	ours=$(measure -i "$dir/log" "$symcache" filter --store "$store")
	row "$name" "$ours
$(measure -n 1 -i "$dir/tenth" "$@" | awk '{ $1 *= 10; $2 *= 10; print }')" $aims
}

group_traces() {
	local big=${osd:-$python} name=python3 decode root=$dir/root
	[ -z "$osd" ] || name=ceph-osd
	decode=${DECODE_STACKTRACE:-$(find /usr/src/linux-source-*/scripts -name decode_stacktrace.sh \
		2> /dev/null | head -n 1)}
	"$symcache" index -q --store "$store" "$big"
	heading "Backtraces" "their own"
	scripts/trace_log.py asan $lines "$big" > "$dir/log"
	mkdir -p "$root/usr/bin" "$root/usr/lib"
	ln -sf "$(realpath "$big")" "$root/usr/lib/${big##*/}"
	ln -sf "$(realpath "$big")" "$root/usr/bin/$name"
	if command -v asan_symbolize-19 > /dev/null; then
		LLVM_SYMBOLIZER_PATH=$(command -v $symbolizer) against_tenth \
			"ASan, $name, $lines lines" "times 100" asan_symbolize-19 -s "$root"
	else
		skip asan_symbolize-19
	fi
	if [ -z "$vmlinux" ] || [ -z "$decode" ]; then
		skip "vmlinux or decode_stacktrace.sh"
		return
	fi
	"$symcache" index -q --store "$store" "$vmlinux" "${modules[@]:0:20}"
	scripts/trace_log.py kernel 40 "$vmlinux" > "$dir/log"
	row "a kernel trace, 20 frames" "$(measure -i "$dir/log" "$symcache" filter --store "$store" \
		--vs bash "$decode" "$vmlinux" auto "${vmlinux%/*}")" time 60 times 50
	scripts/trace_log.py kernel $lines "$vmlinux" "${modules[@]:0:20}" > "$dir/log"
	row "kernel traces, $lines lines" "$(measure -i "$dir/log" "$symcache" filter --store "$store")"
}

# ---- plan ----------------------------------------------------------------------

# Profiles: recorded ones of ceph-osd, and made ones of many samples and of many files.
group_profiles() {
	local from=../shared/data/profiles i
	heading "Profiles" peer
	[ -d $from/bench ] || { skip "there is no $from"; return; }
	if [ -n "$osd" ]; then
		"$symcache" index -q --store "$dir/osd.store" "$osd"
		xz -dkc $from/bench/ceph-gperf.heap.xz > "$dir/gperf.heap"
		xz -dkc $from/bench/ceph-jemalloc.heap.xz > "$dir/je.heap"
		row "gperftools heap, google-pprof" "$(measure "$symcache" profile --store "$dir/osd.store" --module "ceph-osd=$(build_id "$osd")" \
			"$dir/gperf.heap" -o "$dir/out" $(peer_of google-pprof --text "$osd" "$dir/gperf.heap"))" \
			"time 40 peak 60"
		row "jemalloc heap, jeprof" "$(measure "$symcache" profile --store "$dir/osd.store" --module "ceph-osd=$(build_id "$osd")" \
			"$dir/je.heap" -o "$dir/out" $(peer_of jeprof --text "$osd" "$dir/je.heap"))" \
			"times 200 time 80 peak 60"
		ceph_stacks
	else
		skip "ceph-osd's heaps and stacks"
	fi
	mkdir "$dir/elf" "$dir/small" && tar -C "$dir/elf" -xJf $from/elf.tar.xz
	"$symcache" index -q --store "$dir/mill.store" "$dir/elf"
	python3 -B - $from "$dir/raw.pb" << 'EOP'
import gzip, sys
sys.path.insert(0, sys.argv[1])
import pb
fields = pb.fields(gzip.decompress(open(sys.argv[1] + "/mill-ids.pb.gz", "rb").read()))
samples = b"".join(f[3] for f in fields if f[0] == 2)
with open(sys.argv[2], "wb") as to:
    for i in range(300 * 10**6 // len(samples)):
        to.write(samples)
    to.write(b"".join(f[3] for f in fields if f[0] != 2))
EOP
	row "pprof, raw, 300 MB of samples" "$(measure "$symcache" profile --store "$dir/mill.store" \
		"$dir/raw.pb" -o "$dir/out")" "time 750"
	for ((i = 0; i < 2000; i++)); do cp $from/mill-names.pb.gz "$dir/small/$i.pb.gz"; done
	# Into new folders: to take inodes of files that were just removed costs ext4 more than all else.
	row "2,000 small ones" "$(measure -b "[ ! -e '$dir/small.out' ] || mv '$dir/small.out' '$dir/small.out.'\$\$" "$symcache" profile -q \
		--store "$dir/mill.store" --output-dir "$dir/small.out" "$dir/small")" "time 1000"
	record_stacks || { skip "perf.data: perf cannot record here"; return; }
	i=$(perf script -G -F pid -i "$dir/perf.data" 2> /dev/null | grep -c .)
	row "perf.data, $i dwarf stacks, perf script" "$(measure "$symcache" profile --store "$dir/py.store" \
		"$dir/perf.data" -o "$dir/out" --vs perf script -i "$dir/perf.data")" "time $((i / 10))"
	row "the same as a page" "$(measure "$symcache" profile --store "$dir/py.store" --format html \
		"$dir/perf.data" -o "$dir/out")"
	inlined_stacks
}

# Call chains of ceph-osd, those of its heap; perf script, which asks addr2line for the lines, is stopped.
ceph_stacks() {
	local program=$corpus/programs/usr/bin/ceph-osd id root=$dir/symfs peer=
	id=$(build_id "$osd")
	scripts/perf_data.py "$dir/je.heap" "$id" 2343 > "$dir/osd.perf.data"
	if command -v perf > /dev/null && [ "$(build_id "$program")" = "$id" ]; then
		mkdir -p "$root/opt/ceph" "$root/usr/lib/debug/.build-id/${id:0:2}"
		ln -s "$(realpath "$program")" "$root/opt/ceph"
		ln -s "$(realpath "$osd")" "$root/usr/lib/debug/$(debug_path "$id")"
		peer="--vs timeout $((3 * peer_seconds)) perf script --symfs $root -F +srcline -i $dir/osd.perf.data"
	else
		skip "perf script: there is no perf, or no ceph-osd in $corpus/programs"
	fi
	row "perf.data, 2,343 stacks, perf script" "$(measure "$symcache" profile --store "$dir/osd.store" \
		"$dir/osd.perf.data" -o "$dir/out" $peer)" "times 1000 peak 60"
}

# Stacks of C++ whose frames are mostly inlined, which perf script names, too: by asking addr2line, which
# has little to read of so small a program.
inlined_stacks() {
	local program=$dir/inlined_bench i
	g++ -O2 -g -std=c++17 -o "$program" scripts/inlined_bench.cc || { skip "there is no g++"; return; }
	"$symcache" index -q --store "$dir/inlined.store" "$program" $(ldd "$program" | awk '$3 ~ "^/" { print $3 }' |
		xargs realpath)
	perf record -q -o "$dir/inlined.data" -F 4000 --call-graph dwarf,8192 -- "$program" 3 > /dev/null 2>&1
	i=$(perf script -i "$dir/inlined.data" 2> /dev/null | grep -c '(inlined)')
	row "perf.data, $i inlined frames, perf script" "$(measure "$symcache" profile --store "$dir/inlined.store" \
		"$dir/inlined.data" -o "$dir/out" --vs perf script -i "$dir/inlined.data")" "peak 60"
}

# Stacks of Python, copied by the kernel: $dir/perf.data; and $dir/py.store, out of which they are unwound.
record_stacks() {
	command -v perf > /dev/null || return
	"$symcache" index -q --store "$dir/py.store" "$(realpath /usr/bin/python3)" /lib/*/libc.so.6 /lib/*/libm.so.6
	perf record -q -o "$dir/perf.data" -F 12000 --call-graph dwarf,8192 -- /usr/bin/python3 -c '
import json, re, time
end = time.time() + 3
while time.time() < end:
    json.loads(json.dumps([{"a": [i, str(i)], "b": i * 0.5} for i in range(300)], indent=1, sort_keys=True))
    re.sub(r"(\w+)-(\d+)", r"\2-\1", "ab-12 cd-34 " * 200)' 2> /dev/null
}

# The peer of a row, if it is installed.
peer_of() { command -v "$1" > /dev/null && printf '%s ' --vs "$@"; }

group_plan() {
	local small_logs=1000000 d=$dir/archive task
	[ -z "$quick" ] || small_logs=100000
	"$symcache" index -q --store "$store" "$libc"
	rm -f "$store-lock"
	heading "An archive in tasks" "their peer"
	mkdir -p "$d/many" "$d/large"
	for ((i = 0; i < small_logs / 1000; i++)); do
		mkdir "$d/many/$i"
		(cd "$d/many/$i" && echo text | tee $(seq -f %g.log 1000) > /dev/null)
	done
	row "planning $small_logs logs, find" "$(measure -b "rm -rf '$d/plan'" \
		"$symcache" plan -q --frozen --store "$store" -o "$d/plan" "$d/many" \
		--vs find "$d/many" -type f -printf '%p %s %T@\n')" times 1
	rm -rf "$d/many"
	scripts/markup_log.py $lines "$libc" 2> /dev/null > "$dir/log"
	grep -vF '{{{' "$dir/log" > "$dir/text"
	{ cat "$dir/log"; while cat "$dir/text"; do :; done 2> /dev/null; } | head -c $plain_bytes > "$d/large/log" || :
	row "cutting it, $((plain_bytes / 1000000)) MB, filter" "$(measure -b "rm -rf '$d/plan'" \
		"$symcache" plan -q -j 1 --frozen --store "$store" --task-size 64M -o "$d/plan" "$d/large" \
		--vs "$symcache" filter -j 1 -q --frozen --store "$store" "$d/large")" times 1
	rm -rf "$d/plan"
	"$symcache" plan -q --frozen --store "$store" -o "$d/plan" "$d/large"
	row "the map step, the same by filter" "$(measure -b "rm -rf '$d/out' '$d/one'" \
		"$symcache" filter -q -j 1 --plan "$d/plan" --task 0 --store "$store" -o "$d/out" \
		--vs "$symcache" filter -q -j 1 --frozen --store "$store" \
		--debug-file-directory /nonexistent --output-dir "$d/one" "$d/large")" times 0.97
	rm -rf "$d/plan" "$d/out" "$d/one"
	"$symcache" plan -q --frozen --store "$store" --task-size 64M -o "$d/plan" "$d/large"
	for task in $(cat "$d/plan/tasks"); do
		"$symcache" filter -q --plan "$d/plan" --task "$task" --store "$store" -o "$d/out"
	done
	row "merging it, cat and sync" "$(measure -b "rm -f '$d/out/log'" \
		"$symcache" merge -q --keep-parts "$d/plan" "$d/out" \
		--vs sh -c 'cat "$1"/.symcache/parts/* > "$1/log" && sync "$1/log"' sh "$d/out")" times 0.8
	rm -rf "$d"
}

# ---- store ---------------------------------------------------------------------

# lookup_in NAME STORE ID [MS]
lookup_in() {
	row "$1" "$(measure "$symcache" lookup --store "$2" --build-id "$3" 0x1139)" "time ${4:-3}"
}

group_store() {
	local s=$dir/scale entries=200000 huge=50 id size
	[ -z "$quick" ] || { entries=20000; huge=5; }
	${CC:-cc} -O2 -D_GNU_SOURCE -I. -o "$dir/make_store" scripts/make_store.c \
		"$(dirname "$symcache")/libsymcache.a" -llmdb -lzstd -lxxhash -lpthread -ldl
	echo 'int main(void) { return 0; }' > "$dir/main.c"
	${CC:-cc} -g -o "$dir/main" "$dir/main.c"
	"$symcache" build "$dir/main" -o "$dir/main.symcache"
	heading "Stores" -
	id=$("$dir/make_store" "$s.10" 10 "$dir/main.symcache")
	lookup_in "one look-up, 10 entries" "$s.10" "$id"
	id=$("$dir/make_store" "$s" $entries "$dir/main.symcache")
	lookup_in "one look-up, $entries entries" "$s" "$id"
	row "list, $entries entries" "$(measure "$symcache" list --store "$s")"
	row "list --json, $entries entries" "$(measure "$symcache" list --json --store "$s")"
	row "index one file, $entries entries" "$(measure "$symcache" index -q --again --store "$s" "$libc")"
	rm -f "$s" "$s"-*
	id=$("$dir/make_store" "$s" $huge "$dir/main.symcache" 1000000000)
	lookup_in "one look-up, $huge GB" "$s" "$id"
	row "list, $huge GB" "$(measure "$symcache" list --store "$s")"
	rm -f "$s" "$s"-*
	[ -n "$osd" ] || { skip "ceph-osd: verify, export --for-log"; return; }
	"$symcache" index -q --store "$s" "$osd"
	scripts/markup_log.py 200 "$osd" > "$dir/log" 2> /dev/null
	row "export --for-log, ceph-osd, store" "$(measure -b "rm -rf '$dir/x.store'" \
		"$symcache" export -q --store "$s" -o "$dir/x.store" --for-log "$dir/log")" "time 1000"
	row "export --for-log, ceph-osd, tree" "$(measure -b "rm -rf '$dir/x'" \
		"$symcache" export -q --store "$s" -o "$dir/x" --for-log "$dir/log")" "time 1000"
	row "export --for-log, ceph-osd, tar.zst" "$(measure -b "rm -rf '$dir/x.tar.zst'" \
		"$symcache" export -q --store "$s" -o "$dir/x.tar.zst" --for-log "$dir/log")" "time 1000"
	cp "$s" "$s.packed"
	"$symcache" compact -q --pack 0 --store "$s.packed"
	id=$("$symcache" list --store "$s" | awk '{print $1}')
	lookup_in "one look-up, ceph-osd, packed" "$s.packed" "$id" 250
	"$symcache" build "$osd" -o "$dir/osd.symcache"
	"$dir/make_store" "$s.many" 8 "$dir/osd.symcache" > /dev/null
	size=$(stat -c %s "$s.many")
	row "verify, $((size / 1000000)) MB warm, 2 GB/s" "$(measure "$symcache" verify --store "$s.many")" \
		"time $((size / 2000000))"
	rm -rf "$s"* "$dir"/x*
}

# ---- core files --------------------------------------------------------------------

# pack NAME AIM ELF: the aim is in per cent of GSYM, at level 19
pack() {
	local level numbers gsym
	"$symcache" build "$3" -o "$dir/cache"
	"$gsymutil" --quiet --num-threads=2 --convert="$3" --out-file="$dir/gsym" > "$dir/said" 2>&1
	gsym=$(zstd -q -19 -c "$dir/gsym" | wc -c)
	for level in 3 19; do
		numbers=$("$dir/pack_bench" "$dir/cache" $level)
		awk -v name="$1, level $level" -v gsym="$gsym" -v aim="$2" -v level=$level -v n="$numbers" 'BEGIN {
			split(n, v)
			if (level == 3) aims = "100, 500 MB/s" (v[3] < 100 || v[4] < 500 ? " (missed)" : "")
			else aims = aim " %" (100 * v[2] / gsym > aim ? " (missed)" : "")
			printf "%-24s %6.1f MB %7.3f MB %7.3f MB %6.1f %% %6d %6d %6d MB/s  %s\n", name, v[1] / 1e6,
				v[2] / 1e6, gsym / 1e6, 100 * v[2] / gsym, v[3], v[4], v[5], aims
		}'
	done
}

group_pack() {
	command -v zstd > /dev/null || { skip "zstd"; return; }
	printf '\n%-24s %9s %10s %10s %8s %6s %6s %6s %6s %s\n' "Packed caches" cache packed "GSYM -19" \
		"of GSYM" pack unpack "(cold)" "" aim
	pack libc 83 "$libc"
	pack python3 61 "$python"
	if [ -n "$vmlinux" ]; then pack vmlinux 59 "$vmlinux"; else skip vmlinux; fi
	if [ -n "$osd" ]; then pack ceph-osd 53 "$osd"; else skip ceph-osd; fi
	printf '\n%-36s %10s  %s\n' "Bundles" bytes aim
	names libc "$libc"
	[ -z "$vmlinux" ] || names vmlinux "$vmlinux"
	[ -z "$osd" ] || names ceph-osd "$osd"
	if [ ${#modules[@]} -gt 0 ]; then bundle_modules; else skip modules; fi
}

# names NAME ELF: functions and their addresses alone
names() {
	"$symcache" build --names-only "$2" -o "$dir/cache" && "$symcache" pack --level 19 "$dir/cache" -o "$dir/packed"
	printf '%-36s %10d\n' "$1, names alone, level 19" "$(stat -c %s "$dir/packed")"
}

bundle_modules() {
	local s=$dir/modules n=${#modules[@]} size
	"$symcache" index -q --store "$s.store" "${modules[@]}"
	"$symcache" export -q --store "$s.store" -o "$s.tar.zst"
	"$symcache" export -q --store "$s.store" -o "$s.plain.tar.zst" --bundle-format 1
	size=$(stat -c %s "$s.tar.zst")
	printf '%-36s %10d  %s\n' "$n modules" "$size" "10500000$([ "$size" -le 10500000 ] || echo ' (missed)')" \
		"$n modules, not packed" "$(stat -c %s "$s.plain.tar.zst")" ""
	heading "Import of a bundle" "not packed"
	row "import of $n modules" "$(measure -b "rm -f '$s.in' '$s.in-lock'" \
		"$symcache" import -q --store "$s.in" "$s.tar.zst" \
		--vs sh -c "rm -f '$s.in' '$s.in-lock'; exec '$symcache' import -q --store '$s.in' '$s.plain.tar.zst'")" "times 1"
	rm -f "$s".*
}

group_core() {
	local d=$dir/core
	mkdir "$d"
	heading "Stacks of core files" peer
	${CC:-cc} -g -O2 -Wl,--build-id=sha1 -o "$d/threads" testdata/programs/threads.c -pthread
	{ (cd "$d" && ulimit -c unlimited && ./threads 1000) || :; } 2> /dev/null
	mv "$d"/core* "$d/dump" 2> /dev/null || { skip "the kernel writes no core file here"; return; }
	"$symcache" index -q --store "$d/store" "$d/threads" /lib/*/libc.so.6
	if command -v gdb > /dev/null; then
		row "1,001 threads, gdb" "$(measure "$symcache" core --store "$d/store" "$d/dump" \
			--vs gdb -batch -nx -ex 'thread apply all bt' "$d/threads" "$d/dump")" \
			"time 60 times 30 peak 15"
	else
		skip "gdb"
	fi
	if command -v eu-stack > /dev/null; then
		row "1,001 threads, JSON, eu-stack" "$(measure "$symcache" core --format json --store "$d/store" \
			"$d/dump" --vs eu-stack -n 0 --core "$d/dump" --executable "$d/threads")" \
			"time 60 times 150 peak 15"
	else
		skip "eu-stack"
	fi
	rm -rf "$d"
}

# ---- all -----------------------------------------------------------------------

machine() {
	printf '%s, %s processors, %s GB, Linux %s; load %s\n' \
		"$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
		"$(awk '/MemTotal/ {printf "%.0f", $2 / 1e6}' /proc/meminfo)" "$(uname -r)" \
		"$(cut -d ' ' -f 1-3 /proc/loadavg)"
}

all() {
	"$symcache" --version
	$symbolizer --version | sed -n 's/.*LLVM version/LLVM/p'
	machine
	"$dir/measure" -n 20 true |
		awk '{printf "a command that does nothing takes %.1f ms\n", $1 * 1e3}'
	echo "medians of up to $runs runs"
	for group in $groups; do
		group_$group
	done
	printf '\nload at the end: %s\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
}

all | tee "$dir/table"
# A table is known by its title, up to two blanks; what was not measured now stays as it was.
[ -z "$update" ] || {
	awk -v new="$dir/table" '
		function title(text) { sub(/  .*/, "", text); sub(/\n.*/, "", text); return text }
		BEGIN {
			RS = ""
			while ((getline text < new) > 0) {
				gsub(/ +\n/, "\n", text)
				sub(/ +$/, "", text)
				key = n++ ? title(text) : "symcache"
				if (key ~ /^load at/) continue
				if (!(key in table)) order[++tables] = key
				table[key] = table[key] (table[key] == "" ? "" : "\n\n") text
			}
		}
		/^<!-- bench -->/ { inside = 1; print "\n<!-- bench -->\n```\n" table["symcache"]; shown["symcache"]; next }
		/<!-- end of bench -->/ {
			for (i = 1; i <= tables; i++)
				if (!(order[i] in shown)) print "\n" table[order[i]]
			print "\n```\n<!-- end of bench -->"
			inside = 0
			next
		}
		!inside { print (NR > 1 ? "\n" : "") $0; next }
		{
			key = title($0)
			if (key in shown) next
			shown[key]
			print "\n" (key in table ? table[key] : $0)
		}' scripts/BENCH.md > "$dir/BENCH.md"
	cat "$dir/BENCH.md" > scripts/BENCH.md
}
