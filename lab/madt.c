// SPDX-License-Identifier: GPL-2.0-or-later
/* madt: see madt.h. */
#include "lab/madt.h"

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define LOCAL_APIC_ADDRESS 0xfee00000u
#define IO_APIC_ADDRESS 0xfec00000u
#define PCAT_COMPAT 1u		/* there are two 8259 as well */
#define ENABLED 1u
#define LEVEL_HIGH 0x0du	/* of interrupts of PCI */

enum { LOCAL_APIC = 0, IO_APIC = 1, OVERRIDE = 2, LOCAL_NMI = 4 };

static void put8(struct buf *out, unsigned v)
{
	buf_putc(out, (char)v);
}

static void put16(struct buf *out, unsigned v)
{
	put8(out, v & 0xff);
	put8(out, v >> 8 & 0xff);
}

static void put32(struct buf *out, uint32_t v)
{
	put16(out, v & 0xffff);
	put16(out, v >> 16);
}

static void head(struct buf *out, unsigned type, unsigned len)
{
	put8(out, type);
	put8(out, len);
}

/* The ISA interrupt `source` arrives at the input `gsi` of the I/O APIC. */
static void override(struct buf *out, unsigned source, uint32_t gsi, unsigned flags)
{
	head(out, OVERRIDE, 10);
	put8(out, 0);
	put8(out, source);
	put32(out, gsi);
	put16(out, flags);
}

void madt_build(struct buf *out, unsigned cpus)
{
	static const unsigned pci[] = { 5, 9, 10, 11 };
	unsigned i;

	put32(out, LOCAL_APIC_ADDRESS);
	put32(out, PCAT_COMPAT);
	for (i = 0; i < cpus && i < MADT_CPUS_MAX; i++) {
		head(out, LOCAL_APIC, 8);
		put8(out, i);
		put8(out, i);
		put32(out, ENABLED);
	}
	head(out, IO_APIC, 12);
	put8(out, 0);
	put8(out, 0);
	put32(out, IO_APIC_ADDRESS);
	put32(out, 0);
	override(out, 0, 2, 0);
	for (i = 0; i < sizeof(pci) / sizeof(pci[0]); i++)
		override(out, pci[i], pci[i], LEVEL_HIGH);
	/* Non-maskable interrupts of every processor are at its input 1. */
	head(out, LOCAL_NMI, 6);
	put8(out, 0xff);
	put16(out, 0);
	put8(out, 1);
}
