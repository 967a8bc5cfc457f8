# SPDX-License-Identifier: GPL-2.0-or-later
# kab-agent: one static program, so that the same file runs here and in a guest's initramfs. libperf is built
# from the distribution's kernel source by scripts/libperf, into the cache, once.
#
# With SANITIZE=1 kab-agent is as ever (a guest has no shared libraries for a sanitised one), and a sanitised
# build/kab-agent-san stands beside it for the tests on this machine.

AGENT := $(BUILD)/agent
AGENT_SRC := $(wildcard collectors/live/agent/*.c) collectors/live/wire.c \
	$(addprefix base/,buf.c err.c fs.c map.c mem.c text.c)
AGENT_OBJ := $(AGENT_SRC:%.c=$(AGENT)/%.o) $(AGENT)/collectors/live/wire.pb-c.o
AGENT_LIBS := -lprotobuf-c -lzstd -lunistring -lm
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1
AGENT_CFLAGS := $(filter-out $(SANITIZERS),$(KAB_CFLAGS)) $(CFLAGS)

all: $(BUILD)/kab-agent
ifneq ($(SANITIZE),)
all: $(BUILD)/kab-agent-san
endif

# A link to the folder in the cache that holds libperf.a, libapi.a and their headers.
$(BUILD)/libperf: scripts/libperf
	@mkdir -p $(BUILD)
	$(Q)dir=$$(scripts/libperf $(LIBPERF_SOURCE)) && ln -sfn "$$dir" $@ && touch -hc $@
LIBPERF_CFLAGS := -isystem $(BUILD)/libperf/include/uapi -isystem $(BUILD)/libperf/include
LIBPERF_LIBS := $(BUILD)/libperf/lib/libperf.a $(BUILD)/libperf/lib/libapi.a

$(AGENT)/%.o: %.c | $(BUILD)/collectors/live/wire.pb-c.c $(BUILD)/libperf
	@echo "  CC    $< (agent)"
	@mkdir -p $(@D)
	$(Q)$(CC) $(AGENT_CFLAGS) $(if $(filter %/ring.c %/counters.c,$<),$(LIBPERF_CFLAGS)) -c -o $@ $<

$(AGENT)/collectors/live/wire.pb-c.o: $(BUILD)/collectors/live/wire.pb-c.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -Wmissing-prototypes,$(AGENT_CFLAGS)) -c -o $@ $<

$(BUILD)/kab-agent: $(AGENT_OBJ)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS) -static -o $@ $^ $(LIBPERF_LIBS) $(AGENT_LIBS)

$(BUILD)/tests/live-test: | $(BUILD)/kab-agent $(if $(SANITIZE),$(BUILD)/kab-agent-san)

$(BUILD)/kab-agent-san: $(AGENT_SRC) $(BUILD)/collectors/live/wire.pb-c.c | $(BUILD)/kab-agent
	@echo "  LINK  $@"
	$(Q)$(CC) $(filter-out -MMD -MP -Wmissing-prototypes,$(KAB_CFLAGS)) $(LIBPERF_CFLAGS) $(LDFLAGS) \
		-o $@ $^ $(LIBPERF_LIBS) $(AGENT_LIBS)
