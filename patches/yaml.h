/* SPDX-License-Identifier: GPL-2.0-or-later */
/* yaml: how kab reads YAML with libcyaml: strictly, without aliases, complaints kept for a sentence. */
#ifndef KAB_PATCHES_YAML_H
#define KAB_PATCHES_YAML_H

#include <cyaml/cyaml.h>

struct buf;

/* `said` takes the complaints, escaped; it outlives the configuration. */
cyaml_config_t yaml_config(struct buf *said);

#endif
