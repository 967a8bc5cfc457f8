# SPDX-License-Identifier: GPL-2.0-or-later
# The screen tests: `make screen`; see tests/screen/run.

$(BUILD)/tests/screen-fixture: tests/screen/fixture.c $(BUILD)/libkab.a
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(KAB_CFLAGS) -MF $@.d $(KAB_LDFLAGS) -o $@ $< $(BUILD)/libkab.a $(LIBS)

.PHONY: screen
screen: $(BUILD)/kab $(BUILD)/tests/screen-fixture
	$(Q)tests/screen/run $(BUILD)
