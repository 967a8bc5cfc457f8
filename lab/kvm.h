/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm: whether hardware virtualisation is worth trying.
 *
 * That /dev/kvm opens proves little: nested and emulated ones exist that accept
 * a machine and never run its kernel. So a guest that stays silent under KVM is
 * started again without, and that is remembered in the cache until the next boot
 * of this machine.
 */
#ifndef KAB_LAB_KVM_H
#define KAB_LAB_KVM_H

#include <stdbool.h>

struct buf;

/* `why` (may be NULL) gets half a sentence either way: "works", "there is no /dev/kvm", ... */
bool kvm_usable(struct buf *why);
/* A guest did not start with it. */
void kvm_refuse(void);

#endif
