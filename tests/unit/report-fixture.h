/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison for the tests of report/: blocks from tests/data/report/blocks.txt
 * and an experiment, a machine and a case made up to go with them. The texts of
 * the writers are compared with files beside the blocks; KAB_GOLDEN=write writes
 * these anew, to be read before they are committed.
 */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "report/report.h"

#define DATA "tests/data/report/"
#define TICK 250000		/* ns that a sample stands for */
#define MAX_BLOCKS 64

struct fixture {
	struct run runs[MAX_BLOCKS];
	struct profile *profiles[MAX_BLOCKS];
	size_t n;
	struct experiment exp;
	struct machine machine;
	struct case_facts facts;
	struct replaced_function function;
	struct claim claims[3];
	char *notes[1];
	struct compare *cmp;
	struct report_input in;
};

static uint32_t frame(struct profile *p, char *name)
{
	char *at = strchr(name, '@');

	if (!at)
		return symtab_intern(&p->symtab, name, "[kernel.kallsyms]", FRAME_KERNEL);
	*at++ = '\0';
	return symtab_intern(&p->symtab, name, at, *at == '[' ? FRAME_MODULE : FRAME_USER);
}

/* "a;b;c" with b below a and c below b; `stack` is written to. */
static inline void add_stack(struct profile *p, char *stack, double count)
{
	uint32_t symbols[64];
	size_t n = 0;
	char *save = NULL, *name;

	for (name = strtok_r(stack, ";", &save); name; name = strtok_r(NULL, ";", &save)) {
		assert_true(n < 64);
		symbols[n++] = frame(p, name);
	}
	profile_add_stack(p, symbols, n, count, count * TICK);
}

static void block_line(struct fixture *f, const char *line)
{
	struct run *r = &f->runs[f->n];
	unsigned long long wall, user, sys, ops, lost;
	char variant[16], extra[16] = "";

	assert_true(f->n < MAX_BLOCKS);
	assert_true(sscanf(line, "%15s %llu %llu %llu %llu %llu %15s", variant, &wall, &user, &sys, &ops,
			   &lost, extra) >= 6);
	*r = (struct run){
		.id = (int64_t)f->n + 10, .experiment = 3, .state = RUN_COMPLETE, .ordinal = (unsigned)f->n,
		.wall_ns = wall, .user_ns = user, .sys_ns = sys, .ops = (double)ops, .lost = lost,
		.event = mem_strdup("cpu-clock"), .freq_hz = 4000, .warmup = !strcmp(extra, "warmup"),
	};
	assert_true(variant_parse(variant, &r->variant));
	f->n++;
}

static void sample_line(struct fixture *f, char *line)
{
	struct run *r = &f->runs[f->n - 1];
	struct profile **p = &f->profiles[f->n - 1];
	char *count = strrchr(line, ' ');

	assert_non_null(count);
	*count++ = '\0';
	if (!*p)
		*p = profile_new();
	r->sampled = true;
	r->samples += strtoul(count, NULL, 10);
	add_stack(*p, line, strtod(count, NULL));
}

static inline void fixture_load(struct fixture *f)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	char *save = NULL, *line;
	size_t i;

	assert_int_equal(buf_read_file(&text, DATA "blocks.txt", 1 << 20, &err), 0);
	for (line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (*line == '\t')
			sample_line(f, line + 1);
		else if (*line != '#')
			block_line(f, line);
	}
	for (i = 0; i < f->n; i++)
		if (f->profiles[i])
			profile_seal(f->profiles[i]);
	buf_release(&text);
}

