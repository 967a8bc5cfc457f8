/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session: the agent's end of the stream, from Hello to its end.
 *
 * One request is served at a time. While one is, whoever serves it waits only
 * in session_wait() or session_send(), which notice a Stop, the end of the
 * stream, SIGTERM and the death of the supervisor; all of these make the
 * server give up, and the session undo what it did.
 */
#ifndef KAB_AGENT_SESSION_H
#define KAB_AGENT_SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "collectors/live/agent/counters.h"
#include "collectors/live/agent/kmsg.h"
#include "collectors/live/agent/module.h"
#include "collectors/live/agent/results.h"
#include "collectors/live/agent/supervise.h"
#include "collectors/live/agent/workload.h"
#include "collectors/live/wire.h"

/* A module that kab sent, kept so that it can be loaded again after it was disabled; or an adopted one. */
struct kept_module {
	char name[MODULE_NAME];
	char params[512];
	struct buf ko;			/* empty: adopted */
	bool livepatch;			/* as last loaded */
};

struct session {
	int in, out_fd;			/* the stream; not blocking; the same descriptor for a port */
	struct wire_in rd;
	struct buf out;			/* frames not yet written */
	struct worker *worker;		/* leash and ledger */
	int signals;			/* signalfd: SIGTERM */
	struct kmsg kmsg;
	struct buf reasons;		/* what the kernel logged since the request began, the last of it */
	const struct identity *user;
	bool greeted;			/* kab's Hello came, of our version */
	bool stop;			/* Stop came for the request in hand */
	bool ended;			/* nobody listens any more */
	unsigned silence_ms;		/* silence of kab that means the connection is lost; 0: any is borne */
	uint64_t heard_ms;		/* CLOCK_MONOTONIC, when kab was last heard */
	struct buf data;		/* of Data messages, for the next ModuleLoad or Put */
	VEC(struct kept_module) modules;
	unsigned patience_s;		/* of the module request in hand */
	struct module_took took;	/* by it */
	struct buf kernel_modules;	/* names and addresses as kallsyms last went out; empty: never */
	bool vdso_sent;
	uint32_t next_stack;		/* first number of the next block */
};

/* What a request comes to, beside 0 or an error. Owned by the caller of the server. */
struct answer_fact { char *key, *value; };
struct answer {
	struct buf output;
	int exit_status;
	char *path;
	VEC(struct answer_fact) facts;	/* strings are the answer's */
	bool has_result;
	Kab__RunResult result;		/* points into the three below */
	struct results results;
	Kab__Metric metrics[RESULTS_METRICS], *metric_list[RESULTS_METRICS];
	Kab__Counter counters[COUNTERS_MAX], *counter_list[COUNTERS_MAX];
	bool has_module;
	Kab__ModuleResult module;
	Kab__ProbeResult *probe;	/* NULL: none; freed with free_unpacked */
};

/*
 * Serves until the stream ends, or kab has been silent for `silence_s` (0: no limit), as a cut connection
 * may stay open at this end for hours. Returns the exit status of the worker.
 */
int session_run(struct worker *w, int in, int out, const struct identity *user, unsigned silence_s);

/*
 * Waits for `fds` (their revents are set) or `timeout_ms` (-1 for ever).
 * -ECANCELED after a Stop, -EPIPE when the session is over; else the number
 * of `fds` that are ready.
 */
int session_wait(struct session *s, struct pollfd *fds, size_t n, int timeout_ms);
/* Writes all frames out. -EPIPE when the session is over; a Stop is only noted. */
int session_send(struct session *s);
/* Queues one line for the person at kab. */
void session_log(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Forwards what the kernel logged at warning or worse, and remembers all of it as reasons. */
void session_kernel_log(struct session *s);

/* --- servers, one file a noun --- */

/* facts.c */
int serve_facts(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);
/* serve.c */
int serve_module_load(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);
int serve_module_switch(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);
int serve_module_unload(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);
int serve_module_keep(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);
int serve_probe(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);	/* probe.c */
int serve_put(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);
/* block.c */
int serve_capture(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);
int serve_run(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);

/* Queues a line for each module of kab's that is loaded as the session begins. */
void modules_left(struct session *s);	/* serve.c */
/* The kernel's symbols, when the set of modules is not the one they were sent for; and the vdso, once. */
int send_symbols(struct session *s, struct err *err);	/* kallsyms.c */

#endif
