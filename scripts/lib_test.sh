#!/bin/sh
# Tests the libraries as they are installed: symbols, headers, pages, examples.
#
#   scripts/lib_test.sh PROGRAM
#
# Prints "ok NAME", "skipped NAME: why" or "FAILED NAME" for each test; the last line is
# "library: N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.."
root=$PWD
program=${1:?usage: scripts/lib_test.sh PROGRAM}
case $program in
build/release/*) ;;
*) echo "skipped: programs that are not of the release build do not link with its libraries"
   echo "library: 0 passed, 0 failed, 1 skipped"; exit 0 ;;
esac
passed=0 failed=0 skipped=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
stage=$tmp/stage lib=$tmp/stage/usr/lib
export LC_ALL=C

# it NAME FUNCTION: counts it by its status; 77: skipped, the output says why.
it() {
	"$2" > "$tmp/out" 2>&1
	case $? in
	0) echo "ok $1"; passed=$((passed + 1)) ;;
	77) echo "skipped $1: $(cat "$tmp/out")"; skipped=$((skipped + 1)) ;;
	*) cat "$tmp/out"; echo "FAILED $1"; failed=$((failed + 1)) ;;
	esac
}
needs() { command -v "$1" > /dev/null || { echo "there is no $1"; return 77; }; }

# The names that a header declares, that a map has, that a library has.
declared() { awk '/^SYMCACHE_API/ { on = 1 } on { text = text $0 } on && /;/ { if (match(text, /symcache_[a-z_0-9]+\(/)) print substr(text, RSTART, RLENGTH - 1); on = 0; text = "" }' "$@" | sort; }
mapped() { sed -n 's/^\t\(symcache_[a-z_0-9]*\);$/\1/p' "$1" | sort; }
exported() { nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort; }
versioned() { awk '/^SYMCACHE.* \{$/ { node = $1 } /^\tsymcache_/ { sub(/;/, "", $1); print $1 "@@" node }' "$1" | sort; }

# Modes, names and bytes of a tree.
tree() { (cd "$1" && find . -printf '%m %y %p %l\n' && find . -type f -exec cksum {} +) | sort; }

# Twice, with another umask, time zone and locale: the same; uninstalled, no file is left.
installs() {
	make --no-print-directory install DESTDIR="$stage" PREFIX=/usr || return 1
	(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 make --no-print-directory install DESTDIR="$tmp/twice" PREFIX=/usr) || return 1
	tree "$stage" > "$tmp/once" && tree "$tmp/twice" | diff "$tmp/once" - || return 1
	make --no-print-directory uninstall DESTDIR="$tmp/twice" PREFIX=/usr || return 1
	[ -z "$(find "$tmp/twice" ! -type d -o -name 'symcache*')" ]
}

same_symbols() {
	h=libsymcache/include
	declared $h/symcache.h $h/symcache-find.h $h/symcache-filter.h $h/symcache-process.h $h/symcache-stack.h libsymcache/api/private.h > "$tmp/declared"
	mapped libsymcache/api/libsymcache.map > "$tmp/mapped"
	exported "$lib/libsymcache.so.1" > "$tmp/exported"
	[ -s "$tmp/declared" ] && diff "$tmp/declared" "$tmp/mapped" && diff "$tmp/mapped" "$tmp/exported" || return 1
	declared $h/symcache-build.h > "$tmp/declared"
	mapped libsymcache/api/libsymcache-build.map > "$tmp/mapped"
	exported "$lib/libsymcache-build.so.1" > "$tmp/exported"
	diff "$tmp/declared" "$tmp/mapped" && diff "$tmp/mapped" "$tmp/exported" || return 1
	for l in libsymcache libsymcache-build; do
		mapped libsymcache/api/$l.map > "$tmp/mapped"
		sed -n 's/^ \(symcache_[a-z_0-9]*\)@.*/\1/p' scripts/debian/${l}1.symbols | sort | diff "$tmp/mapped" - || return 1
		versioned libsymcache/api/$l.map > "$tmp/mapped"
		nm -D --defined-only "$lib/$l.so.1" | awk '$2 != "A" { print $3 }' | sort | diff "$tmp/mapped" - || return 1
	done
}

