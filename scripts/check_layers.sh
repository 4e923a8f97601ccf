#!/bin/sh
# Checks by the #include lines who may include whom (README.md, "The house").
#
#   scripts/check_layers.sh
#
# Prints each breach as FILE:LINE: why; exit status 1 if there is one.
# Tests (x_test.[ch], x_fuzz.c and what they share, testing.[ch]) may also include
# the public headers and cmocka.
# A header of a library that is not named below is a breach: name it here, in
# the one place where it belongs. Programs that tests look into (testdata) are no part of
# the house.
set -u
cd "$(dirname "$0")/.."

find cmd format libmarkup libsymcache scripts -name '*.[ch]' | sort |
	xargs grep -nE '^[[:space:]]*#[[:space:]]*include' |
	awk -F: '
	# The room of a file: its folders, but for those of cmd, which is one room. Those of
	# libmarkup begin with "mk/"; what is not in a folder there is "mk". The public headers
	# are the room "public", whatever their path.
	function room_of(path, part, n) {
		n = split(path, part, "/")
		if (part[1] == "symcache" || path ~ /^libsymcache\/include\//)
			return "public"
		if (part[1] == "libmarkup")
			return n > 2 ? "mk/" part[2] : "mk"
		if (part[1] != "libsymcache")
			return part[1]
		return n > 3 ? part[2] "/" part[3] : part[2]
	}
	function breach(why) {
		printf "%s:%s: %s\n", $1, $2, why
		bad = 1
	}
	function set(names, into, part, n, i) {
		n = split(names, part, " ")
		for (i = 1; i <= n; i++)
			into[part[i]] = 1
	}
	# own ROOM WHAT...: rooms and headers of ours that ROOM may include.
	function own(room, what) { set(what, tmp); for (w in tmp) may[room, w] = 1; delete tmp; may[room, room] = 1 }
	# lib HEADER ROOMS: a header of a library, and who may include it.
	function lib(header, rooms) { third[header] = 1; set(rooms, tmp); for (w in tmp) may[w, header] = 1; delete tmp }
	BEGIN {
		own("public", "format libmarkup/markup.h")
		own("base", "symcache/build_id.h symcache/error.h")
		own("elf", "base symcache/build_id.h symcache/error.h")
		own("dwarf", "base symcache/error.h")
		own("read", "format base libsymcache/dwarf/expression.h symcache/symcache.h symcache/rows.h " \
		    "symcache/guard.h symcache/error.h")
		own("store", "read format base symcache/symcache.h symcache/store.h symcache/upkeep.h symcache/merge.h " \
		    "symcache/build_id.h symcache/error.h")
		own("archive", "base symcache/archive.h symcache/inflate.h symcache/error.h")
		own("write/input", "write/flatten elf dwarf base symcache/build.h symcache/build_id.h symcache/error.h")
		own("write/flatten", "dwarf base format symcache/error.h")
		own("write/image", "write/flatten elf dwarf base format libsymcache/unwind/rows.h symcache/build.h symcache/error.h")
		own("write", "write/input write/flatten write/image elf dwarf base format " \
		    "symcache/build.h symcache/explain.h symcache/locals.h symcache/sources.h symcache/error.h")
		own("unwind", "public format base libsymcache/dwarf/expression.h")
		own("core", "public format base")
		own("index", "archive base public")
		own("transforms", "base symcache/build.h symcache/transforms.h symcache/symcache.h symcache/error.h")
		own("bundle", "base symcache/bundle.h symcache/store.h symcache/upkeep.h symcache/symcache.h symcache/archive.h " \
		    "symcache/build.h symcache/build_id.h symcache/error.h")
		own("symbolize", "index base public")
		own("trace", "public base")
		own("logs", "public base symbolize libmarkup/markup.h libsymcache/plan/plan.h libmarkup/bytes/out.h")
		own("answers", "public base libmarkup/markup.h mk/bytes")
		own("report", "public base mk/bytes")
		own("plan", "base libmarkup/markup.h mk/bytes symcache/build.h symcache/error.h")
		own("api", "public base symbolize store libmarkup/markup.h")
		own("cmd", "public format libmarkup/markup.h libsymcache/plan/plan.h libsymcache/answers/answers.h libsymcache/report/report.h mk/bytes libsymcache/base/bigmem.h libsymcache/base/file.h libsymcache/base/parallel.h " \
		    "libsymcache/base/utf8.h libsymcache/base/cleanup.h libsymcache/base/sort.h libsymcache/base/text.h libsymcache/base/vec.h")
		own("mk", "mk/bytes"); own("mk/bytes", "libmarkup/markup.h libsymcache/base/text.h libsymcache/base/utf8.h")
		own("mk/input", "mk mk/bytes"); own("mk/resolve", "mk mk/bytes libmarkup/input/input.h libsymcache/base/vec.h")
		own("mk/output", "mk mk/bytes mk/resolve libsymcache/base/utf8.h libsymcache/base/vec.h"); own("mk/emit", "../emit.h parts.h")
		own("mk/filter", "mk mk/bytes libmarkup/input/input.h mk/resolve mk/output")
		own("format", ""); own("scripts", "public format module.h")
		lib("lmdb.h", "store"); lib("symcache.h", "api public scripts"); lib("Python.h", "scripts"); lib("symcache-build.h", "api scripts"); lib("symcache-experimental.h", "api"); lib("archive.h", "archive"); lib("archive_entry.h", "archive")
		lib("libelf.h", "elf dwarf"); lib("gelf.h", "elf dwarf"); lib("dwarf.h", "elf dwarf")
		lib("elfutils/libdw.h", "elf dwarf"); lib("elfutils/libdwfl.h", "elf dwarf")
		lib("elfutils/libdwelf.h", "elf dwarf"); lib("elfutils/known-dwarf.h", "dwarf")
		lib("libdeflate.h", "elf"); lib("isa-l/igzip_lib.h", "elf"); lib("zstd.h", "elf archive"); lib("lzma.h", "elf archive"); lib("zlib.h", "archive")
		lib("xxhash.h", "base trace elf dwarf write/flatten write/image write/input write read store bundle index transforms symbolize unwind plan logs")
		lib("xxh_x86dispatch.h", "index logs")
		lib("libiberty/demangle.h", "symbolize"); lib("yajl/yajl_gen.h", "bundle")
		lib("yajl/yajl_parse.h", "bundle transforms plan"); lib("sodium.h", "bundle")
		lib("unwind.h", "mk/emit unwind") # of the compiler
		lib("expat.h", "trace")
		set("assert.h byteswap.h ctype.h dirent.h dlfcn.h elf.h endian.h err.h errno.h " \
		    "fcntl.h fenv.h float.h fnmatch.h fts.h ftw.h getopt.h glob.h grp.h inttypes.h iso646.h " \
		    "langinfo.h libgen.h limits.h link.h locale.h malloc.h math.h poll.h pthread.h " \
		    "pwd.h regex.h sched.h search.h semaphore.h setjmp.h signal.h spawn.h stdalign.h " \
		    "stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdio_ext.h stdlib.h " \
		    "stdnoreturn.h string.h strings.h sys/file.h sys/ioctl.h sys/mman.h sys/mount.h sys/param.h " \
		    "sys/random.h sys/resource.h sys/select.h sys/sendfile.h sys/socket.h sys/stat.h " \
		    "sys/statfs.h sys/statvfs.h sys/syscall.h sys/time.h sys/types.h sys/uio.h sys/un.h sys/vfs.h " \
		    "sys/wait.h sysexits.h termios.h threads.h time.h uchar.h ucontext.h unistd.h " \
		    "wchar.h wctype.h immintrin.h emmintrin.h x86intrin.h arm_neon.h", libc)
	}
	{
		room = room_of($1)
		test = $1 ~ /_(test|fuzz)\.[ch]$|\/testing\.[ch]$/
		line = $0
		sub(/^[^:]*:[^:]*:/, "", line)
		if (!match(line, /["<][^">]*[">]/)) {
			breach("an include that is not a plain header name")
			next
		}
		header = substr(line, RSTART + 1, RLENGTH - 2)
		if (substr(line, RSTART, 1) == "\"") {
			target = room_of(header)
			if (header !~ /\// && room != "mk/emit" && header != "module.h") # which are built elsewhere
				breach(header ": includes of ours are written from the root")
			else if (!((room, target) in may) && !((room, header) in may) &&
				 !(test && (target == "public" || (room ~ /^mk/ && target ~ /^mk/))))
				breach(room " may not include " header)
			else if (header ~ /\/testing\.h$/ && !test)
				breach(header " outside of a test")
		} else if (header == "cmocka.h") {
			if (!test)
				breach("cmocka outside of a test")
		} else if (header in third) {
			if (!((room, header) in may))
				breach("<" header "> does not belong in " room)
		} else if (!(header in libc)) {
			breach("<" header "> is neither libc nor a library named in check_layers.sh")
		}
	}
	END { if (!NR) print "no sources found"; exit bad || !NR }'
