# symcache: one non-recursive Makefile. `make help` lists the targets.
#
# MODE picks the flavour of the build, each in its own folder build/MODE:
#   release  what users run
#   asan     address and undefined-behaviour sanitizers, asserts on
#   tsan     the thread sanitizer, asserts on
#   fuzz     the same, for libFuzzer: `make fuzz`
#   portable with libc as the only library that is linked dynamically: `make dist-bin`
CC      ?= gcc
MODE    ?= release
OBJCOPY ?= objcopy
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
VERSION := $(shell sed -n 's/.*"symcache \(.*\)".*/\1/p' libsymcache/write/version.c)
O       := build/$(MODE)
$(if $(filter release asan tsan fuzz portable,$(MODE)),,$(error MODE is release, asan, tsan, fuzz or portable, not '$(MODE)'))

comma := ,
# One short line for each step; V=1 shows the commands.
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2);)

CSTD     := -std=gnu11
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Wno-missing-field-initializers
CPPFLAGS += -I. -Ilibsymcache/include -D_GNU_SOURCE
CFLAGS   ?= -g
ALL_CFLAGS = $(CSTD) -fvisibility=hidden '-ffile-prefix-map=$(CURDIR)=.' $(WARN) $(CPPFLAGS) $(MODE_CFLAGS) $(CFLAGS) -MMD -MP
# What a compiler does against mistakes in memory, as distributions have it.
HARDENING := -fPIC -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 \
             $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),-fcf-protection)
# Records of four numbers are faster written one by one than put together in a register.
MODE_CFLAGS_release := -O2 -fno-tree-slp-vectorize $(HARDENING)
MODE_CFLAGS_asan    := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
MODE_CFLAGS_tsan    := -O1 -fno-omit-frame-pointer -fsanitize=thread
MODE_CFLAGS_fuzz    := $(MODE_CFLAGS_asan) -fsanitize=fuzzer-no-link
MODE_CFLAGS_portable := $(MODE_CFLAGS_release) -DSC_PORTABLE
MODE_CFLAGS := $(MODE_CFLAGS_$(MODE))
MODE_LDFLAGS_release := -pie -Wl,-z,relro,-z,now
MODE_LDFLAGS_portable := $(MODE_LDFLAGS_release) -static-libgcc
MODE_LDFLAGS := $(MODE_LDFLAGS_$(MODE))
# Static where scripts/deps.sh found that it can be: a run loads four libraries instead of
# sixteen, and a look-up takes two thirds of the time.
LDLIBS  += -Wl,--gc-sections -Wl,-Bstatic -Wl,--start-group $(STATIC_LIBS) \
           -Wl,--end-group -Wl,-Bdynamic $(DYNAMIC_LIBS)

# build/deps.mk is written by scripts/deps.sh once the packages are there, those
# of the goal too, so that whoever must install them is asked once; make then
# starts over with its settings.
GOALS := $(or $(MAKECMDGOALS),all)
ifneq ($(filter-out help clean,$(GOALS)),)
ifeq ($(shell mkdir -p build 2> /dev/null && test -w build && echo yes),)
$(error this folder cannot be written to: make a copy, 'git clone $(CURDIR) DIR', and run make there)
endif
include build/deps.mk
endif
ifeq ($(MODE),portable)
STATIC_LIBS += -lxxhash
DYNAMIC_LIBS :=
endif
build/deps.mk: scripts/deps.sh
	@mkdir -p build
	@scripts/deps.sh build $(filter test layouts demo bench accuracy fuzz,$(GOALS)) > $@.tmp && mv $@.tmp $@

# ---- sources: every folder's *.c, but for unit tests and fuzz targets --------
LIB_ALL  := $(sort $(foreach d,libmarkup libsymcache,$(wildcard $(d)/*.c $(d)/*/*.c $(d)/*/*/*.c)))
CMD_ALL  := $(sort $(wildcard cmd/*.c cmd/*/*.c))
LIB_SRC  := $(filter-out %_test.c %_fuzz.c,$(LIB_ALL))
CMD_SRC  := $(filter-out %_test.c %_fuzz.c,$(CMD_ALL))
TEST_SRC := $(filter %_test.c,$(LIB_ALL) $(CMD_ALL))
FUZZ_SRC := $(filter %_fuzz.c,$(LIB_ALL) $(CMD_ALL))
objs = $(patsubst %.c,$(O)/%.o,$(1))

