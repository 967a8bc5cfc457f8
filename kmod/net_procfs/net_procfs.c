// SPDX-License-Identifier: GPL-2.0-only
/*
 * kab_net_procfs: /proc/net/dev with one seq_printf() a device (before: what the kernel does), and with one
 * seq_put_decimal_ull_width() a number (after: the patch "net/core/net-procfs: use
 * seq_put_decimal_ull_width()").
 *
 * Both print the same 16 columns; the sums are those of dev_seq_printf_stats() in net/core/net-procfs.c,
 * which is replaced. It is called once a device and read, under RCU, with the seq_file locked.
 */
#include "../kab_variant.h"

#include <linux/netdevice.h>
#include <linux/seq_file.h>

KAB_IMPORT(seq_put_decimal_ull_width);

KAB_BODY void kab_before_dev_seq_printf_stats(struct seq_file *seq, struct net_device *dev)
{
	struct rtnl_link_stats64 temp;
	const struct rtnl_link_stats64 *s = dev_get_stats(dev, &temp);

	seq_printf(seq, "%6s: %7llu %7llu %4llu %4llu %4llu %5llu %10llu %9llu "
		   "%8llu %7llu %4llu %4llu %4llu %5llu %7llu %10llu\n",
		   dev->name,
		   s->rx_bytes, s->rx_packets, s->rx_errors,
		   s->rx_dropped + s->rx_missed_errors,
		   s->rx_fifo_errors,
		   s->rx_length_errors + s->rx_over_errors + s->rx_crc_errors + s->rx_frame_errors,
		   s->rx_compressed, s->multicast,
		   s->tx_bytes, s->tx_packets, s->tx_errors, s->tx_dropped,
		   s->tx_fifo_errors, s->collisions,
		   s->tx_carrier_errors + s->tx_aborted_errors + s->tx_window_errors + s->tx_heartbeat_errors,
		   s->tx_compressed);
}

/* A blank, then the number right-aligned in `width` columns, or wider where it needs more: " %*llu". */
static __always_inline void put(struct seq_file *seq, u64 value, unsigned int width)
{
	KAB_CALL(seq_put_decimal_ull_width)(seq, " ", value, width);
}

KAB_BODY void kab_after_dev_seq_printf_stats(struct seq_file *seq, struct net_device *dev)
{
	struct rtnl_link_stats64 temp;
	const struct rtnl_link_stats64 *s = dev_get_stats(dev, &temp);

	seq_printf(seq, "%6s:", dev->name);
	put(seq, s->rx_bytes, 7);
	put(seq, s->rx_packets, 7);
	put(seq, s->rx_errors, 4);
	put(seq, s->rx_dropped + s->rx_missed_errors, 4);
	put(seq, s->rx_fifo_errors, 4);
	put(seq, s->rx_length_errors + s->rx_over_errors + s->rx_crc_errors + s->rx_frame_errors, 5);
	put(seq, s->rx_compressed, 10);
	put(seq, s->multicast, 9);
	put(seq, s->tx_bytes, 8);
	put(seq, s->tx_packets, 7);
	put(seq, s->tx_errors, 4);
	put(seq, s->tx_dropped, 4);
	put(seq, s->tx_fifo_errors, 4);
	put(seq, s->collisions, 5);
	put(seq, s->tx_carrier_errors + s->tx_aborted_errors + s->tx_window_errors +
		 s->tx_heartbeat_errors, 7);
	put(seq, s->tx_compressed, 10);
	seq_putc(seq, '\n');
}

KAB_ROUTER(void, dev_seq_printf_stats, (struct seq_file *seq, struct net_device *dev), (seq, dev))

static struct klp_func functions[] = {
	KAB_FUNC(dev_seq_printf_stats),
	{ }
};

static int __init net_procfs_init(void)
{
	return KAB_BIND(seq_put_decimal_ull_width) ?: kab_enable(functions);
}
module_init(net_procfs_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kab: /proc/net/dev by seq_printf() and by seq_put_decimal_ull_width()");
