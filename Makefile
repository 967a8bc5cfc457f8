# SPDX-License-Identifier: GPL-2.0-or-later
# kab: `make demo` and `make check` are the two commands; `make` builds ./kab and build/kab-agent.

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
	$(if $(SANITIZE),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1)
KAB_LDFLAGS := $(LDFLAGS) $(if $(SANITIZE),-fsanitize=address$(,)undefined)

# The rooms that make up kab, uphill (HACKING.md has the ladder).
ROOMS := base profile store collectors collectors/live patches lab report jobs tui
SRC := $(foreach r,$(ROOMS),$(wildcard $(r)/*.c))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(BUILD)/collectors/live/wire.pb-c.o
CLI_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cli/*.c))
LIBS := -lsqlite3 -lncursesw -ltinfo -lzstd -lelf -lprotobuf-c -lcyaml -lgsl -lgslcblas -ljansson -lunistring -lm -lpthread

TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*-test.c))

all: kab
.PHONY: all clean unit

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

$(BUILD)/collectors/live/wire.pb-c.c: collectors/live/wire.proto
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=collectors/live --c_out=$(@D) $<
$(BUILD)/collectors/live/wire.pb-c.o: $(BUILD)/collectors/live/wire.pb-c.c
	$(Q)$(CC) $(filter-out -Wmissing-prototypes,$(KAB_CFLAGS)) -c -o $@ $<
$(filter $(BUILD)/collectors/live/%,$(OBJ)): | $(BUILD)/collectors/live/wire.pb-c.c

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libkab.a
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(KAB_CFLAGS) -MF $@.d $(KAB_LDFLAGS) -o $@ $< $(BUILD)/libkab.a -lcmocka $(LIBS)

# Every unit test, each in a process of its own.
unit: $(TESTS)
	$(Q)for t in $(TESTS); do $$t || exit 1; done

clean:
	rm -rf build build-san kab

include collectors/live/agent/agent.mk
include tests/screen/screen.mk

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