few_libraries() {
	readelf -d "$lib/libsymcache.so.1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
		grep -vE '^(lib(lmdb|xxhash|zstd|gcc_s|c)\.so|ld-linux)' && return 1
	readelf -d "$lib/libsymcache.so.1" | grep -q 'SONAME.*\[libsymcache.so.1\]' &&
		readelf -d "$lib/libsymcache-build.so.1" | grep -q 'NEEDED.*\[libsymcache.so.1\]'
}

# Position-independent, with read-only relocations bound at once, fortified, with stack protectors.
hardened() {
	for f in "$stage/usr/bin/symcache" "$lib/libsymcache.so.1" "$lib/libsymcache-build.so.1"; do
		readelf -hldW "$f" > "$tmp/elf" && nm -D --undefined-only "$f" > "$tmp/names" || return 1
		grep -q 'Type: *DYN' "$tmp/elf" && grep -q GNU_RELRO "$tmp/elf" && grep -qE 'FLAGS.* NOW' "$tmp/elf" &&
			grep -q 'GNU_STACK.* RW ' "$tmp/elf" && ! grep -qE 'R(UN)?PATH|TEXTREL' "$tmp/elf" &&
			grep -q '__stack_chk_fail' "$tmp/names" && grep -q '_chk@' "$tmp/names" || { echo "$f"; return 1; }
	done
}

# Functions that change the process, end it or print. Those that there are:
#   getenv: the default store; TMPDIR, for copies. setenv: asking debuginfod, for the program
# What the demanglers' archives bring is renamed (Makefile: DEMANGLE_RENAME), what the program
# does to its own process is not linked (libsymcache/base/process.h).
changers='exit|_exit|abort|raise|kill|signal|sigaction|sigprocmask|alarm|setitimer|setlocale|uselocale|tzset|srand|srandom|chdir|umask|system|fork|vfork|exec[a-z]*|popen|daemon|sysinfo|syslog|openlog|printf|puts|putchar|perror|stdout|stderr|fputc|fputs|fwrite|fprintf|vfprintf|getenv|setenv|putenv|unsetenv|mallopt|sbrk|setrlimit|prctl|atexit|on_exit|strerror_r|error|warn[x]?|err[x]?'
changing() {
	nm -D --undefined-only "$lib/$1.so.1" | sed 's/.* //; s/@.*//; s/^__\(.*\)_chk$/\1/' | grep -xE "$changers" | sort | tr '\n' ' '
}
no_effects() {
	[ "$(changing libsymcache)" = "getenv " ] ||
		{ changing libsymcache; return 1; }
	[ "$(changing libsymcache-build)" = "getenv setenv " ] ||
		{ changing libsymcache-build; return 1; }
	cc -Wall -Wextra -Werror -rdynamic -o "$tmp/effects" scripts/lib_effects.c $(cflags symcache-build) || return 1
	seq 200000 | sed 's/.*/line & of a log [<00000000deadbeef>]/' > "$tmp/long.log"
	LD_LIBRARY_PATH=$lib "$tmp/effects" "$tmp/e.store" "$lib/libsymcache-build.so.1" "$tmp/long.log" > "$tmp/said" 2>&1 &&
		[ ! -s "$tmp/said" ] || { cat "$tmp/said"; return 1; }
}

