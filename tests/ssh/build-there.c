// SPDX-License-Identifier: GPL-2.0-or-later
/* build-there TARGET CASE RELEASE: builds the case's module on the target, though its kernel could not load it. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/fs.h"
#include "jobs/target.h"

int main(int argc, char **argv)
{
	struct patch_case c = { 0 };
	struct case_build b = { 0 };
	struct lab_opts lab = { 0 };
	struct target t = { 0 };
	struct err err = ERR_INIT;
	int rc = argc == 4 ? 0 : -1;

	if (!rc)
		rc = case_load(argv[2], &c, &err);
	if (!rc)
		rc = target_init(&t, argv[1], NULL, &err);
	if (!rc)
		rc = t.kind->find(&t, &lab, &err);
	if (!rc)
		rc = strcmp(t.kernel.release, argv[3]);
	if (!rc)
		rc = target_build(&t, &c, &lab, &b, &err);
	if (!rc)
		rc = !(b.module && fs_exists(b.module) && b.workload && fs_exists(b.workload));
	printf("%s\n%s\n", rc ? err.text : b.module, rc ? "" : b.workload);
	case_build_release(&b);
	target_release(&t);
	case_release(&c);
	return rc ? 1 : 0;
}
