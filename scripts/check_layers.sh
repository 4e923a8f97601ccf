#!/bin/sh
# Checks by the #include lines who may include whom (ARCHITECTURE.md, "The house").
#
#   scripts/check_layers.sh
#
# Prints each breach as FILE:LINE: why; exit status 1 if there is one.
# Headers in libsymcache/include/ are for others: of ours, api/ and the scripts alone
# include them, as others do. Tests (x_test.[ch], x_fuzz.c and what they share,
# testing.[ch]) may also include cmocka, the faces of all rooms, and what is for tests there.
# A header of a library that is not named below is a breach: name it here, in
# the one place where it belongs. Programs that tests look into (testdata) are no part of
# the house.
set -u
cd "$(dirname "$0")/.."

bad=0
for f in libsymcache/include/*; do
	grep -q "^API_HEADERS := .*\<${f##*/}\>" Makefile ||
		{ echo "$f: is not installed: a room's header stands in the room"; bad=1; }
done

# What is true of an output form is a member of struct markup_form.
if grep -rnE '(==|!=) *MARKUP_(TEXT_OUT|JSON|HTML)' cmd libmarkup libsymcache --include='*.[ch]' |
	grep -v '_\(test\|fuzz\)\.c:'; then
	echo "(a fact of a form: a member of struct markup_form)"
	bad=1
fi

# What a module is, and what a frame is, has few structs. Those of the installed headers and of
# tests are not counted, nor an image in bytes, as format/ has it.
ideas='markup_module mk_module symcache_module symcache_image
	sc_frame symcache_raw_frame symcache_frame_ids symcache_unwind_frame prof_frame
	symtrace_frame'                        # a trace frame: what was collected at one time
for found in $(grep -rnE '^[[:space:]]*struct ([a-z_]*_)?(frame|frame_ids|module|image) \{' \
		cmd libmarkup libsymcache --include='*.[ch]' |
	grep -vE '^libsymcache/include/|_test\.c:|/plain_cache\.h:' | sed 's/[[:space:]]*struct \(.*\) {.*/\1/'); do
	case " $(echo $ideas) " in
	*" ${found##*:} "*) ;;
	*) echo "$found: one more struct for a module or a frame: use one of $(echo $ideas)"; bad=1 ;;
	esac
done

# What libmarkup asks for is few functions.
asked=$(awk '/^struct markup_resolver \{/, /^};/' libmarkup/markup.h | grep -c '(\*')
[ "$asked" -le 8 ] && [ "$asked" -gt 0 ] ||
	{ echo "libmarkup/markup.h: struct markup_resolver has $asked functions, more than 8, or is elsewhere"; bad=1; }

# Errors have codes.
if grep -rnE '(strstr|str(n|case|ncase)?cmp|fnmatch)\([^;]*(->|\.)msg\b' cmd libmarkup libsymcache --include='*.[ch]' |
	grep -v '_\(test\|fuzz\)\.[ch]:\|/testing\.h:'; then
	echo "(the text of a message is read: give the error a code)"
	bad=1
fi

