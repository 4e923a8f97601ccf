# symcache: one non-recursive Makefile. `make help` lists the targets.
#
# MODE picks the flavour of the build, each in its own folder build/MODE:
#   release  what users run
#   asan     address and undefined-behaviour sanitizers, asserts on
CC      ?= gcc
MODE    ?= release
PREFIX  ?= /usr/local
O       := build/$(MODE)

CSTD     := -std=gnu11
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Wno-missing-field-initializers
CPPFLAGS += -I. -D_GNU_SOURCE
CFLAGS   ?= -g
ALL_CFLAGS = $(CSTD) $(WARN) $(CPPFLAGS) $(MODE_CFLAGS) $(CFLAGS) -MMD -MP
MODE_CFLAGS_release := -O2
MODE_CFLAGS_asan    := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
MODE_CFLAGS := $(MODE_CFLAGS_$(MODE))
LDLIBS  += -lyajl -ldw -lelf -llmdb -lxxhash -ldeflate -lisal -lzstd -llzma -lz -lpthread
LDLIBS  += -lexpat
# Static: as shared libraries they bring in twenty more, which would cost every
# run several milliseconds; of the archives only what is used, which is why its
# references to libxml2 need not be met.
LDLIBS  += -Wl,--gc-sections -Wl,-Bstatic -larchive -lnettle -lsodium -Wl,-Bdynamic -lz -lbz2

# build/deps.mk is written by scripts/deps.sh once the packages are there, those
# of the goal too, so that whoever must install them is told once; make then
# starts over with its settings (DEMANGLE_CFLAGS, DEMANGLE_LIBS).
GOALS := $(or $(MAKECMDGOALS),all)
ifneq ($(filter-out help clean,$(GOALS)),)
include build/deps.mk
endif
build/deps.mk: scripts/deps.sh
	@mkdir -p build
	@scripts/deps.sh build $(filter test demo bench fuzz,$(GOALS)) > $@.tmp && mv $@.tmp $@

