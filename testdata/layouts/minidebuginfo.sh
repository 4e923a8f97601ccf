# minidebuginfo.sh PROGRAM RESULT: as Fedora builds it, the symbols of functions that
# .dynsym lacks, in a stripped copy of the file, packed with xz.
set -e
nm -D "$1" --format=posix --defined-only | awk '{print $1}' | sort > "$2.dynamic"
nm "$1" --format=posix --defined-only | awk '$2 ~ /[Tt]/ {print $1}' | sort > "$2.functions"
comm -13 "$2.dynamic" "$2.functions" > "$2.keep"
objcopy --only-keep-debug "$1" "$2.mini"
objcopy -S --remove-section .gdb_index --remove-section .comment \
	--keep-symbols="$2.keep" "$2.mini"
rm -f "$2.mini.xz"
xz -k "$2.mini"
objcopy --strip-all --add-section .gnu_debugdata="$2.mini.xz" "$1" "$2"