static inline void fixture_facts(struct fixture *f)
{
	f->exp = (struct experiment){
		.id = 3, .state = EXP_COMPLETE, .case_name = "net-procfs", .target = "vm",
		.command = "kab run net-procfs -t vm --exact --blocks 6",
		.workload = "/run/kab/workload 20000 /proc/net/dev",
		.kernel = "6.1.0-57-amd64", .kab_version = "0.1", .started = 1731214341,
		.finished = 1731214402, .seed = 42, .blocks_planned = 6, .exact = true, .event = "cpu-clock",
		.freq_hz = 4000, .job = (char *)"kab-job: 1\ncase: net-procfs\n",
	};
	machine_add(&f->machine, "cpu.model", "QEMU TCG CPU version 2.5+");
	machine_add(&f->machine, "kernel.command_line",
		    "console=ttyS0 quiet panic=-1 nokaslr mitigations=off "
		    "root=/dev/ram0 rw and more words so that the line has to be broken somewhere");
	machine_add(&f->machine, "lab.accel", "tcg,icount");
	f->function = (struct replaced_function){ .name = "dev_seq_printf_stats" };
	f->claims[0] = (struct claim){
		.metric = "real time for 1 million reads", .unit = "s", .before = 51.828, .after = 49.127
	};
	f->claims[1] = (struct claim){
		.metric = "system time for 1 million reads", .unit = "s", .before = 51.671, .after = 48.552
	};
	f->claims[2] = (struct claim){
		.metric = "share of seq_printf", .unit = "%", .before = 13.719, .after = NAN
	};
	f->notes[0] = (char *)"The patch was not merged; the after variant is in no kernel.";
	f->facts = (struct case_facts){
		.name = "net-procfs", .operation = "read of /proc/net/dev",
		.title = "net/core/net-procfs: use seq_put_decimal_ull_width() for decimal values in "
			 "/proc/net/dev",
		.module = "kab_net_procfs", .style = "tree", .native = VARIANT_BEFORE,
		.functions = &f->function, .n_functions = 1,
		.claims = f->claims, .n_claims = 3, .notes = f->notes, .n_notes = 1,
	};
	f->in = (struct report_input){
		.exp = &f->exp, .machine = &f->machine, .facts = &f->facts, .runs = f->runs, .n_runs = f->n,
		.side_title = { "before", "after" }, .norm = NORM_OP, .measure = PERIOD,
	};
}

/* Builds the comparison anew from the blocks as they now are. */
static inline void fixture_compare(struct fixture *f)
{
	struct compare_block blocks[MAX_BLOCKS];
	size_t i;

	for (i = 0; i < f->n; i++)
		blocks[i] = (struct compare_block){ &f->runs[i], f->profiles[i] };
	compare_free(f->cmp);
	f->cmp = compare_build(blocks, f->n);
	f->in.cmp = f->cmp;
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));

	*state = f;
	if (!fs_exists(DATA "blocks.txt"))
		return 0;
	fixture_load(f);
	fixture_facts(f);
	fixture_compare(f);
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < f->n; i++) {
		run_release(&f->runs[i]);
		profile_free(f->profiles[i]);
	}
	compare_free(f->cmp);
	machine_release(&f->machine);
	free(f);
	return 0;
}

/* The fixture of a test, which is skipped where the data folder is not at hand. */
static inline struct fixture *fixture_of(void **state)
{
	struct fixture *f = *state;

	if (!f->cmp) {
		print_message("skipped: no " DATA "blocks.txt; run the test from the top of the tree\n");
		skip();
	}
	return f;
}

/*
 * The first place where the two differ by more than the last digits of a number,
 * NULL when nowhere: long double is not the same everywhere, so means written
 * with 17 digits are not either.
 */
static inline const char *differs(const char *a, const char *b)
{
	while (*a || *b) {
		char *enda, *endb;
		double x, y;

		if (*a == *b && !strchr("0123456789", *a)) {
			a++;
			b++;
			continue;
		}
		x = strtod(a, &enda);
		y = strtod(b, &endb);
		if (enda == a || endb == b || fabs(x - y) > 1e-6 * fabs(y))
			return a;
		a = enda;
		b = endb;
	}
	return NULL;
}

/* Holds `text` against a file of the data folder. */
static inline void golden(const char *name, const struct buf *text)
{
	const char *mode = getenv("KAB_GOLDEN");
	struct buf want = BUF_INIT;
	struct err err = ERR_INIT;
	char path[200];

	snprintf(path, sizeof(path), DATA "%s", name);
	if (mode && !strcmp(mode, "write"))
		assert_int_equal(fs_write(path, text->data, text->len, &err), 0);
	assert_int_equal(buf_read_file(&want, path, 1 << 20, &err), 0);
	if (differs(buf_str(text), buf_str(&want)))
		assert_string_equal(buf_str(text), buf_str(&want));
	buf_release(&want);
}

#endif
