// SPDX-License-Identifier: GPL-2.0-only
/*
 * kab_calibrate: getppid() as it is (before), and with a known amount of work added (after). What kab finds
 * between the two is held against what was added.
 *
 * Two loops in assembly, so that no compiler decides what is executed: one of two instructions a turn, one
 * that reads one cache line a step in three instructions. Both bodies are the same code and run both loops.
 * Before makes one turn and one step, after that and the extra ones, so that
 *
 *	instructions(after) - instructions(before) = extra_instructions + 3 * extra_lines
 *
 * holds exactly, and with no extra work the two bodies execute the same. The system call is replaced because
 * it does next to nothing else, and because one call is one operation: no other program of a machine at rest
 * makes it.
 */
#define KAB_OWN_EXIT
#include "../kab_variant.h"

#include <linux/cache.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#define TURN_INSTRUCTIONS 2
#define MOST_INSTRUCTIONS 10000000UL	/* some ms a call: the kernel does not get impatient */
#define MOST_LINES (1UL << 18)		/* 16 MiB of cache lines of 64 bytes */

static unsigned long extra_instructions;
module_param(extra_instructions, ulong, 0444);
MODULE_PARM_DESC(extra_instructions, "instructions that after adds to a call; even, at most 10,000,000");

static unsigned long extra_lines;
module_param(extra_lines, ulong, 0444);
MODULE_PARM_DESC(extra_lines, "cache lines that after reads more in a call; at most 262,144");

/* A cache line that says which one comes next; all lines make one ring, in no order that a prefetcher knows. */
struct line {
	struct line *next;
} ____cacheline_aligned;

static struct line *lines;

struct work {
	unsigned long turns, steps;	/* at least 1 each */
	const struct line *first;
};
static struct work work[2] __ro_after_init;	/* of before, of after */

static __always_inline void do_work(const struct work *w)
{
	const struct line *at = w->first;
	unsigned long turns = w->turns, steps = w->steps;

	asm volatile("1:	dec	%[turns]\n"
		     "	jnz	1b\n"
		     : [turns] "+r" (turns) : : "cc");
	asm volatile("1:	mov	(%[at]), %[at]\n"
		     "	dec	%[steps]\n"
		     "	jnz	1b\n"
		     : [at] "+r" (at), [steps] "+r" (steps) : : "cc", "memory");
}

/* What the system call does, in kernel/sys.c. */
static __always_inline long parent(void)
{
	int pid;

	rcu_read_lock();
	pid = task_tgid_vnr(rcu_dereference(current->real_parent));
	rcu_read_unlock();
	return pid;
}

KAB_BODY long kab_before___x64_sys_getppid(const struct pt_regs *regs)
{
	do_work(&work[0]);
	return parent();
}

KAB_BODY long kab_after___x64_sys_getppid(const struct pt_regs *regs)
{
	do_work(&work[1]);
	return parent();
}

KAB_ROUTER(long, __x64_sys_getppid, (const struct pt_regs *regs), (regs))

static struct klp_func functions[] = {
	KAB_FUNC(__x64_sys_getppid),
	{ }
};

/* Sattolo's shuffle leaves one ring through all lines; always the same one, so that two loads are alike. */
static void __init make_ring(unsigned long n)
{
	struct rnd_state state;
	unsigned long i;

	prandom_seed_state(&state, 1);
	for (i = 0; i < n; i++)
		lines[i].next = &lines[i];
	for (i = n - 1; i > 0; i--)
		swap(lines[i].next, lines[prandom_u32_state(&state) % i].next);
}

static int __init calibrate_init(void)
{
	int err;

	if (extra_instructions % TURN_INSTRUCTIONS || extra_instructions > MOST_INSTRUCTIONS) {
		pr_err("extra_instructions is even (a turn has two) and at most %lu\n", MOST_INSTRUCTIONS);
		return -EINVAL;
	}
	if (extra_lines > MOST_LINES) {
		pr_err("extra_lines is at most %lu\n", MOST_LINES);
		return -EINVAL;
	}
	lines = vmalloc(array_size(extra_lines + 1, sizeof(*lines)));
	if (!lines)
		return -ENOMEM;
	make_ring(extra_lines + 1);
	work[0] = (struct work){ 1, 1, lines };
	work[1] = (struct work){ 1 + extra_instructions / TURN_INSTRUCTIONS, 1 + extra_lines, lines };
	err = kab_enable(functions);
	if (err)
		vfree(lines);
	return err;
}
module_init(calibrate_init);

/* Livepatch lets go of the module only when no task can be in a body. */
static void __exit calibrate_exit(void)
{
	vfree(lines);
}
module_exit(calibrate_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kab: getppid() with a known amount of work added");
