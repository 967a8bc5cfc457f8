// SPDX-License-Identifier: GPL-2.0-only
/*
 * kab_snmp6_fold: the IPv6 statistics of a device, in RTM_GETLINK answers and link notifications, folded
 * counter by counter, each over all possible CPUs (before: as kernels up to 4.2 do), or CPU by CPU, each
 * with all its counters, into a buffer on the stack (after: as kernels from 4.3 on do).
 *
 * The patched function, __snmp6_fill_stats64(), cannot be replaced: it is `inline`, hence notrace, and lives
 * on inside its callers. The nearest one that can is inet6_fill_link_af(). Both bodies have the kernel's own
 * inet6_fill_ifla6_attrs() write everything but the statistics, by its flag for those who want none, and
 * append the two attributes of statistics. So these come last here and in the middle natively; types and
 * payloads are the same. Dumps of family AF_INET6 and notifications to its group do not pass here.
 *
 * inet6_fill_link_af() runs under RCU or RTNL. Nothing here is kept beyond a call: no callbacks, no work,
 * no references, so the module can go as soon as livepatch has let go of it.
 */
#include "../kab_variant.h"

#include <linux/etherdevice.h>	/* put_unaligned(), whose own header has moved between the two kernels */
#include <linux/icmpv6.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/netlink.h>
#include <net/snmp.h>

int inet6_fill_ifla6_attrs(struct sk_buff *skb, struct inet6_dev *idev, u32 ext_filter_mask);
KAB_IMPORT(inet6_fill_ifla6_attrs);

/*
 * The walk of for_each_possible_cpu(), but inlined, so that the search for the next CPU counts for the
 * function that walks, as in the profiles of the patch, and not for _find_next_bit(). It is the same search,
 * less a call.
 */
static __always_inline unsigned int next_possible(unsigned int cpu)
{
	const unsigned long *mask = cpumask_bits(cpu_possible_mask);
	unsigned int word = cpu / BITS_PER_LONG;
	unsigned long bits;

	if (cpu >= nr_cpu_ids)
		return cpu;
	bits = mask[word] & BITMAP_FIRST_WORD_MASK(cpu);
	while (!bits) {
		if (++word >= BITS_TO_LONGS(nr_cpu_ids))
			return nr_cpu_ids;
		bits = mask[word];
	}
	return word * BITS_PER_LONG + __ffs(bits);
}

#define for_each_possible(cpu) \
	for (cpu = next_possible(0); cpu < nr_cpu_ids; cpu = next_possible(cpu + 1))

/* The kernel has a function of this name for its other statistics; the symbol is set for profiles to show. */
KAB_BODY u64 fold_field(void __percpu *mib, int item) asm("snmp_fold_field");
KAB_BODY u64 fold_field(void __percpu *mib, int item)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible(cpu)
		sum += ((u64 *)per_cpu_ptr(mib, cpu))[item];
	return sum;
}

/* Attributes are aligned to 4 bytes only, hence put_unaligned(). Item 0 is the number of items. */
KAB_BODY void kab_before___snmp6_fill_stats64(u64 *stats, void __percpu *mib)
{
	int i;

	put_unaligned(IPSTATS_MIB_MAX, &stats[0]);
	for (i = 1; i < IPSTATS_MIB_MAX; i++)
		put_unaligned(fold_field(mib, i), &stats[i]);
}

KAB_BODY void kab_after___snmp6_fill_stats64(u64 *stats, void __percpu *mib)
{
	u64 sums[IPSTATS_MIB_MAX] = { IPSTATS_MIB_MAX };
	unsigned int cpu;
	int i;

	for_each_possible(cpu)
		for (i = 1; i < IPSTATS_MIB_MAX; i++)
			sums[i] += ((u64 *)per_cpu_ptr(mib, cpu))[i];
	memcpy(stats, sums, sizeof(sums));
}

/* Not per CPU, and not touched by the patch. */
static __always_inline void fill_icmp6(u64 *stats, const atomic_long_t *mib)
{
	int i;

	put_unaligned(ICMP6_MIB_MAX, &stats[0]);
	for (i = 1; i < ICMP6_MIB_MAX; i++)
		put_unaligned(atomic_long_read(&mib[i]), &stats[i]);
}

/* What both bodies are but for `fill`, which is a constant in each and so called directly. */
static __always_inline int fill_link_af(struct sk_buff *skb, const struct net_device *dev, u32 mask,
					void (*fill)(u64 *stats, void __percpu *mib))
{
	struct inet6_dev *idev = __in6_dev_get(dev);
	struct nlattr *ip, *icmp;

	if (!idev)
		return -ENODATA;
	if (KAB_CALL(inet6_fill_ifla6_attrs)(skb, idev, mask | RTEXT_FILTER_SKIP_STATS) < 0)
		return -EMSGSIZE;
	if (mask & RTEXT_FILTER_SKIP_STATS)
		return 0;

	ip = nla_reserve(skb, IFLA_INET6_STATS, IPSTATS_MIB_MAX * sizeof(u64));
	if (!ip)
		return -EMSGSIZE;
	fill(nla_data(ip), idev->stats.ipv6);

	icmp = nla_reserve(skb, IFLA_INET6_ICMP6STATS, ICMP6_MIB_MAX * sizeof(u64));
	if (!icmp)
		return -EMSGSIZE;
	fill_icmp6(nla_data(icmp), idev->stats.icmpv6dev->mibs);
	return 0;
}

KAB_BODY int kab_before_inet6_fill_link_af(struct sk_buff *skb, const struct net_device *dev, u32 mask)
{
	return fill_link_af(skb, dev, mask, kab_before___snmp6_fill_stats64);
}

KAB_BODY int kab_after_inet6_fill_link_af(struct sk_buff *skb, const struct net_device *dev, u32 mask)
{
	return fill_link_af(skb, dev, mask, kab_after___snmp6_fill_stats64);
}

KAB_ROUTER(int, inet6_fill_link_af, (struct sk_buff *skb, const struct net_device *dev, u32 mask),
	   (skb, dev, mask))

static struct klp_func functions[] = {
	KAB_FUNC(inet6_fill_link_af),
	{ }
};

static int __init snmp6_fold_init(void)
{
	return KAB_BIND(inet6_fill_ifla6_attrs) ?: kab_enable(functions);
}
module_init(snmp6_fold_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kab: IPv6 device statistics folded counter by counter and CPU by CPU");
