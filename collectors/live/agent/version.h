/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KAB_AGENT_VERSION_H
#define KAB_AGENT_VERSION_H

#define AGENT_VERSION "0.1"

#endif
