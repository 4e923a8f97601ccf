#!/bin/bash
# LLVM 19's own tests of llvm-symbolizer and llvm-addr2line, run on our program.
#
#   scripts/llvm_tests.sh PROGRAM [--real] [TEST...]
#
# They are in Debian's source package of llvm-toolchain-19, 165 MB, which is fetched and unpacked in
# part, once, into build/llvm; LLVM's other tools and its test runner come from llvm-19-tools
# (scripts/deps.sh clients). --real runs them on LLVM's tools. What fails and why is in
# testdata/accepted-differences.md. The last line is "N passed, N failed, N skipped".
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${1:?usage: scripts/llvm_tests.sh PROGRAM [--real] [TEST...]}")
shift
tools=$root/build/llvm/tools
[ "${1:-}" != --real ] || { shift; tools=; }
lit=/usr/lib/llvm-19/build/utils/lit/lit.py
for need in $lit /usr/lib/llvm-19/bin/{FileCheck,llvm-mc,llc,yaml2obj,split-file}; do
	[ -e $need ] || { echo "skipped: there is no $need"; echo "0 passed, 0 failed, 1 skipped"; exit; }
done
mkdir -p "$root/build/llvm/tools" && cd "$root/build/llvm" || exit 2

if [ ! -d src ]; then
	mkdir -p apt/lists/partial apt/cache/archives/partial tmp
	. /etc/os-release
	echo "deb-src $("$root/scripts/mirror.sh") $VERSION_CODENAME main" > apt/sources.list
	security=$("$root/scripts/mirror.sh" security) &&
		echo "deb-src $security $VERSION_CODENAME-security main" >> apt/sources.list
	apt="apt-get -o Dir::Etc::sourcelist=$PWD/apt/sources.list -o Dir::Etc::sourceparts=-
		-o Dir::State::lists=$PWD/apt/lists -o Dir::Cache=$PWD/apt/cache -q"
	# shellcheck disable=SC2086
	if ! { $apt update && (cd tmp && $apt source --download-only llvm-toolchain-19); } > apt/log 2>&1; then
		echo "skipped: the source package cannot be fetched: $(tail -n 1 apt/log)"
		echo "0 passed, 0 failed, 1 skipped"
		exit
	fi
	tar xJf tmp/*.orig.tar.xz -C tmp --strip-components=1 --wildcards '*/llvm/test/tools/llvm-symbolizer/*' \
		'*/llvm/test/DebugInfo/*' '*/llvm/test/tools/dsymutil/Inputs/*' '*/llvm/test/Object/Inputs/*' || exit 2
	rm -f tmp/*.orig.tar.xz
	mv tmp src
fi
ln -sf "$program" tools/llvm-symbolizer
ln -sf "$program" tools/llvm-addr2line

# What lit.site.cfg.py would say of a build of LLVM.
cat > src/llvm/test/lit.cfg.py << EOF
import lit.formats
config.name = "symbolizer"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".ll", ".c", ".test", ".s", ".yaml"]
config.excludes = ["Inputs"]
config.test_source_root = "$PWD/src/llvm/test"
config.test_exec_root = "$PWD/out"
targets = "X86 AArch64 ARM Mips PowerPC RISCV SystemZ WebAssembly".split()
config.targets = config.root.targets = frozenset(targets)
config.targets_to_build = config.targets
config.have_dia_sdk = False
config.host_triple = config.target_triple = "x86_64-pc-linux-gnu"
config.available_features |= {t.lower() + "-registered-target" for t in targets}
config.available_features |= {"x86_64-linux", "default_triple", "native", "zlib", "zstd", "shell",
                              "system-linux", "object-emission", "curl", "can-execute", "symlinks"}
config.environment["PATH"] = "${tools:+$tools:}/usr/lib/llvm-19/bin:$PATH"
config.environment["SYMCACHE_STORE"] = "$PWD/none/store"
config.substitutions += [("%python", "python3"), ("%llvm_src_root", "$PWD/src/llvm"),
                         ("%llc_dwarf", "llc"), ("%errc_ENOENT", "'No such file or directory'"),
                         ("%errc_EISDIR", "'Is a directory'"), ("%errc_EINVAL", "'Invalid argument'")]
EOF
cd src || exit 2
[ $# -gt 0 ] || set -- $(grep -rlE 'llvm-symbolizer|llvm-addr2line' llvm/test --include='*.ll' --include='*.c' \
	--include='*.test' --include='*.s' --include='*.yaml' | grep -v Inputs/ | LC_ALL=C sort)
python3 $lit -j"$(nproc)" "$@" > ../log 2>&1
grep -E '^(FAIL|UNSUPPORTED|UNRESOLVED|TIMEOUT|XPASS): ' ../log | sed 's/ (.*//; s/symbolizer :: //' | LC_ALL=C sort
passed=$(sed -n 's/^ *Passed *: *\([0-9]*\).*/\1/p' ../log)
failed=$(sed -n 's/^ *Failed *: *\([0-9]*\).*/\1/p' ../log)
skipped=$(sed -n 's/^ *Unsupported *: *\([0-9]*\).*/\1/p' ../log)
echo "${passed:-0} passed, ${failed:-0} failed, ${skipped:-0} skipped"
