/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kab_variant: what every kab module shares.
 *
 * A module holds two bodies of a kernel function, "before" and "after" a patch, and a livepatch that sends
 * the function to a router; the router jumps to the body that the static key selects. Selecting rewrites one
 * instruction, so it costs milliseconds, and both variants pay the same way in. A module supplies the
 * bodies, KAB_ROUTER() and a table for kab_enable(); one module is one source file, so all here is static.
 *
 * /sys/module/MODULE/parameters/variant reads and takes "before" or "after".
 */
#ifndef KAB_VARIANT_H
#define KAB_VARIANT_H

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/sysfs.h>

static DEFINE_STATIC_KEY_FALSE(kab_after);

static int kab_variant_set(const char *val, const struct kernel_param *kp)
{
	if (sysfs_streq(val, "before")) {
		static_branch_disable(&kab_after);
	} else if (sysfs_streq(val, "after")) {
		static_branch_enable(&kab_after);
	} else {
		pr_err("the variant is neither \"before\" nor \"after\"; it stays as it is\n");
		return -EINVAL;
	}
	return 0;
}

static int kab_variant_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", static_key_enabled(&kab_after) ? "after" : "before");
}

static const struct kernel_param_ops kab_variant_ops = {
	.set = kab_variant_set,
	.get = kab_variant_get,
};
module_param_cb(variant, &kab_variant_ops, NULL, 0644);
MODULE_PARM_DESC(variant, "body in use: before (as loaded) or after");

/*
 * A body, named kab_before_FUNCTION or kab_after_FUNCTION. Never inlined or cloned, so that it has a symbol
 * of its own in a profile; aligned alike, so that two bodies do not differ by where they fell in a cache
 * line (kernels that pad in front of functions shift both by the same padding).
 */
#define KAB_BODY static noinline __noclone __aligned(64)

/*
 * The function that livepatch puts in FUNCTION's place. The calls are in tail position and become jumps: the
 * router leaves no frame, and the body returns to FUNCTION's caller. Either side of the key executes one
 * instruction, a no-op or a jump, so the router costs both variants the same.
 */
#define KAB_ROUTER(type, function, params, args)			\
MODULE_INFO(kab_replaces, #function);					\
static noinline notrace type kab_route_##function params		\
{									\
	if (static_branch_unlikely(&kab_after))				\
		return kab_after_##function args;			\
	return kab_before_##function args;				\
}

/* A row of the table for kab_enable(); the table ends with an empty one. */
#define KAB_FUNC(function) { .old_name = #function, .new_func = kab_route_##function }

/* Redirects functions of the kernel image; the module cannot be removed until livepatch has been disabled. */
static int __init kab_enable(struct klp_func *functions)
{
	static struct klp_object objects[2];	/* name NULL: the kernel image; the second ends the table */
	static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

	objects[0].funcs = functions;
	return klp_enable_patch(&patch);
}

/* A module that has something to free defines KAB_OWN_EXIT before it includes this, and a module_exit(). */
#ifndef KAB_OWN_EXIT
static void __exit kab_exit(void)
{
}
module_exit(kab_exit);
#endif
MODULE_INFO(livepatch, "Y");

/*
 * Where a kernel function that is not exported begins, NULL with a message when there is none. The kernel
 * resolves the name of a kprobe, so one is registered, disabled so that no code is touched, and taken back.
 * With IBT the answer lies behind the function's ENDBR: good for a direct call, never for an indirect one.
 * Hence KAB_IMPORT(), and kab_find_entry().
 */
static __maybe_unused void * __init kab_find(const char *name)
{
	struct kprobe probe = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	int err = register_kprobe(&probe);
	void *address;

	if (err) {
		pr_err("the kernel function %s was not found (error %d)\n", name, err);
		return NULL;
	}
	address = probe.addr;
	unregister_kprobe(&probe);
	return address;
}

/* The same as a pointer to call or to hand on: with IBT it is to name the ENDBR. */
static __maybe_unused void * __init kab_find_entry(const char *name)
{
	u8 *address = kab_find(name);

#ifdef CONFIG_X86_KERNEL_IBT
	if (address && is_endbr(*(u32 *)(address - sizeof(u32))))
		address -= sizeof(u32);
#endif
	return address;
}

/*
 * KAB_IMPORT(f) declares, KAB_BIND(f) (in init, before kab_enable()) finds it and returns 0 or -ENOENT, and
 * KAB_CALL(f)(...) calls: a direct call, as the kernel's own callers make. The prototype is the kernel
 * header's. `modinfo` shows what is imported, for kab to look at before the module is loaded.
 */
#define KAB_IMPORT(function)						\
	MODULE_INFO(kab_import, #function);				\
	DEFINE_STATIC_CALL_NULL(kab_##function, function)
#define KAB_CALL(function) static_call(kab_##function)
#define KAB_BIND(function) ({						\
	void *address_ = kab_find(#function);				\
									\
	if (address_)							\
		static_call_update(kab_##function, address_);		\
	address_ ? 0 : -ENOENT;						\
})

#endif
