#!/bin/sh
# Shows what symcache does on a real crash: builds a C++ program and a shared
# library of it (testdata/demo), ships them as a distribution would, lets the
# program crash, and turns its log into functions, files and lines.
#
#   scripts/demo.sh PROGRAM
#
# Everything is under build/demo, or $DEMO_DIR: bin/ and debug/ as shipped, store,
# crash.log as the program wrote it, report.txt as the filter wrote it. On the
# terminal long lines are folded, and modules of the system left out.
set -eu
cd "$(dirname "$0")/.."
symcache=$(realpath "${1:?usage: scripts/demo.sh PROGRAM}")
dir=${DEMO_DIR:-build/demo} source=testdata/demo
bold= plain=
[ ! -t 1 ] || { bold=$(printf '\033[1m') plain=$(printf '\033[0m'); }
width=${COLUMNS:-$(tput cols 2> /dev/null || echo 100)}
mkdir -p "$dir"
dir=$(realpath "$dir")
rm -rf "$dir/bin" "$dir/debug" "$dir/obj" "$dir/store" "$dir/crash.log" "$dir/report.txt"
mkdir "$dir/bin" "$dir/debug" "$dir/obj"

step() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# Runs a command and shows it, with the places on this machine left out.
run() {
	printf '    $'
	for word; do
		case $word in
		"$symcache") word=symcache ;;
		"$dir"/*) word=${word#"$PWD/"} ;;
		esac
		printf ' %s' "$word"
	done
	printf '\n'
	"$@"
}

# Indents what it reads, and folds it at blanks.
show() {
	awk -v width="$((width > 60 ? width - 4 : 56))" '{
		for (rest = $0; length(rest) > width; rest = "            " substr(rest, at + 1)) {
			for (at = width; at > 13 && substr(rest, at, 1) != " "; at--)
				;
			if (at <= 13)
				break # a word too long: the terminal may break it
			print "    " substr(rest, 1, at - 1)
		}
		print "    " rest
	}'
}

# Leaves out the modules that are not ours, of markup and of what came of it.
ours() {
	awk -v dir="$dir/" '
	function left_out() {
		if (hidden)
			printf "(lines for libc and others: %d)\n", hidden
		hidden = 0
	}
	/^\{\{\{(module|mmap):/ {
		split($0, field, ":")
		if (/^\{\{\{module:/)
			own[field[2]] = index(field[3], dir) == 1
		if (!own[field[/^\{\{\{module:/ ? 2 : 5]]) { hidden++; next }
	}
	/^\[\[\[ELF module / && !index($0, "\"" dir) { hidden++; next }
	{ left_out(); print }'
}

step "1. A C++ program and its library, as a distribution ships them"
echo "   Compiled with -O2, so that much is inlined; debug information taken off and kept
   under the build ID; the binaries stripped."
for part in emit crash; do
	gcc -O2 -g -c -o "$dir/obj/$part.o" "libmarkup/emit/$part.c"
done
build="g++ -std=c++17 -O2 -g -Wall -Wextra -I. -Wl,--build-id=sha1"
$build -fPIC -shared -o "$dir/bin/libshop.so" $source/shop.cc
$build -o "$dir/bin/bill" $source/bill.cc "$dir/obj/emit.o" "$dir/obj/crash.o" -L"$dir/bin" -lshop -Wl,-rpath,'$ORIGIN'
# For README's example: what tracepoints in main() record, where GDB loads programs.
main=$((0x555555554000 + 0x$(nm "$dir/bin/bill" | sed -n 's/ T main$//p')))
! command -v python3 > /dev/null ||
	scripts/make_trace.py "$dir/run.tf" 3 $(printf '%x %x' $main $((main + 22)))
for binary in "$dir/bin/bill" "$dir/bin/libshop.so"; do
	id=$(readelf -n "$binary" | sed -n 's/.*Build ID: //p')
	rest=${id#??}
	debug=$dir/debug/.build-id/${id%"$rest"}/$rest.debug
	mkdir -p "$(dirname "$debug")"
	objcopy --only-keep-debug "$binary" "$debug"
	objcopy --strip-all "$binary"
	ls -sh1 "$binary" "$debug" | sed "s|$PWD/||" | show
done

step "2. It crashes"
echo "   Its signal handler (libmarkup/emit.h) knows no names: it prints markup, that is
   modules, where they are mapped, registers and a backtrace."
status=0
{ (ulimit -c 0; "$dir/bin/bill" < $source/orders.txt 2> "$dir/crash.log") || status=$?; } 2> /dev/null
[ $status = 139 ] || { echo "demo.sh: the program should have crashed: $status" >&2; exit 1; }
echo "    \$ ${dir#"$PWD/"}/bin/bill < $source/orders.txt 2> crash.log"
ours < "$dir/crash.log" | show

step "3. The symbols go into a store, once"
echo "   From then on neither the binaries nor the debug files are needed."
export SYMCACHE_STORE="$dir/store"
# The system's libraries of this very process; the vDSO is not a file.
libraries=$(sed -n 's/{{{module:[0-9]*:\(.*\):elf:.*/\1/p' "$dir/crash.log" |
	grep -v -e "^$dir/" -e vdso)
run "$symcache" index "$dir/debug" $libraries 2>&1 | show

step "4. The log becomes readable"
echo "   Inlined functions (#0.1, #0.2 ...) come before the function they are in."
echo "    \$ symcache filter crash.log"
"$symcache" filter "$dir/crash.log" > "$dir/report.txt"
ours < "$dir/report.txt" | show

step "That is: bill.cc adds up prices, of a product that find() did not find."
echo "   Grace's lantern was fine; Edsger wants an \"umbrela\", which the shop does not have."
echo "   All of it is in ${dir#"$PWD/"}."
