/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KAB_BASE_VERSION_H
#define KAB_BASE_VERSION_H

#define KAB_VERSION "0.1"

#endif