LIB   := $(O)/libsymcache.a
PROG  := $(O)/symcache
TESTS := $(patsubst %.c,$(O)/%,$(TEST_SRC))

.DEFAULT_GOAL := all
.PHONY: FORCE all asan test unit golden layouts fuzz bench accuracy clients llvm-tests demo man install clean help

all: $(PROG) ## build the program: build/release/symcache

asan: ## build with address and undefined-behaviour sanitizers: build/asan/symcache
	@$(MAKE) --no-print-directory MODE=asan all

$(O)/%.o: %.c build/deps.mk
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/libsymcache/symbolize/%.o: CPPFLAGS += $(DEMANGLE_CFLAGS)

# The demanglers take their memory from libsymcache/symbolize/demangle.c, which bounds it, and
# come back to it instead of printing and ending the process. The
# new name of __cxa_demangle keeps libstdc++'s out, which sanitizers bring along.
DEMANGLE_AR := $(addprefix build/demangle/,$(notdir $(DEMANGLE_LIBS)))
DEMANGLE_RENAME := $(foreach f,malloc calloc realloc free xmalloc xrealloc,--redefine-sym $(f)=demangle_$(f)) \
	--redefine-sym __cxa_demangle=demangle_cxx --redefine-sym abort=demangle_abort \
	--redefine-sym abort_message=demangle_abort_message
build/demangle/%.a: build/deps.mk Makefile
	@mkdir -p $(@D)
	$(call say,OBJCOPY,$@)$(OBJCOPY) $(DEMANGLE_RENAME) $(filter %/$(@F),$(DEMANGLE_LIBS)) $@

# ---- the libraries: symcache.h and symcache-build.h ---------------------------
# Each has the code it needs; what a process has one of (the files of stores) is in the
# first alone. Linked dynamically, as a program that has its own of these must find ours.
SO      := $(O)/libsymcache.so.1
SOBUILD := $(O)/libsymcache-build.so.1
API     := $(addprefix $(O)/libsymcache/api/,cache.o error.o filter.o filter_set.o kernel.o locals.o packed.o resolver.o reverse.o snapshot.o space.o space_maps.o space_process.o store.o walk.o \
		write.o)
APIBUILD := $(addprefix $(O)/libsymcache/api/,build.o bundle.o files.o profile.o sources.o stacks.o)
SODEFS_release := -Wl,-z,defs
SODEFS_portable := -Wl,-z,defs
# Debian's libarchive.so brings libxml2 and 31 MB of ICU along, of which we need nothing.
SOARCHIVE := $(if $(filter portable,$(MODE)),-Wl$(comma)-Bstatic -larchive -lnettle -Wl$(comma)-Bdynamic -Wl$(comma)--as-needed -llz4 -lbz2,-larchive)
MODE_SOFLAGS := -shared $(filter-out -pie,$(MODE_LDFLAGS)) -Wl,--gc-sections -Wl,-O1 \
	-Wl,--exclude-libs,ALL $(SODEFS_$(MODE))
$(SO): $(API) $(LIB) $(DEMANGLE_AR) libsymcache/api/libsymcache.map
	$(call say,LD,$@)$(CC) $(MODE_CFLAGS) $(CFLAGS) $(MODE_SOFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) \
		-Wl,--version-script=$(filter %.map,$^) -o $@ $(API) $(LIB) $(DEMANGLE_AR) -llmdb -lzstd -lxxhash -lpthread
	@ln -sf $(@F) $(basename $@)
