// SPDX-License-Identifier: GPL-2.0-only
/*
 * kab_dst_release: a reference to a route given back by reading the count for a check and then decrementing it
 * (before: 2.6.28 and older), and by one atomic_dec_return() whose result is checked (after: the patch "net:
 * speedup dst_release()", which the running kernel has).
 *
 * Both warn of a count that is too low by one trapping instruction, as in 2008; the running kernel's message
 * would call a function, for which before alone would have to save a register.
 *
 * Only the first access to the count differs. What follows at zero is the running kernel's rule in both: count
 * the entry out and free it after a grace period. The kernel of 2008 did nothing at zero, since its routing
 * cache held a reference of its own; today every such entry would leak. Its plain atomic_dec() is an
 * atomic_dec_and_test() here: the same locked instruction, whose flag tells whether it came to zero.
 *
 * dst_release() is called from process and softirq context on all CPUs. The counts are atomic_t up to 6.3;
 * later kernels have rcuref_t, to which the patch does not apply.
 */
#include "../kab_variant.h"

#include <linux/atomic.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <net/dst.h>
#include <net/dst_cache.h>
#include <net/dst_metadata.h>
#include <net/dst_ops.h>

/*
 * The kernel's own callback, static in net/core/dst.c. With one of ours, a grace period would have to pass
 * between the last call and the end of the module.
 */
static rcu_callback_t destroy_rcu __ro_after_init;

/* The last reference is gone. Not inlined: as rare as it is, it is not to be where the bodies differ. */
static noinline void last_reference(struct dst_entry *dst)
{
#ifdef CONFIG_DST_CACHE
	if (dst->flags & DST_METADATA) {
		struct metadata_dst *md = (struct metadata_dst *)dst;

		if (md->type == METADATA_IP_TUNNEL)
			dst_cache_reset_now(&md->u.tun_info.dst_cache);
	}
#endif
	if (!(dst->flags & DST_NOCOUNT))
		dst_entries_add(dst->ops, -1);
	call_rcu(&dst->rcu_head, destroy_rcu);
}

KAB_BODY void kab_before_dst_release(struct dst_entry *dst)
{
	if (!dst)
		return;
	WARN_ON_ONCE(atomic_read(&dst->__refcnt) < 1);
	smp_mb__before_atomic();
	if (atomic_dec_and_test(&dst->__refcnt))
		last_reference(dst);
}

KAB_BODY void kab_after_dst_release(struct dst_entry *dst)
{
	int left;

	if (!dst)
		return;
	smp_mb__before_atomic();
	left = atomic_dec_return(&dst->__refcnt);
	WARN_ON_ONCE(left < 0);
	if (!left)
		last_reference(dst);
}

KAB_ROUTER(void, dst_release, (struct dst_entry *dst), (dst))

static struct klp_func functions[] = {
	KAB_FUNC(dst_release),
	{ }
};

static int __init dst_release_init(void)
{
	destroy_rcu = kab_find_entry("dst_destroy_rcu");
	return destroy_rcu ? kab_enable(functions) : -ENOENT;
}
module_init(dst_release_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kab: dst_release() by read and decrement, and by atomic_dec_return()");
