// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/rule.h"

#include <stdbool.h>
#include <linux/types.h>

#include "chainwire.h"

static enum wire_rule_kind register_kind(const struct unwind_rule *r)
{
	return r->cfa_register == UNWIND_SP   ? WIRE_RULE_SP
	       : r->cfa_register == UNWIND_FP ? WIRE_RULE_FP
					      : WIRE_RULE_ASK;
}

/* Where the return address is, for wire_rule(). False: not where the BPF side looks. */
static bool pack_return_address(const struct unwind_rule *r, int *ra_words)
{
	*ra_words = WIRE_RA_LINK;
	if (!r->ra_saved)
		return UNWIND_HAS_LINK && r->ra_register == UNWIND_RA;
	*ra_words = WIRE_RA_PAIR;
	if (UNWIND_HAS_LINK && r->fp_saved && r->ra_offset == r->fp_offset + 8)
		return true;
	*ra_words = r->ra_offset / 8;
	return r->ra_offset % 8 == 0 && *ra_words == (int8_t)*ra_words && *ra_words < 0;
}

uint64_t unwind_rule_pack(const struct unwind_rule *r)
{
	enum wire_rule_kind kind = WIRE_RULE_NONE;
	int32_t cfa_offset = r->cfa_offset;
	int ra_words;
	bool fits = pack_return_address(r, &ra_words) && r->fp_offset == (int16_t)r->fp_offset;

	switch ((enum unwind_kind)r->kind) {
	case UNWIND_NONE:
		return wire_rule(WIRE_RULE_NONE, 0, 0, 0);
	case UNWIND_SIGNAL:
		return wire_rule(WIRE_RULE_SIGNAL, 0, 0, 0);
	case UNWIND_END:
		return wire_rule(WIRE_RULE_END, 0, 0, 0);
	case UNWIND_HARD:
		return wire_rule(WIRE_RULE_HARD, 0, 0, 0);
	case UNWIND_UNKNOWN:
		return wire_rule(WIRE_RULE_ASK, 0, 0, 0);
	case UNWIND_INTERPRETED:
		return wire_rule(WIRE_RULE_JAVA, 0, 0, 0);
	case UNWIND_GIVEN_UP:
		kind = WIRE_RULE_GIVEN_UP;
		break;
	case UNWIND_REGISTER:
		kind = register_kind(r);
		break;
	case UNWIND_PLT:
		kind = WIRE_RULE_PLT;
		break;
	case UNWIND_REALIGNED:
		kind = WIRE_RULE_REALIGNED;
		break;
	case UNWIND_SAVED:
		kind = WIRE_RULE_SAVED;
		cfa_offset |= r->cfa_register == UNWIND_FP;
		break;
	}
	if (!fits || (r->fp_saved && !r->fp_offset))
		return wire_rule(WIRE_RULE_ASK, 0, 0, 0);
	return wire_rule(kind, cfa_offset, r->fp_offset, ra_words);
}