$(SOBUILD): $(APIBUILD) $(SO) $(LIB) $(DEMANGLE_AR) libsymcache/api/libsymcache-build.map
	$(call say,LD,$@)$(CC) $(MODE_CFLAGS) $(CFLAGS) $(MODE_SOFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) \
		-Wl,--version-script=$(filter %.map,$^) -o $@ $(APIBUILD) $(SO) $(LIB) $(DEMANGLE_AR) \
		$(SOARCHIVE) -Wl,--as-needed -ldw -lelf -lexpat -lyajl -lsodium -ldeflate -lzstd -llzma -lz -llmdb -lxxhash \
		$(filter -lisal,$(STATIC_LIBS) $(DYNAMIC_LIBS)) -lpthread
	@ln -sf $(@F) $(basename $@)

# Manual pages of section 3 out of the headers' comments, and of section 5.
API_HEADERS := $(addprefix libsymcache/include/,symcache.h symcache-find.h symcache-process.h symcache-filter.h symcache-build.h symcache-stack.h)
PAGES5 := format/symcache.5 format/symcache-store.5
DATE = $(shell date -u $(if $(SOURCE_DATE_EPOCH),-d @$(SOURCE_DATE_EPOCH)) +%Y-%m-%d)
$(O)/libman/made: $(API_HEADERS) scripts/man3.awk $(PAGES5)
	@rm -rf $(@D)
	@mkdir -p $(@D)/man3 $(@D)/man5
	$(call say,MAN,$(@D))for h in $(API_HEADERS); do LC_ALL=C awk -f scripts/man3.awk \
		-v out=$(@D)/man3 -v version=$(VERSION) -v date=$(DATE) $$h || exit; done
	@for p in $(PAGES5); do sed 's/@VERSION@/$(VERSION)/; s/@DATE@/$(DATE)/' $$p > $(@D)/man5/$${p##*/}; done
	@touch $@

# Python's module, on the limited API: one binary for all versions from 3.11 on.
PYTHON ?= python3
PYDIR := $(O)/python/symcache
PYFLAGS = -shared -fPIC -DPy_LIMITED_API=0x030b0000 -I$(shell $(PYTHON) -c 'import sysconfig; \
	print(sysconfig.get_path("include"))') -Ilibsymcache/include -std=gnu11 $(WARN) \
	-Wno-missing-prototypes -fvisibility=hidden '-ffile-prefix-map=$(CURDIR)=.' $(MODE_CFLAGS) $(CFLAGS)
PYSRC := $(addprefix scripts/python/,module.c store.c cache.c filter.c find.c locals.c process.c)
python-headers:
	@$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") \
		+ "/Python.h"))' 2> /dev/null || scripts/deps.sh python > /dev/null
.PHONY: python-headers
$(PYDIR)/_symcache.abi3.so: $(PYSRC) scripts/python/module.h scripts/python/error.h $(SO) | python-headers
	@mkdir -p $(@D)
	$(call say,PYTHON,$@)$(CC) $(PYFLAGS) $(filter-out -pie,$(MODE_LDFLAGS)) $(LDFLAGS) -o $@ $(PYSRC) $(SO)
$(PYDIR)/_build.abi3.so: scripts/python/build.c scripts/python/error.h $(SOBUILD) | python-headers
	@mkdir -p $(@D)
	$(call say,PYTHON,$@)$(CC) $(PYFLAGS) $(filter-out -pie,$(MODE_LDFLAGS)) $(LDFLAGS) -o $@ $< $(SOBUILD) $(SO)
python: $(PYDIR)/_symcache.abi3.so $(PYDIR)/_build.abi3.so ## build Python's module: build/release/python (python3-dev)
	@cp scripts/python/symcache/*.py* scripts/python/symcache/py.typed $(PYDIR)
# Where that Python looks below PREFIX: on Debian the two differ for /usr and /usr/local.
PYTHONDIR ?= $(shell $(PYTHON) -c 'import site, sys; v = "%d.%d" % sys.version_info[:2]; \
	print(next((d for d in site.getsitepackages() if d.startswith("$(PREFIX)/lib/")), \
	"$(PREFIX)/lib/python" + v + "/site-packages"))')
install-python: python
	install -d $(DESTDIR)$(PYTHONDIR)/symcache
	install -m 644 $(wildcard $(PYDIR)/*.abi3.so) scripts/python/symcache/*.py* \
		scripts/python/symcache/py.typed $(DESTDIR)$(PYTHONDIR)/symcache
	@$(is_found)
.PHONY: python install-python

wheel: ## make a wheel of Python's module that needs glibc alone: build/*.whl (pip, patchelf)
	@scripts/deps.sh wheel > /dev/null
	@unset MAKEFLAGS MAKELEVEL MFLAGS; $(PYTHON) -m pip wheel -q --no-index -w build scripts/python
	@ls build/*.whl
.PHONY: wheel

lib: $(SO) $(SOBUILD) ## build the shared libraries: build/release/libsymcache.so.1
.PHONY: lib

# The styles and scripts of pages: put together, without comments, indents and newlines that are
# not needed, and the hashes that the policy of a page names.
PAGES := log groups core profile
PAGE_DIR := libmarkup/output/html
STYLE_log := base.css rows.css log.css
STYLE_core := base.css rows.css core.css
STYLE_groups := base.css groups.css
STYLE_profile := base.css profile.css
SCRIPT_log := base.js find.js rows.js
SCRIPT_core := base.js find.js rows.js
SCRIPT_groups := base.js find.js groups.js
SCRIPT_profile := base.js profile.js
SQUEEZE := sed -e 's/^[\t ]*//' -e '/^\/\*.*\*\/$$/d' -e '/^\/\*/,/\*\/$$/d' -e '/^$$/d' | \
	sed -z -e 's/\([;{,(]\)\n/\1/g' -e 's/\n}/}/g' -e 's/;}/}/g' -e 's/) {/){/g'
define page
build/pages/$(1).style: $(addprefix $(PAGE_DIR)/,$(STYLE_$(1)))
	@mkdir -p $$(@D)
	@cat $$^ | $$(SQUEEZE) | tr -d '\n' > $$@
build/pages/$(1).script: $(addprefix $(PAGE_DIR)/,$(SCRIPT_$(1)))
	@mkdir -p $$(@D)
	@{ echo '"use strict";(()=>{'; cat $$^ | $$(SQUEEZE); echo '})();'; } > $$@
endef
$(foreach p,$(PAGES),$(eval $(call page,$(p))))
build/pages/%.hash: build/pages/%
	@printf 'sha256-%s' $$(sha256sum < $< | cut -c1-64 | tr a-f A-F | basenc -d --base16 | base64) > $@
# Embedded with .incbin, which the compiler does not report to make.
$(O)/libmarkup/output/html/page.o: $(foreach p,$(PAGES),$(addprefix build/pages/$(p),.style .style.hash .script .script.hash))

$(LIB): $(call objs,$(LIB_SRC)) $(O)/members
	@rm -f $@
	$(call say,AR,$@)$(AR) rcsD $@ $(filter %.o,$^)

# Which sources there are: one that is gone takes its object along.
$(O)/members: FORCE
	@mkdir -p $(@D)
	@echo $(LIB_SRC) | cmp -s - $@ || echo $(LIB_SRC) > $@
FORCE:

$(PROG): $(call objs,$(CMD_SRC)) $(LIB) $(DEMANGLE_AR)
	$(call say,LD,$@)$(CC) $(MODE_CFLAGS) $(CFLAGS) $(MODE_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
	@echo "  built   $@; linked dynamically: $(or $(DYNAMIC_LIBS),libc alone)"

# The tests of cmd/ get its objects too, but for the one with main().
CMD_OBJS := $(filter-out $(O)/cmd/main.o,$(call objs,$(CMD_SRC)))
$(filter $(O)/cmd/%,$(TESTS)): $(CMD_OBJS)
$(TESTS): $(O)/%: $(O)/%.o $(LIB) $(DEMANGLE_AR)
	$(call say,LD,$@)$(CC) $(MODE_CFLAGS) $(CFLAGS) $(MODE_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) \
		-lcmocka $(DEMANGLE_AR) $(LDLIBS)

# The fuzz targets: under libFuzzer's main(), which only clang has, or under one that
# feeds them files, so that tests replay the corpora whatever the compiler.
REPLAYS := $(patsubst %.c,$(O)/%,$(FUZZ_SRC))
FUZZ_MAIN := $(if $(filter fuzz,$(MODE)),,$(O)/scripts/fuzz_replay.o)
FUZZ_LINK := $(if $(FUZZ_MAIN),,-fsanitize=fuzzer)
$(filter $(O)/cmd/%,$(REPLAYS)): $(CMD_OBJS)
$(REPLAYS): $(O)/%: $(O)/%.o $(FUZZ_MAIN) $(LIB) $(DEMANGLE_AR)
	$(call say,LD,$@)$(CC) $(MODE_CFLAGS) $(FUZZ_LINK) $(CFLAGS) $(MODE_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) \
		$(DEMANGLE_AR) $(LDLIBS)

test: ## set up and run every test: unit, golden, layouts, layers, fuzz corpus, calls that fail
	@scripts/deps.sh test > /dev/null
	@$(MAKE) --no-print-directory all testbins
	@scripts/run_tests.sh $(O)

unit: all testbins ## the unit tests alone
	@scripts/run_tests.sh $(O) unit

golden: all ## the command-line tests alone
	@scripts/run_tests.sh $(O) golden

coverage: ## which lines no test runs, by room, by gcov: build/coverage (COVERAGE=--table: into CONTRIBUTING.md)
	@scripts/deps.sh test > /dev/null
	@scripts/coverage.py $(COVERAGE)

mutants: all testbins ## changes of one place that a room's tests do not notice (MUTANTS="--seed 7 libsymcache/core")
	@scripts/mutants.py $(O) $(or $(MUTANTS),libsymcache/unwind)
.PHONY: coverage mutants

layouts: all ## every debug layout, with compilers for other machines and languages
	@scripts/deps.sh layouts > /dev/null
	@scripts/layouts.py $(PROG)

replays: $(REPLAYS)
testbins: $(TESTS) $(REPLAYS)
.PHONY: replays testbins torture batch

# ---- fuzzing: one libFuzzer program per *_fuzz.c (clang) ---------------------
FUZZ_CC ?= clang
FUZZ_BINS ?= replays
fuzz: ## build the libFuzzer targets: build/fuzz/*/*/*_fuzz (clang)
	@scripts/deps.sh fuzz > /dev/null
	@$(MAKE) --no-print-directory MODE=fuzz CC=$(FUZZ_CC) $(FUZZ_BINS)

fuzz-long: fuzz ## every fuzz target for ten minutes, several side by side (FUZZ_SECONDS=600)
	@scripts/fuzz_long.sh build/fuzz $(or $(FUZZ_SECONDS),600)
.PHONY: fuzz-long

torture: all testbins ## kill it at random moments, 500 times; fill the disk; huge stores
	@scripts/torture.sh $(O)

batch: all ## an archive on many machines: Slurm, GNU parallel, Dask, and all that may die
	@scripts/deps.sh batch > /dev/null || true # what is missing is skipped
	@scripts/batch_test.sh $(PROG) $(BATCH)

test-arm64: ## build for AArch64 and run tests under qemu-user (a cross compiler)
	@scripts/arm64.sh
.PHONY: test-arm64

test-old: all ## programs of earlier commits, built here, and this one read each other's stores
	@scripts/old_programs.sh $(PROG) $(OLD)
.PHONY: test-old

chroot-test: ## run README's lines and make test in a fresh Debian 12 and 13 (root, debootstrap; SUITES=trixie)
	@scripts/deps.sh chroot > /dev/null
	@for suite in $(or $(SUITES),bookworm trixie); do \
		scripts/chroot_test.sh $$suite -- scripts/readme_test.sh && \
		scripts/chroot_test.sh $(if $(wildcard ../shared),-b ../shared:/srv/shared) $$suite || exit; done
.PHONY: chroot-test

bench: all ## measure side by side with LLVM's tools (BENCH=--quick: a minute)
	@scripts/deps.sh bench > /dev/null
	@scripts/bench.sh $(PROG) $(BENCH)

clients: all ## run sanitizers, perf, pprof, ... with our program in place of their symbolizer
	@scripts/deps.sh clients > /dev/null || true
	@scripts/clients.py $(PROG)
	@scripts/addr2line_diff.py $(PROG) --count 500 $(wildcard /lib/x86_64-linux-gnu/lib[cm].so.6 \
		/usr/lib/x86_64-linux-gnu/libstdc++.so.6)

llvm-tests: all ## run LLVM's own tests of llvm-symbolizer on ours (fetches them: 165 MB)
	@scripts/deps.sh clients > /dev/null || true
	@scripts/llvm_tests.sh $(PROG)

$(O)/scripts/first_check: $(O)/scripts/first_check.o $(LIB) $(DEMANGLE_AR)
	$(call say,LD,$@)$(CC) $(MODE_CFLAGS) $(CFLAGS) $(MODE_LDFLAGS) $(LDFLAGS) -o $@ $< $(LIB) \
		$(DEMANGLE_AR) $(LDLIBS)

accuracy: all $(O)/scripts/first_check ## compare with LLVM's tools and gdb, address by address (ACCURACY=--fetch)
	@scripts/deps.sh accuracy > /dev/null
	@scripts/accuracy.sh $(PROG) $(ACCURACY)

demo: all ## crash a real C++ program and symbolize its log
	@scripts/deps.sh demo > /dev/null
	@scripts/demo.sh $(PROG)

# Man pages and completions, made by the program from its tables of options.
SHARE := $(O)/share
COMMANDS := $(shell sed -n 's/^\tX(\([a-z]*\)).*/\1/p' cmd/cmd.h)
$(SHARE)/made: $(PROG)
	@rm -rf $(SHARE)
	@mkdir -p $(SHARE)/man/man1 $(SHARE)/bash-completion/completions \
		$(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	$(call say,MAN,$(SHARE))for c in '' $(COMMANDS); do \
		$(PROG) --man $$c > $(SHARE)/man/man1/symcache$${c:+-$$c}.1 || exit; done
	@$(PROG) --completion bash > $(SHARE)/bash-completion/completions/symcache
	@$(PROG) --completion zsh > $(SHARE)/zsh/site-functions/_symcache
	@$(PROG) --completion fish > $(SHARE)/fish/vendor_completions.d/symcache.fish
	@touch $@

man: $(SHARE)/made ## make man pages and completions: build/release/share

# ---- what is given to others -----------------------------------------------------
NAME := symcache-$(VERSION)
TAR = tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s --mtime=@$(EPOCH)
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile))
SOURCES = $(shell git ls-files 2>/dev/null || find . -type f -not -path './build/*')

dist: ## make a tar of the sources: build/symcache-VERSION.tar.gz
	@mkdir -p build
	@printf '%s\n' $(SOURCES) | LC_ALL=C sort | $(TAR) --transform 's|^\(\./\)\?|$(NAME)/|' \
		-T - -cf - | gzip -9n > build/$(NAME).tar.gz
	@echo "  built   build/$(NAME).tar.gz"

dist-bin: ## make a tar of the program that needs libc alone: build/symcache-VERSION-MACHINE.tar.xz
	@$(MAKE) --no-print-directory MODE=portable install-program DESTDIR=build/portable/stage/$(NAME) PREFIX= > /dev/null
	@needs=$$(readelf -d build/portable/symcache | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^\(libc\|ld-linux.*\)\.so' || true); \
		[ -z "$$needs" ] || { echo "it needs $$needs" >&2; exit 1; }
	@strip build/portable/stage/$(NAME)/bin/symcache
	@$(TAR) -C build/portable/stage -cJf build/$(NAME)-$(shell uname -m).tar.xz $(NAME)
	@echo "  built   build/$(NAME)-$(shell uname -m).tar.xz"

deb: ## build Debian packages: build/deb/*.deb (debhelper)
	@scripts/deps.sh deb > /dev/null
	@scripts/deb.sh
.PHONY: dist dist-bin deb

install: install-program install-lib ## install program, libraries, headers, man pages, completions under DESTDIR and PREFIX

BATCH_EXAMPLES := $(wildcard scripts/batch/*)
BATCH_PROGRAMS = $(shell find scripts/batch -type f -perm -u+x)
install-program: all man
	install -D -m 755 $(PROG) $(DESTDIR)$(PREFIX)/bin/symcache
	@to=$$(realpath -m "$(DESTDIR)$(PREFIX)") && cd $(SHARE) && find . -type f ! -name made -exec \
		install -v -D -m 644 {} "$$to/share/{}" \;
	install -d $(DESTDIR)$(PREFIX)/share/doc/symcache/examples/batch
	install -m 644 README.md $(DESTDIR)$(PREFIX)/share/doc/symcache
	install -m 644 $(filter-out $(BATCH_PROGRAMS),$(BATCH_EXAMPLES)) $(DESTDIR)$(PREFIX)/share/doc/symcache/examples/batch
	install -m 755 $(BATCH_PROGRAMS) $(DESTDIR)$(PREFIX)/share/doc/symcache/examples/batch
	install -d $(DESTDIR)$(PREFIX)/lib/symcache/bin
	@for name in llvm-symbolizer llvm-addr2line addr2line; do \
		ln -sf ../../../bin/symcache $(DESTDIR)$(PREFIX)/lib/symcache/bin/$$name; done

# The loader finds libraries that its cache has: root writes it anew; a folder that it does not
# look into is said.
is_found = [ -n "$(DESTDIR)" ] || { ! [ -w /etc/ld.so.cache ] || PATH=$$PATH:/sbin:/usr/sbin ldconfig; \
	PATH=$$PATH:/sbin:/usr/sbin ldconfig -p | grep -qF "$(LIBDIR)/libsymcache.so.1" || echo \
	"  The loader does not look for libraries in $(LIBDIR): set LD_LIBRARY_PATH=$(LIBDIR), or add it to /etc/ld.so.conf"; }
install-lib: lib $(O)/libman/made
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)
	@for so in $(SO) $(SOBUILD); do name=$${so##*/}; \
		install -v -m 644 $$so $(DESTDIR)$(LIBDIR)/$$name.0.0 || exit; \
		ln -sf $$name.0.0 $(DESTDIR)$(LIBDIR)/$$name; \
		ln -sf $$name $(DESTDIR)$(LIBDIR)/$${name%.1}; done
	install -m 644 $(API_HEADERS) $(DESTDIR)$(INCLUDEDIR)
	@for pc in symcache symcache-build; do sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' libsymcache/api/$$pc.pc.in \
		> $(O)/$$pc.pc && install -m 644 $(O)/$$pc.pc $(DESTDIR)$(LIBDIR)/pkgconfig || exit; done
	@to=$$(realpath -m "$(DESTDIR)$(PREFIX)") && cd $(O)/libman && find . -type f -name '*.[35]' -exec \
		install -D -m 644 {} "$$to/share/man/{}" \;
	install -d $(DESTDIR)$(PREFIX)/share/doc/symcache/examples
	install -m 644 testdata/examples/*.c testdata/examples/symbolize.py $(DESTDIR)$(PREFIX)/share/doc/symcache/examples
	@$(is_found)

uninstall: ## remove what make install and install-python installed under DESTDIR and PREFIX
	@rm -rf $(O)/installed
	@$(MAKE) --no-print-directory install DESTDIR=$(O)/installed/ > /dev/null
	@from=$$(realpath -m "$(DESTDIR)/") && cd $(O)/installed && find . ! -type d | \
		while read -r f; do rm -fv "$$from/$$f"; done
	@rm -rfv $(DESTDIR)$(PYTHONDIR)/symcache
	@for d in lib/symcache/bin lib/symcache share/doc/symcache/examples/batch share/doc/symcache/examples share/doc/symcache; do \
		rmdir $(DESTDIR)$(PREFIX)/$$d 2> /dev/null || true; done
	@rm -rf $(O)/installed
.PHONY: install-program install-lib uninstall

clean: ## remove everything that was built
	rm -rf build

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

-include $(patsubst %.o,%.d,$(call objs,$(LIB_SRC) $(CMD_SRC) $(TEST_SRC) $(FUZZ_SRC) \
	scripts/fuzz_replay.c))
