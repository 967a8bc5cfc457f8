# SPDX-License-Identifier: GPL-2.0-or-later
# kab: `make demo` and `make check` are the two commands, and install what they need. `make` builds ./kab and
# build/kab-agent; SANITIZE=1 does so with the address and undefined-behaviour sanitizers, in build-san/; CI=1
# takes warnings for errors; V=1 shows the commands.

SHELL := /bin/bash
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
BUILD := build$(if $(SANITIZE),-san)
Q := $(if $(V),,@)

CFLAGS ?= -O2 -g
, := ,
KAB_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes $(if $(CI),-Werror) \
	-D_GNU_SOURCE -I. -I$(BUILD) -MMD -MP $(CFLAGS) \
	$(if $(SANITIZE),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined \
		-fno-omit-frame-pointer -O1)
KAB_LDFLAGS := $(LDFLAGS) $(if $(SANITIZE),-fsanitize=address$(,)undefined)

# The rooms that make up kab, uphill (HACKING.md has the ladder).
ROOMS := base profile store collectors collectors/live patches lab report jobs tui
SRC := $(foreach r,$(ROOMS),$(wildcard $(r)/*.c))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(BUILD)/lab/init.sh.o $(BUILD)/collectors/live/wire.pb-c.o
CLI_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cli/*.c))
LIBS := -lsqlite3 -lncursesw -ltinfo -lzstd -lelf -lprotobuf-c -lcyaml -lgsl -lgslcblas -ljansson -ltraceevent -lunistring \
	-lm -lpthread

TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*-test.c))

all: kab
.PHONY: all clean unit demo check check-long check-includes bench deps install uninstall

kab: $(BUILD)/kab
	$(Q)ln -sf $(BUILD)/kab kab

$(BUILD)/kab: $(CLI_OBJ) $(BUILD)/libkab.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(KAB_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libkab.a: $(OBJ)
	$(Q)rm -f $@; ar rcs $@ $^

$(BUILD)/%.o: %.c
	@echo "  CC    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(KAB_CFLAGS) -c -o $@ $<

# Said once, instead of by the compiler about one header after the other.
$(BUILD)/.deps: scripts/deps
	@mkdir -p $(@D)
	$(Q)scripts/deps --check build && touch $@
$(OBJ) $(CLI_OBJ): | $(BUILD)/.deps

# A script that becomes part of the program, as _binary_..._start and _end.
$(BUILD)/%.sh.o: %.sh
	@mkdir -p $(@D)
	$(Q)$(LD) -r -b binary -z noexecstack -o $@ $<

$(BUILD)/collectors/live/wire.pb-c.c: collectors/live/wire.proto
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=collectors/live --c_out=$(@D) $< 2>$@.log || { cat $@.log >&2; false; }
$(BUILD)/collectors/live/wire.pb-c.o: $(BUILD)/collectors/live/wire.pb-c.c
	$(Q)$(CC) $(filter-out -Wmissing-prototypes,$(KAB_CFLAGS)) -c -o $@ $<
$(filter $(BUILD)/collectors/live/%,$(OBJ)): | $(BUILD)/collectors/live/wire.pb-c.c

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libkab.a
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(KAB_CFLAGS) -MF $@.d $(KAB_LDFLAGS) -o $@ $< $(BUILD)/libkab.a -lcmocka $(LIBS)

$(BUILD)/tests/vm/%: tests/vm/%.c $(BUILD)/libkab.a
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(KAB_CFLAGS) -MF $@.d $(KAB_LDFLAGS) -o $@ $< $(BUILD)/libkab.a -lcmocka $(LIBS)

# It looks for kab-agent as kab does: beside itself.
$(BUILD)/build-there: tests/ssh/build-there.c $(BUILD)/libkab.a
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(KAB_CFLAGS) -MF $@.d $(KAB_LDFLAGS) -o $@ $< $(BUILD)/libkab.a $(LIBS)

# Runs in a guest, so it needs no sanitizer and no library.
$(BUILD)/tests/vm/panic-agent: tests/vm/panic-agent.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -Wall -Wextra -static -o $@ $<

BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(wildcard tests/bench/*.c))
$(BUILD)/tests/bench/%: tests/bench/%.c $(BUILD)/libkab.a
	@echo "  BENCH $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(KAB_CFLAGS) -MF $@.d $(KAB_LDFLAGS) -o $@ $< $(BUILD)/libkab.a $(LIBS)

include collectors/live/agent/agent.mk
include tests/screen/screen.mk

# --- the commands of a newcomer ---

# What is missing, by package name: all groups, or `make deps DEPS=build`.
DEPS ?= build agent lab check
deps:
	@scripts/deps $(DEPS)

demo:
	@scripts/demo

JOBS ?= $(shell nproc)
check check-long:
	@scripts/deps build agent lab check
	@echo "== building"
	@$(MAKE) --no-print-directory -j$(JOBS) CI=1 check-programs
	@scripts/check $(if $(filter check-long,$@),--long) $(BUILD)

.PHONY: check-programs
check-programs: all $(TESTS) $(addprefix $(BUILD)/tests/,screen-fixture vm/boot-test vm/panic-agent) $(BUILD)/build-there

check-includes:
	@scripts/check-includes

# Every unit test, each in a process of its own.
unit: $(TESTS)
	$(Q)for t in $(TESTS); do $$t || exit 1; done

# Figures, and no verdict: they depend on the machine.
bench:
	@scripts/deps build agent bench
	@$(MAKE) --no-print-directory -j$(JOBS) bench-programs
	@for b in $(filter %-bench,$(BENCHES)); do echo "== $$(basename $$b)"; $$b || exit 1; done
	@echo "== recorder-bench"; tests/bench/recorder-bench $(BUILD)/kab $(BUILD)

.PHONY: bench-programs
bench-programs: all $(BENCHES)

# What a case and a module are made of goes along; what was built of them does not.
SHARE := $(shell find kmod patches/*/ -type f ! -name '.*' ! -name '*.o' ! -name '*.ko' ! -name '*.mod*' \
	! -name 'Module.symvers' ! -name 'modules.order' 2>/dev/null)
install: all
	install -D -m 755 $(BUILD)/kab $(DESTDIR)$(PREFIX)/bin/kab
	install -D -m 755 $(BUILD)/kab-agent $(DESTDIR)$(PREFIX)/libexec/kab/kab-agent
	install -D -m 644 docs/kab.1 $(DESTDIR)$(PREFIX)/share/man/man1/kab.1
	$(Q)for f in $(SHARE); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/kab/$$f || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/kab $(DESTDIR)$(PREFIX)/share/man/man1/kab.1
	rm -rf $(DESTDIR)$(PREFIX)/libexec/kab $(DESTDIR)$(PREFIX)/share/kab

clean:
	rm -rf build build-san kab

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