find cmd format libmarkup libsymcache scripts -name '*.[ch]' | sort |
	xargs grep -nE '^[[:space:]]*#[[:space:]]*include' |
	awk -F: '
	# The room of a file: its folders, but for those of cmd, which is one room. Those of
	# libmarkup begin with "mk/"; what is not in a folder there is "mk".
	function room_of(path, part, n) {
		n = split(path, part, "/")
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
	# faces ROOM HEADER...: the headers that are for other rooms; of a room that is not
	# named so, all are.
	function faces(room, headers) {
		set(headers, tmp)
		for (w in tmp)
			face[room, w] = 1
		has_faces[room] = 1
		delete tmp
	}
	# own ROOM WHAT...: rooms whose faces ROOM may include, and single headers.
	function own(room, what) { set(what, tmp); for (w in tmp) may[room, w] = 1; delete tmp; may[room, room] = 1 }
	# lib HEADER ROOMS: a header of a library, and who may include it.
	function lib(header, rooms) { third[header] = 1; set(rooms, tmp); for (w in tmp) may[w, header] = 1; delete tmp }
	BEGIN {
		faces("archive", "archive.h inflate.h")
		faces("read", "read.h rows.h guard.h")
		faces("packed", "packed.h")
		faces("unwind", "unwind.h merge.h")
		faces("store", "store.h misses.h upkeep.h")
		faces("write", "build.h explain.h locals.h only_names.h sources.h")
		faces("transforms", "transforms.h")
		faces("bundle", "bundle.h sites.h")
		faces("index", "index.h check.h debuginfod.h")
		faces("symbolize", "symbolize.h caches.h demangle.h debug_files.h finder.h perf_map.h places.h process.h reverse.h")
		faces("core", "core.h")
		faces("trace", "trace.h collected.h")
		faces("logs", "logs.h resolver.h")
		faces("profile", "profile.h")
		faces("answers", "answers.h")
		faces("report", "report.h")
		faces("plan", "plan.h")
		faces("mk", "markup.h emit.h")

		own("format", ""); own("include", "")
		own("base", "format")
		own("elf", "base")
		own("dwarf", "base")
		own("archive", "base")
		own("packed", "format base")
		own("read", "packed format base libsymcache/dwarf/expression.h")
		own("unwind", "read format base libsymcache/dwarf/expression.h")
		own("store", "packed read unwind format base libmarkup/bytes/json.h")
		own("write/flatten", "dwarf base format")
		own("write/input", "write/flatten elf dwarf base libsymcache/write/build.h")
		own("write/image", "write/flatten elf dwarf base format libsymcache/unwind/rows.h libsymcache/write/build.h")
		own("write", "write/input write/flatten write/image read elf dwarf base format")
		own("transforms", "write read base")
		own("bundle", "packed store archive write base libmarkup/bytes/json.h")
		own("index", "bundle store write archive libsymcache/archive/nested.h base")
		own("symbolize", "bundle unwind index libsymcache/index/content.h transforms write store read base")
		own("core", "symbolize unwind archive base libmarkup/input/maps.h")
		own("trace", "symbolize unwind base")
		own("logs", "core symbolize libsymcache/symbolize/module.h libsymcache/symbolize/symbolizer.h unwind store plan archive base mk libmarkup/bytes/out.h")
		own("profile", "libsymcache/dwarf/cursor.h symbolize unwind archive base mk/bytes libmarkup/input/maps.h libmarkup/output/html/page.h")
		own("plan", "write base mk mk/bytes")
		own("answers", "symbolize write base mk mk/bytes")
		own("report", "core trace symbolize unwind store read base mk/bytes libmarkup/output/html/page.h")
		own("api", "libmarkup/input/maps.h core trace logs profile bundle index symbolize libsymcache/symbolize/name_list.h libsymcache/symbolize/symbolizer.h packed unwind write base")
		own("cmd", "packed answers report profile plan logs bundle index transforms symbolize store write read format mk mk/bytes " \
		    "libsymcache/base/build_id.h libsymcache/base/cleanup.h libsymcache/base/error.h " \
		    "libsymcache/base/file.h libsymcache/base/hash.h libsymcache/base/parallel.h libsymcache/base/process.h libsymcache/base/text.h libsymcache/base/utf8.h " \
		    "libsymcache/base/vec.h")
		own("scripts", "packed store read libsymcache/write/first_check.h format module.h error.h")

		# libmarkup: over base alone, of which it needs little.
		own("mk", "mk/bytes libsymcache/base/frame.h libsymcache/base/str.h")
		own("mk/bytes", "libmarkup/markup.h libsymcache/base/error.h libsymcache/base/str.h libsymcache/base/text.h libsymcache/base/utf8.h")
		own("mk/input", "mk libmarkup/event.h mk/bytes")
		own("mk/resolve", "mk libmarkup/event.h mk/bytes libmarkup/input/input.h libsymcache/base/error.h libsymcache/base/vec.h")
		own("mk/output", "mk mk/bytes mk/resolve libsymcache/base/utf8.h libsymcache/base/vec.h")
		own("mk/filter", "mk mk/bytes libmarkup/input/input.h mk/resolve mk/output libsymcache/base/error.h libsymcache/base/parallel.h")
		own("mk/emit", "../emit.h parts.h")
		lib("lmdb.h", "store"); lib("symcache.h", "api include scripts"); lib("Python.h", "scripts"); lib("symcache-build.h", "api scripts"); lib("symcache-find.h", "api scripts"); lib("symcache-filter.h", "api scripts"); lib("symcache-process.h", "api include scripts"); lib("symcache-stack.h", "api include scripts"); lib("archive.h", "archive"); lib("archive_entry.h", "archive")
		lib("libelf.h", "elf dwarf"); lib("gelf.h", "elf dwarf"); lib("dwarf.h", "elf dwarf")
		lib("elfutils/libdw.h", "elf dwarf"); lib("elfutils/libdwfl.h", "elf dwarf")
		lib("elfutils/libdwelf.h", "elf dwarf"); lib("elfutils/known-dwarf.h", "dwarf")
		lib("libdeflate.h", "elf profile"); lib("isa-l/igzip_lib.h", "elf archive"); lib("zstd.h", "elf archive packed"); lib("zstd_errors.h", "packed"); lib("lzma.h", "elf archive"); lib("zlib.h", "archive")
		lib("xxhash.h", "base trace elf dwarf write/flatten write/image write/input write read store bundle index transforms symbolize unwind plan logs profile packed")
		lib("xxh_x86dispatch.h", "base")
		lib("libiberty/demangle.h", "symbolize"); 
		lib("yajl/yajl_parse.h", "base"); lib("sodium.h", "bundle")
		lib("unwind.h", "mk/emit unwind") # of the compiler
		lib("expat.h", "trace")
		set("assert.h byteswap.h ctype.h dirent.h dlfcn.h elf.h endian.h err.h errno.h " \
		    "fcntl.h fenv.h float.h fnmatch.h fts.h ftw.h getopt.h glob.h grp.h inttypes.h iso646.h " \
		    "langinfo.h libgen.h limits.h link.h locale.h malloc.h math.h netinet/in.h poll.h pthread.h pty.h " \
		    "pwd.h regex.h sched.h search.h semaphore.h setjmp.h signal.h spawn.h stdalign.h " \
		    "stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdio_ext.h stdlib.h " \
		    "stdnoreturn.h string.h strings.h sys/auxv.h sys/file.h sys/ioctl.h sys/mman.h sys/mount.h sys/param.h sys/prctl.h sys/ptrace.h " \
		    "sys/random.h sys/resource.h sys/select.h sys/sendfile.h sys/socket.h sys/stat.h " \
		    "sys/statfs.h sys/statvfs.h sys/syscall.h sys/time.h sys/types.h sys/uio.h sys/un.h sys/vfs.h " \
		    "sys/wait.h sysexits.h termios.h threads.h time.h uchar.h ucontext.h unistd.h " \
		    "wchar.h wctype.h immintrin.h emmintrin.h x86intrin.h arm_neon.h linux/perf_event.h", libc)
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
			name = header
			sub(/.*\//, "", name)
			shown = !(target in has_faces) || (target, name) in face
			for_tests = name == "testing.h" || name ~ /_test\.h$/
			if (header !~ /\// && room != "mk/emit" && header !~ /^(module|error)\.h$/) # built elsewhere
				breach(header ": includes of ours are written from the root")
			else if (room != target && !((room, target) in may && shown) && !((room, header) in may) &&
				 !(test && (for_tests || (target in has_faces && shown) || (room ~ /^mk/ && target ~ /^mk/))))
				breach(room " may not include " header)
			else if (for_tests && !test)
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
	END { if (!NR) print "no sources found"; exit bad || !NR }' && [ $bad = 0 ]