pages() {
	needs mandoc || return 77
	for name in $(declared libsymcache/include/*.h); do
		[ -f "$stage/usr/share/man/man3/$name.3" ] || { echo "no page: $name"; return 1; }
	done
	for p in "$stage"/usr/share/man/man[135]/*; do
		grep -q '^\.so ' "$p" && continue
		mandoc -T lint "$p" || return 1
	done
}

cflags() { PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs "$1" | sed "s|$stage$stage|$stage|g; s|-I/usr/include|-I$stage/usr/include|; s|-L/usr/lib|-L$lib|"; }

# compile COMPILER STANDARD: all headers by themselves.
compile() {
	needs "$1" || return 77
	for h in symcache symcache-find symcache-filter symcache-process symcache-build symcache-stack; do
		printf '#include <%s.h>\nint main(void) { return symcache_version_number() == SYMCACHE_VERSION_NUMBER ? 0 : 1; }\n' $h > "$tmp/h.$3"
		"$1" -std=$2 -pedantic -Wall -Wextra -Werror -I"$stage/usr/include" "$tmp/h.$3" -o "$tmp/h" -L"$lib" -lsymcache &&
			LD_LIBRARY_PATH=$lib "$tmp/h" || return 1
	done
}
c99() { compile gcc c99 c; }
c99_clang() { compile clang c99 c; }
cxx17() { compile g++ c++17 cc; }
cxx17_clang() { compile clang++ c++17 cc; }

# As C and as C++, under each compiler that is there.
examples_compile() {
	for c in 'gcc -std=c11' 'clang -std=c11' 'g++ -x c++ -std=c++17' 'clang++ -x c++ -std=c++17'; do
		needs "${c%% *}" > /dev/null || continue
		for e in testdata/examples/*.c; do
			$c -pedantic -Wall -Wextra -Werror -I"$stage/usr/include" -fsyntax-only "$e" || return 1
		done
	done
}

examples() {
	needs pkg-config || return 77
	for e in lookup filter find index pid core self stacks source; do
		cc -std=c99 -pedantic -Wall -Wextra -Werror -g -O1 "$stage/usr/share/doc/symcache/examples/$e.c" \
			-o "$tmp/$e" $(cflags symcache-build) || return 1
	done
	export LD_LIBRARY_PATH=$lib
	"$tmp/index" "$tmp/a.store" "$tmp/self" "$tmp/lookup" > "$tmp/said" || return 1
	[ "$(cat "$tmp/said")" = "2 indexed, 0 stayed, 0 without symbols, 0 failed" ] || { cat "$tmp/said"; return 1; }
	for store in "$tmp/a.store" ""; do
		"$tmp/self" $store > "$tmp/said" || return 1
		grep -q "^deep at .*/self.c:[0-9]*$" "$tmp/said" && grep -q "^main at .*/self.c:[0-9]*$" "$tmp/said" ||
			{ cat "$tmp/said"; return 1; }
	done
	"$tmp/index" "$tmp/b.store" "$tmp/find" > /dev/null || return 1
	SYMCACHE_STORE=$tmp/b.store "$tmp/find" find 'defin*' range find.c:11 > "$tmp/said" || return 1
	printf '0x%x definition, declared at .*/find.c:8\n0x%x range, declared at .*/find.c:15\n' \
		$(nm "$tmp/find" | awk '$3 == "definition" || $3 == "range" { print $3, "0x" $1 }' | sort | cut -d' ' -f2) > "$tmp/expected"
	grep -qxf "$tmp/expected" "$tmp/said" && grep -qx '0x[0-9a-f]*-0x[0-9a-f]* definition' "$tmp/said" || { cat "$tmp/said"; return 1; }
	"$tmp/source" "$tmp/source" "$(nm "$tmp/source" | awk '$3 == "main" { print "0x" $1 }')" > "$tmp/said" || return 1
	grep -qx '  argc of main, declared at line 33, 4 bytes' "$tmp/said" && grep -q '^main at .*/source.c:34$' "$tmp/said" &&
		[ "$(sed -n 2p "$tmp/said")" = "  {" ] || { cat "$tmp/said"; return 1; }
	mkfifo "$tmp/fifo" || return 1
	"$tmp/filter" "$tmp/b.store" < "$tmp/fifo" & sleeper=$!
	exec 9> "$tmp/fifo" # which it waits for
	"$tmp/index" "$tmp/b.store" "$tmp/filter" > /dev/null
	base=$(awk '$6 ~ /\/filter$/ { sub(/-.*/, "", $1); print "0x" $1; exit }' /proc/$sleeper/maps)
	SYMCACHE_STORE=$tmp/b.store "$tmp/pid" $sleeper $((base + $(nm "$tmp/filter" | awk '$3 == "main" { print "0x" $1 }'))) 1 > "$tmp/said"
	SYMCACHE_STORE=$tmp/b.store "$tmp/stacks" $sleeper > "$tmp/stacks.said" 2>&1
	exec 9>&-
	wait $sleeper
	grep -q '^  main at .*/filter.c:[0-9]*$' "$tmp/stacks.said" || # in a container one may not
		grep -q 'Operation not permitted' "$tmp/stacks.said" || { cat "$tmp/stacks.said"; return 1; }
	grep -q '^  main at .*/filter.c:[0-9]*$' "$tmp/said" && grep -q '^0x1 in +0x0: nothing is mapped there$' "$tmp/said" || { cat "$tmp/said"; return 1; }
	"$tmp/core" "$tmp/lookup" 1 > "$tmp/said" 2>&1 && return 1
	grep -q 'not a core file' "$tmp/said" || { cat "$tmp/said"; return 1; }
	if [ -d ../shared/data/cores ]; then # what it says, without a store
		xz -dc ../shared/data/cores/shared.core.xz > "$tmp/a.core"
		SYMCACHE_STORE=$tmp/a.store "$tmp/core" "$tmp/a.core" 1 > "$tmp/said" || { cat "$tmp/said"; return 1; }
		grep -qx '0x1 in +0x0: nothing is mapped there' "$tmp/said" || { cat "$tmp/said"; return 1; }
	fi
	at=$(nm "$tmp/lookup" | awk '$3 == "main" { print "0x" $1 }')
	id=$(readelf -n "$tmp/lookup" | sed -n 's/.*Build ID: //p')
	SYMCACHE_STORE=$tmp/a.store "$tmp/lookup" "$id" "$at" > "$tmp/said"
	grep -q "^main at .*/lookup.c:6$" "$tmp/said" || { cat "$tmp/said"; return 1; }
	printf '{{{reset}}}\n{{{module:0:lookup:elf:%s}}}\n{{{mmap:0x10000000:0x100000:load:0:rx:0x0}}}\n{{{pc:0x%x}}}\n' \
		"$id" $((0x10000000 + at)) | "$tmp/filter" "$tmp/a.store" > "$tmp/said"
	grep -q 'main.*lookup.c:6' "$tmp/said" || { cat "$tmp/said"; return 1; }
}

# README shows examples/lookup.c.
readme() {
	awk '/^    #include <stdio.h>$/ { on = 1 } on && (/^[^ ]/ || /^    \$/) { exit } on { sub(/^    /, ""); print }' README.md |
		sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' > "$tmp/shown"
	expand -t 8 testdata/examples/lookup.c | diff "$tmp/shown" -
}

# The library is loaded and unloaded many times: nothing stays behind.
reloads() {
	cat > "$tmp/reload.c" <<-'C'
	#include <dlfcn.h>
	#include <stdio.h>
	static long rss(void)
	{
		long all = 0, mine = 0;
		FILE *f = fopen("/proc/self/statm", "r");
		if (!f || fscanf(f, "%ld %ld", &all, &mine) != 2)
			return -1;
		fclose(f);
		return mine;
	}
	int main(int argc, char **argv)
	{
		long before = 0;
		for (int i = 0; i < 1000; i++) {
			void *h = dlopen(argv[argc - 1], RTLD_NOW);
			int (*open)(const char *, unsigned, void **, void *) =
				(int (*)(const char *, unsigned, void **, void *))dlsym(h, "symcache_store_open");
			void (*close)(void *) = (void (*)(void *))dlsym(h, "symcache_store_close");
			void *s = NULL;
			if (!h || !open || open(argv[1], 0, &s, NULL))
				return 1;
			close(s);
			dlclose(h);
			if (i == 100)
				before = rss();
		}
		printf("%ld pages more\n", rss() - before);
		return rss() - before > 100;
	}
	C
	cc -w -o "$tmp/reload" "$tmp/reload.c" && "$tmp/reload" "$tmp/a.store" "$lib/libsymcache.so.1"
}

# The program on an old processor: the same cache, the same text.
no_avx2() {
	[ "$(uname -m)" = x86_64 ] || { echo "another machine"; return 77; }
	needs qemu-x86_64 || return 77
	for t in bytes/scan_test bytes/words_test output/text/usual_test; do # of passes over text
		t=${program%/*}/libmarkup/$t
		[ ! -x "$t" ] || qemu-x86_64 -cpu Nehalem "$t" || return 1
	done
	printf 'lookup(main+0x4) [0x1000] {{{reset}}} {{{bt:0:0x1000}}}\n' > "$tmp/log"
	"$program" build "$tmp/lookup" -o "$tmp/new.cache" && "$program" filter "$tmp/log" > "$tmp/new.log" || return 1
	for cpu in core2duo Nehalem; do
		qemu-x86_64 -cpu $cpu "$program" build "$tmp/lookup" -o "$tmp/old.cache" &&
			qemu-x86_64 -cpu $cpu "$program" filter "$tmp/log" > "$tmp/old.log" &&
			cmp "$tmp/new.cache" "$tmp/old.cache" && cmp "$tmp/new.log" "$tmp/old.log" || return 1
	done
}

# abidiff against what was recorded by
# abidw --exported-interfaces-only --headers-dir libsymcache/include --drop-private-types
#	--no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed
abi() {
	needs abidiff || return 77
	for l in libsymcache libsymcache-build; do
		abidiff --exported-interfaces-only "libsymcache/api/$l.abi" "$lib/$l.so.1" || return 1
	done
}

# A Python with headers, and pytest.
python_with() {
	for p in "${PYTHON:-python3}" /usr/bin/python3; do
		"$p" -c 'import os, pytest, sysconfig, sys
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2> /dev/null && { echo "$p"; return; }
	done
	return 1
}
python_module() {
	python=$(python_with) || { echo "no Python with python3-dev and pytest"; return 77; }
	make --no-print-directory install-python DESTDIR="$stage" PREFIX=/usr \
		PYTHON="$python" PYTHONDIR=/usr/lib/python3/dist-packages || return 1
	p=$stage/usr/lib/python3/dist-packages
	nm -D --defined-only "$p"/symcache/*.so | grep -v ' A ' | grep -E ' [A-Z] ' | grep -v ' T PyInit_' && return 1
	echo 'int shown(void) { return 1; } int main(void) { return shown(); }' > "$tmp/shown.c" && cc -g -o "$tmp/shown" "$tmp/shown.c" &&
		PYTHONPATH=$p PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$lib "$python" \
		"$stage/usr/share/doc/symcache/examples/symbolize.py" "$tmp/shown.store" "$tmp/shown" shown > "$tmp/said" || return 1
	[ "$(grep -c 'shown' "$tmp/said")" = 3 ] && grep -q 'a log: .* shown at .*/shown.c:1' "$tmp/said" &&
		grep -qx '  0x1: nothing is mapped there' "$tmp/said" || { cat "$tmp/said"; return 1; }
	if "$python" -c 'import mypy' 2> /dev/null; then
		MYPYPATH=$p "$python" -m mypy --strict --cache-dir=/dev/null testdata/examples/symbolize.py || return 1
		cat > "$tmp/typed.py" <<-'PY'
		import array
		import symcache
		cache = symcache.Cache("x")
		cache.frames(1)[0].name
		first, ids = cache.frames(array.array("Q"))
		n: int = cache.frames(memoryview(b""), out=(array.array("Q"), bytearray(16)))
		start: int = cache.where("x.c:1")[0].start + cache.find("x")[0].address
		size: int | None = cache.locals(1)[0].size
		source: str | None = symcache.Sources(["x"], path_maps=["a=b"], store=symcache.Store()).text("x.c", cache)
		why: str = symcache.Process.from_pid(1).symbolize([1, 2])[0].why
		pc: int = symcache.Core("x").threads[0].frames[0].pc
		core: symcache.Process = symcache.Process.from_core("x", symcache.Store())
		core.use_files(["/x"], debuginfod=True, urls=["https://x"], verify_key="k")
		tid: int = symcache.Trace("x", ["y@0"]).threads[0].tid
		symcache.Process("x")  # type: ignore[arg-type]
		cache.frames("x")  # type: ignore[call-overload]
		cache.frames([1])  # type: ignore[call-overload]
		symcache.Store().by_name(b"x")  # type: ignore[arg-type]
		PY
		"$python" -m mypy --strict --cache-dir=/dev/null "$p/symcache/__init__.pyi" &&
			(cd "$tmp" && MYPYPATH=$p "$python" -m mypy --strict --cache-dir=/dev/null typed.py) &&
			(cd "$tmp" && MYPYPATH=$p PYTHONPATH=$p LD_LIBRARY_PATH=$lib "$python" -m mypy.stubtest symcache) || return 1
	fi
	SYMCACHE=$root/$program PYTHONPATH=$p PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$lib \
		"$python" -m pytest -q -p no:cacheprovider "$root/scripts/python/tests"
}

it "make install" installs
it "symbols: headers, map and library agree" same_symbols
it "libsymcache needs few libraries" few_libraries
it "hardened" hardened
it "no process-wide effects" no_effects
it "manual pages" pages
it "headers: C99, gcc" c99
it "headers: C99, clang" c99_clang
it "headers: C++17, g++" cxx17
it "headers: C++17, clang++" cxx17_clang
it "examples: C11 and C++17" examples_compile
it "examples, from the installed tree" examples
it "README shows examples/lookup.c" readme
it "loaded and unloaded 1,000 times" reloads
it "ABI as recorded" abi
it "Python" python_module
it "x86-64 without AVX2" no_avx2
echo "library: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
