// SPDX-License-Identifier: GPL-2.0-or-later
#include "java_frames.h"

#include <errno.h>

int java_frames_rule(struct symbolizer *s, uint32_t space, uint64_t addr, bool is_exact,
		     struct jvm_rule *r)
{
	struct jvms *jvms = symbolizer_jvms(s);
	bool may_be_jvm = false;
	uint32_t tgid = jvms ? symbolizer_java_process(s, space, &may_be_jvm) : 0;
	int err = tgid ? jvms_rule(jvms, tgid, addr, is_exact, r) : -ENOENT;

	if (err != -ESRCH)
		return err;
	return may_be_jvm ? -EAGAIN : -ENOENT;
}

int java_frames_names(struct symbolizer *s, uint32_t space, uint64_t frame, uint64_t time_ns,
		      struct jvms_names *out)
{
	struct jvms *jvms = symbolizer_jvms(s);
	struct symbolizer_code code;
	bool may_be_jvm;
	uint32_t tgid;

	if (!jvms)
		return -ENOENT;
	if (!wire_is_java_method(frame) &&
	    (!symbolizer_code(s, space, wire_address(frame), time_ns, &code) ||
	     code.kind != CODE_GENERATED))
		return -ENOENT;
	tgid = symbolizer_java_process(s, space, &may_be_jvm);
	return tgid ? jvms_names(jvms, tgid, frame, out) : -ENOENT;
}
