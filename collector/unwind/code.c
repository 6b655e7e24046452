// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/code.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

static bool read_code(int fd, uint64_t offset, void *buf, size_t len)
{
	return pread(fd, buf, len, (off_t)offset) == (ssize_t)len;
}

#if defined(__x86_64__)
bool code_is_signal_return(int fd, uint64_t offset)
{
	static const uint8_t mov_rax[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t mov_eax[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[sizeof(mov_rax)];

	return read_code(fd, offset, code, sizeof(code)) &&
	       (!memcmp(code, mov_rax, sizeof(mov_rax)) || !memcmp(code, mov_eax, sizeof(mov_eax)));
}

bool code_is_call(int fd, uint64_t offset)
{
	uint8_t b[7]; /* the bytes before */

	if (offset < sizeof(b) || !read_code(fd, offset - sizeof(b), b, sizeof(b)))
		return false;
	/* call rel32; call *%reg, *(%reg), *disp8(%reg), *disp32(%reg) or *disp32(%rip) */
	return b[2] == 0xe8 || (b[5] == 0xff && (b[6] & 0x38) == 0x10) ||
	       (b[4] == 0xff && (b[5] & 0x38) == 0x10) || (b[1] == 0xff && (b[2] & 0x38) == 0x10);
}
#elif defined(__aarch64__)
bool code_is_signal_return(int fd, uint64_t offset)
{
	uint32_t code[2];

	return read_code(fd, offset, code, sizeof(code)) && code[0] == 0xd2801168 &&
	       code[1] == 0xd4000001; /* mov x8, #139; svc #0 */
}

bool code_is_call(int fd, uint64_t offset)
{
	uint32_t before;

	if (offset < sizeof(before) ||
	    !read_code(fd, offset - sizeof(before), &before, sizeof(before)))
		return false;
	/* bl; blr, with or without authentication */
	return (before & 0xfc000000) == 0x94000000 || (before & 0xfefff000) == 0xd63f0000;
}
#endif
