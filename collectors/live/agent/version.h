/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version: the agent's own, for people; what decides whether peers fit is WIRE_VERSION. */
#ifndef KAB_AGENT_VERSION_H
#define KAB_AGENT_VERSION_H

#define AGENT_VERSION "0.1"

#endif