# ---- sources: every folder's *.c, but for unit tests and fuzz targets --------
LIB_DIRS := format libmarkup $(addprefix libsymcache/,base elf dwarf build read store)
LIB_SRC  := $(filter-out %_test.c %_fuzz.c,$(wildcard $(addsuffix /*.c,$(LIB_DIRS))))
CMD_SRC  := $(filter-out %_test.c %_fuzz.c,$(wildcard cmd/*.c))
TEST_SRC := $(wildcard $(addsuffix /*_test.c,$(LIB_DIRS) cmd))
FUZZ_SRC := $(wildcard $(addsuffix /*_fuzz.c,$(LIB_DIRS) cmd))
objs = $(patsubst %.c,$(O)/%.o,$(1))

LIB   := $(O)/libsymcache.a
PROG  := $(O)/symcache
TESTS := $(patsubst %.c,$(O)/%,$(TEST_SRC))

.DEFAULT_GOAL := all
.PHONY: all asan test unit golden fuzz bench accuracy demo install clean help

all: $(PROG) ## build the program: build/release/symcache

asan: ## build with address and undefined-behaviour sanitizers: build/asan/symcache
	@$(MAKE) --no-print-directory MODE=asan all

$(O)/%.o: %.c build/deps.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/cmd/%.o: CPPFLAGS += $(DEMANGLE_CFLAGS)

# The demanglers take their memory from cmd/demangle.c, which bounds it. The
# new name of __cxa_demangle keeps libstdc++'s out, which sanitizers bring along.
DEMANGLE_AR := $(addprefix build/demangle/,$(notdir $(DEMANGLE_LIBS)))
DEMANGLE_RENAME := $(foreach f,malloc calloc realloc free,--redefine-sym $(f)=demangle_$(f)) \
	--redefine-sym __cxa_demangle=demangle_cxx
build/demangle/%.a: build/deps.mk Makefile
	@mkdir -p $(@D)
	objcopy $(DEMANGLE_RENAME) $(filter %/$(@F),$(DEMANGLE_LIBS)) $@

# Embedded with .incbin, which the compiler does not tell make of.
$(O)/libmarkup/html_page.o: libmarkup/html_page.css libmarkup/html_page.js

$(LIB): $(call objs,$(LIB_SRC))
	@rm -f $@
	$(AR) rcs $@ $^

$(PROG): $(call objs,$(CMD_SRC)) $(LIB) $(DEMANGLE_AR)
	$(CC) $(MODE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The tests of cmd/ get its objects too, but for the one with main().
CMD_OBJS := $(filter-out $(O)/cmd/main.o,$(call objs,$(CMD_SRC)))
$(filter $(O)/cmd/%,$(TESTS)): $(CMD_OBJS)
$(TESTS): $(O)/%: $(O)/%.o $(LIB) $(DEMANGLE_AR)
	$(CC) $(MODE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) \
		-lcmocka $(DEMANGLE_AR) $(LDLIBS)

# The fuzz targets under a main() that feeds them files: gcc will do.
REPLAYS := $(patsubst %.c,$(O)/%,$(FUZZ_SRC))
$(filter $(O)/cmd/%,$(REPLAYS)): $(CMD_OBJS)
$(REPLAYS): $(O)/%: $(O)/%.o $(O)/scripts/fuzz_replay.o $(LIB) $(DEMANGLE_AR)
	$(CC) $(MODE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) \
		$(DEMANGLE_AR) $(LDLIBS)

test: ## set up and run every test: unit, golden, layers, fuzz corpus
	@scripts/deps.sh test > /dev/null
	@$(MAKE) --no-print-directory all testbins
	@scripts/run_tests.sh $(O)

unit: all testbins ## the unit tests alone
	@scripts/run_tests.sh $(O) unit

golden: all ## the command-line tests alone
	@scripts/run_tests.sh $(O) golden

testbins: $(TESTS) $(REPLAYS)
.PHONY: testbins torture

# ---- fuzzing: one libFuzzer program per *_fuzz.c (clang) ---------------------
# `make fuzz` builds them; the tests replay the corpora with the same entry
# point under scripts/fuzz_replay.c, so that no clang is needed there.
FUZZ_CC    ?= clang
FUZZ_BINS  := $(patsubst %.c,build/fuzz/%,$(FUZZ_SRC))
FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
fuzz: ## build the libFuzzer targets: build/fuzz/*/*_fuzz (clang)
	@scripts/deps.sh fuzz > /dev/null
	@$(MAKE) --no-print-directory $(FUZZ_BINS)
build/fuzz/cmd/%: FUZZ_MORE = $(filter-out cmd/main.c,$(CMD_SRC)) $(DEMANGLE_CFLAGS)
$(FUZZ_BINS): build/fuzz/%: %.c $(LIB_SRC) $(CMD_SRC) $(DEMANGLE_AR)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CSTD) $(CPPFLAGS) $(FUZZ_FLAGS) -o $@ $< $(LIB_SRC) $(FUZZ_MORE) \
		$(DEMANGLE_AR) $(LDLIBS)

torture: all testbins ## kill it at random moments, 500 times; fill the disk; huge stores
	@scripts/torture.sh $(O)

bench: all ## measure side by side with LLVM's tools (BENCH=--quick: a minute)
	@scripts/deps.sh bench > /dev/null
	@scripts/bench.sh $(PROG) $(BENCH)

accuracy: all ## compare with llvm-symbolizer-19, address by address
	@scripts/deps.sh bench > /dev/null
	@scripts/accuracy.sh $(PROG)

demo: all ## crash a real C++ program and symbolize its log
	@scripts/deps.sh demo > /dev/null
	@scripts/demo.sh $(PROG)

install: all ## install the program under DESTDIR and PREFIX
	install -D -m 755 $(PROG) $(DESTDIR)$(PREFIX)/bin/symcache

clean: ## remove everything that was built
	rm -rf build

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

-include $(patsubst %.o,%.d,$(call objs,$(LIB_SRC) $(CMD_SRC) $(TEST_SRC) $(FUZZ_SRC) \
	scripts/fuzz_replay.c))
