// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hardware: what the machine is made of, what runs below the kernel, and how the
 * kernel was built and started.
 */
#include <cpuid.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "collectors/live/agent/facts.h"
#include "collectors/live/agent/session.h"

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"
#define TOPOLOGY "/sys/devices/system/cpu/cpu%ld/topology/physical_package_id"
#define SOCKETS_MAX 256
#define CONFIG_LIMIT (8U << 20)

static const struct { const char *key, *path; } files[] = {
	{ "numa.nodes", "/sys/devices/system/node/online" },
	{ "machine.vendor", "/sys/class/dmi/id/sys_vendor" },
	{ "machine.product", "/sys/class/dmi/id/product_name" },
	{ "kernel.cmdline", "/proc/cmdline" },
};

/* Who answers below the kernel: the hypervisor's signature (CPUID leaf 0x40000000). */
static void hypervisor(struct answer *a)
{
	static const struct { const char *signature, *name; } known[] = {
		{ "KVMKVMKVM", "KVM" }, { "TCGTCGTCGTCG", "QEMU without KVM (TCG)" },
		{ "Microsoft Hv", "Hyper-V" }, { "VMwareVMware", "VMware" }, { "XenVMMXenVMM", "Xen" },
		{ "bhyve bhyve ", "bhyve" },
	};
	uint32_t eax, ebx, ecx, edx;
	char signature[13] = "";

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return;
	if (!(ecx & 1U << 31)) {
		fact_add(a, "machine.hypervisor", "none");
		return;
	}
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(signature, &ebx, 4);
	memcpy(signature + 4, &ecx, 4);
	memcpy(signature + 8, &edx, 4);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(signature, known[i].signature)) {
			fact_add(a, "machine.hypervisor", known[i].name);
			return;
		}
	}
	fact_add(a, "machine.hypervisor", *signature ? signature : "an unnamed hypervisor");
}

static void sockets(struct answer *a)
{
	long n = sysconf(_SC_NPROCESSORS_CONF), cpu, id;
	bool seen[SOCKETS_MAX] = { false };
	unsigned count = 0;
	char path[120];
	FILE *f;

	for (cpu = 0; cpu < n; cpu++) {
		snprintf(path, sizeof(path), TOPOLOGY, cpu);
		f = fopen(path, "re");
		if (f && fscanf(f, "%ld", &id) == 1 && id >= 0 && id < SOCKETS_MAX && !seen[id]) {
			seen[id] = true;
			count++;
		}
		if (f)
			fclose(f);
	}
	if (count)
		fact_printf(a, "cpu.sockets", "%u", count);
}

static int by_name(const struct dirent **x, const struct dirent **y)
{
	return strcmp((*x)->d_name, (*y)->d_name);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* One line a kind: what is mitigated, and what is open. */
static void vulnerabilities(struct answer *a)
{
	struct buf mitigated = BUF_INIT, open = BUF_INIT;
	struct dirent **v = NULL;
	int n = scandir(VULNERABILITIES, &v, visible, by_name);

	for (int i = 0; i < n; i++) {
		char path[400];
		struct buf text = BUF_INIT;

		snprintf(path, sizeof(path), VULNERABILITIES "/%.255s", v[i]->d_name);
		if (!buf_read_file(&text, path, 4096, NULL)) {
			if (!strncmp(buf_str(&text), "Mitigation", 10))
				buf_printf(&mitigated, "%s%s", mitigated.len ? " " : "", v[i]->d_name);
			else if (!strncmp(buf_str(&text), "Vulnerable", 10))
				buf_printf(&open, "%s%s", open.len ? " " : "", v[i]->d_name);
		}
		buf_release(&text);
		free(v[i]);
	}
	free(v);
	if (n > 0) {
		fact_printf(a, "cpu.mitigated", "%s", mitigated.len ? buf_str(&mitigated) : "nothing");
		fact_printf(a, "cpu.vulnerable", "%s", open.len ? buf_str(&open) : "nothing");
	}
	buf_release(&mitigated);
	buf_release(&open);
}

/* Of the first of these that can be read; the packed one has a digest of its own. */
static void config(struct answer *a)
{
	struct utsname u;
	char boot[160], build[160];
	const char *const paths[] = { boot, build, "/proc/config.gz" };

	uname(&u);
	snprintf(boot, sizeof(boot), "/boot/config-%.80s", u.release);
	snprintf(build, sizeof(build), "/lib/modules/%.80s/build/.config", u.release);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		uint64_t digest;

		if (fs_digest(paths[i], CONFIG_LIMIT, &digest, NULL))
			continue;
		fact_printf(a, "kernel.config", "fnv1a64:%016" PRIx64 " of %s", digest, paths[i]);
		return;
	}
}

void facts_hardware(struct answer *a)
{
	char microcode[64];

	if (fact_field("/proc/cpuinfo", "microcode", microcode, sizeof(microcode)))
		fact_add(a, "cpu.microcode", microcode);
	sockets(a);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		fact_file(a, files[i].key, files[i].path);
	hypervisor(a);
	vulnerabilities(a);
	config(a);
}
