// SPDX-License-Identifier: GPL-2.0-or-later
#include "elfv8.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "elfsym_private.h"

#define PREFIX "v8dbg_"

static const char *const names[ELFV8_CONSTANTS] = {
	[ELFV8_FRAME_FUNCTION] = "off_fp_function",
	[ELFV8_FRAME_CONTEXT] = "off_fp_context",
	[ELFV8_FRAME_BYTECODES] = "off_fp_bytecode_array",
	[ELFV8_FRAME_OFFSET] = "off_fp_bytecode_offset",
	[ELFV8_TAG] = "HeapObjectTag",
	[ELFV8_TAGS] = "HeapObjectTagMask",
	[ELFV8_SMI_SHIFT] = "SmiShiftSize",
	[ELFV8_WORD] = "TaggedSize",
	[ELFV8_FUNCTION_SHARED] = "class_JSFunction__shared__SharedFunctionInfo",
	[ELFV8_MAP_TYPE] = "class_Map__instance_type__uint16_t",
	[ELFV8_SHARED_NAME] = "class_SharedFunctionInfo__name_or_scope_info__Object",
	[ELFV8_SHARED_SCRIPT] = "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
	[ELFV8_SCRIPT_SOURCE] = "class_Script__source__Object",
	[ELFV8_SCRIPT_NAME] = "class_Script__name__Object",
	[ELFV8_SCRIPT_LINE_ENDS] = "class_Script__line_ends__Object",
	[ELFV8_SCOPE_LOCALS] = "scopeinfo_idx_ncontextlocals",
	[ELFV8_SCOPE_REST] = "scopeinfo_idx_first_vars",
	[ELFV8_STRING_LENGTH] = "class_String__length__int32_t",
	[ELFV8_STRING_CHARS] = "class_SeqOneByteString__chars__char",
	[ELFV8_STRINGS] = "FirstNonstringType",
	[ELFV8_STRING_KIND] = "StringRepresentationMask",
	[ELFV8_ONE_BYTE] = "OneByteStringTag",
	[ELFV8_CONS] = "ConsStringTag",
	[ELFV8_EXTERNAL] = "ExternalStringTag",
	[ELFV8_SLICED] = "SlicedStringTag",
	[ELFV8_THIN] = "ThinStringTag",
	[ELFV8_TYPE_SHARED] = "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
	[ELFV8_TYPE_SCOPE] = "type_ScopeInfo__SCOPE_INFO_TYPE",
	[ELFV8_TYPE_SCRIPT] = "type_Script__SCRIPT_TYPE",
	[ELFV8_TYPE_BYTECODES] = "type_BytecodeArray__BYTECODE_ARRAY_TYPE",
};

static void take_symbol(void *at, const char *name, const GElf_Sym *sym)
{
	uint64_t *addresses = at;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return;
	for (int i = 0; i < ELFV8_CONSTANTS; i++)
		if (!strcmp(name + strlen(PREFIX), names[i]))
			addresses[i] = sym->st_value;
}

int elfv8_find(struct elfsym *e, uint64_t constants[ELFV8_CONSTANTS])
{
	uint64_t addresses[ELFV8_CONSTANTS] = { 0 };

	elfsym_each_symbol(e, SHT_DYNSYM, take_symbol, addresses);
	for (int i = 0; i < ELFV8_CONSTANTS; i++) {
		const void *at =
			addresses[i] ? elfsym_bytes(e, addresses[i], sizeof(int32_t)) : NULL;
		int32_t value;

		if (!at)
			return -ENOENT;
		memcpy(&value, at, sizeof(value));
		constants[i] = (uint64_t)(int64_t)value;
	}
	return 0;
}
