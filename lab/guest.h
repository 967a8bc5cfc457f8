/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest: what booting for the agent and booting for a shell have in common.
 */
#ifndef KAB_LAB_GUEST_H
#define KAB_LAB_GUEST_H

#include "lab/lab.h"
#include "lab/qemu.h"

/* The ways to try, best first, ended by NULL; returns how many. */
size_t guest_accels(const struct lab_opts *o, const struct accel *v[3]);

#endif
