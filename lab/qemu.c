// SPDX-License-Identifier: GPL-2.0-or-later
/* qemu: see qemu.h. */
#include "lab/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/vec.h"
#include "lab/lab.h"
#include "lab/madt.h"
#include "lab/memfile.h"

#define DEFAULT_CPUS 2
#define DEFAULT_MAX_CPUS 64	/* possible CPUs cost nothing, and some kernel loops run over them */
#define DEFAULT_MEMORY_MB 1024

const struct accel accel_kvm = { "kvm", "kvm", NULL, 15 };
/*
 * One thread for all processors: with one each, QEMU 7.2 lets a processor run into a breakpoint that another
 * one has just taken out of the code. Every switch of a variant patches code by breakpoints, and 6.12 died
 * of "Oops: int3" in three runs of three.
 */
const struct accel accel_tcg = { "tcg", "tcg,thread=single", NULL, 90 };
const struct accel accel_icount = { "tcg,icount", "tcg", "shift=0,sleep=off", 240 };

struct args { VEC(char *) list; };

static void add(struct args *a, char *arg)
{
	vec_push(&a->list, arg);
}

static void add_pair(struct args *a, const char *option, char *value)
{
	add(a, mem_strdup(option));
	add(a, value);
}

static void args_release(struct args *a)
{
	size_t i;

	for (i = 0; i < a->list.n; i++)
		free(a->list.v[i]);
	vec_release(&a->list);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned present_cpus(const struct lab_opts *o, const struct accel *accel)
{
	return accel->icount ? 1 : least(o->cpus ? o->cpus : DEFAULT_CPUS, MADT_CPUS_MAX);
}

static unsigned possible_cpus(const struct lab_opts *o, const struct accel *accel)
{
	unsigned present = present_cpus(o, accel);
	unsigned possible = least(o->max_cpus ? o->max_cpus : DEFAULT_MAX_CPUS, MADT_CPUS_MAX);

	return possible < present ? present : possible;
}

/* Descriptors that QEMU inherits; -1: none. */
enum { INITRAMFS, MADT, CONSOLE, STREAM, INHERITED };

static void build_args(struct args *a, const struct lab_opts *o, const struct lab_kernel *k,
		       const struct qemu_opts *q, const int fd[INHERITED])
{
	unsigned present = present_cpus(o, q->accel), possible = possible_cpus(o, q->accel);

	add(a, mem_strdup(QEMU_PROGRAM));
	add(a, mem_strdup("-nodefaults"));
	add(a, mem_strdup("-no-user-config"));
	add(a, mem_strdup("-no-reboot"));
	add_pair(a, "-display", mem_strdup("none"));
	add_pair(a, "-accel", mem_strdup(q->accel->args));
	if (q->accel->icount)
		add_pair(a, "-icount", mem_strdup(q->accel->icount));
	add_pair(a, "-cpu", mem_strdup("max"));
	/* One package: the identifiers of the processors are then their numbers, as in the table. */
	add_pair(a, "-smp", mem_printf("%u,maxcpus=%u,sockets=1,cores=%u,threads=1", present, possible,
				       possible));
	add_pair(a, "-acpitable", mem_printf("sig=APIC,data=/proc/self/fd/%d", fd[MADT]));
	add_pair(a, "-m", mem_printf("%uM", o->memory_mb ? o->memory_mb : DEFAULT_MEMORY_MB));
	add_pair(a, "-kernel", mem_strdup(k->elf ? k->elf : k->image));
	add_pair(a, "-initrd", mem_printf("/proc/self/fd/%d", fd[INITRAMFS]));
	add_pair(a, "-append", mem_printf("console=ttyS0 panic=-1 nokaslr mitigations=off "
					  "acpi_apic_instance=2 maxcpus=%u%s%s", present,
					  q->append[0] ? " " : "", q->append));
	add_pair(a, "-chardev", mem_printf("socket,id=console,fd=%d", fd[CONSOLE]));
	add_pair(a, "-serial", mem_strdup("chardev:console"));
	if (fd[STREAM] >= 0) {
		add_pair(a, "-device", mem_strdup("virtio-serial-pci"));
		add_pair(a, "-chardev", mem_printf("socket,id=agent,fd=%d", fd[STREAM]));
		add_pair(a, "-device", mem_strdup("virtserialport,chardev=agent,name=kab.agent"));
	}
	add(a, NULL);
}

/* Between fork and exec: only what is safe in the child of a process with threads. */
static void child(char *const *argv, pid_t parent, const int fd[INHERITED])
{
	const struct rlimit no_core = { 0, 0 };
	int null = open("/dev/null", O_RDWR), i;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A KVM that QEMU does not get along with ends in abort(). */
	setrlimit(RLIMIT_CORE, &no_core);
	for (i = 0; i < INHERITED; i++)
		if (fd[i] >= 0)
			fcntl(fd[i], F_SETFD, 0);
	dup2(null, 0);
	dup2(fd[CONSOLE], 1);
	dup2(fd[CONSOLE], 2);
	execvp(argv[0], argv);
	_exit(127);
}

/* The guest's table of processors, as a memory file. */
static int madt_file(const struct lab_opts *o, const struct accel *accel, struct err *err)
{
	struct buf table = BUF_INIT;
	int fd;

	madt_build(&table, possible_cpus(o, accel));
	fd = memfile("the guest's table of processors", &table, err);
	buf_release(&table);
	return fd;
}

int qemu_start(const struct lab_opts *o, const struct lab_kernel *k, const struct qemu_opts *q,
	       struct qemu *out, struct err *err)
{
	int console[2] = { -1, -1 }, stream[2] = { -1, -1 }, madt = -1, rc;
	int fd[INHERITED] = { [INITRAMFS] = q->initramfs };
	struct args args = { 0 };
	pid_t parent = getpid();

	*out = (struct qemu){ .console = -1, .stream = -1 };
	if (!proc_have(QEMU_PROGRAM))
		return err_add(err, -ENOENT, "The lab needs " QEMU_PROGRAM ", which is not installed; run "
			       "`apt-get install qemu-system-x86`.");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, console) ||
	    (q->port && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream))) {
		rc = err_sys(err, errno, "Cannot make a socket for QEMU");
		goto out;
	}
	madt = madt_file(o, q->accel, err);
	if (madt < 0) {
		rc = madt;
		goto out;
	}
	fd[MADT] = madt;
	fd[CONSOLE] = console[1];
	fd[STREAM] = stream[1];
	build_args(&args, o, k, q, fd);
	out->pid = fork();
	if (out->pid < 0) {
		out->pid = 0;
		rc = err_sys(err, errno, "Cannot start " QEMU_PROGRAM);
		goto out;
	}
	if (!out->pid)
		child(args.list.v, parent, fd);
	out->console = console[0];
	out->stream = stream[0];
	console[0] = stream[0] = -1;
	rc = 0;
out:
	if (madt >= 0)
		close(madt);
	for (int i = 0; i < 2; i++) {
		if (console[i] >= 0)
			close(console[i]);
		if (stream[i] >= 0)
			close(stream[i]);
	}
	args_release(&args);
	return rc;
}

bool qemu_alive(struct qemu *q)
{
	if (q->pid && waitpid(q->pid, NULL, WNOHANG) != 0)
		q->pid = 0;
	return q->pid != 0;
}

void qemu_stop(struct qemu *q)
{
	int tries;

	if (!qemu_alive(q))
		return;
	kill(q->pid, SIGTERM);
	for (tries = 0; tries < 100; tries++) {
		usleep(10000);
		if (!qemu_alive(q))
			return;
	}
	kill(q->pid, SIGKILL);
	while (waitpid(q->pid, NULL, 0) < 0 && errno == EINTR)
		;
	q->pid = 0;
}
