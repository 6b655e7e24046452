#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual lists exactly the functions by which --no-idle goes.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
file=engine/base/kernel_functions.c lists=include/idle_functions.h

# The long lists are shared with the picture, in a header that has nothing else.
{
	awk '/^\t\{ KFUNC/ { here = /KFUNC_AWAITS_WORK|KFUNC_EVENT_LOOP/ } here' $file
	cat $lists
} | grep -o '"[^"]*"' | tr -d '"' | sort >"$tmp/table"
# the lists are what follows a heading that ends in a colon
awk '/^\.SH/ { here = /IDLE WAITS/ } /^\./ { list = 0 } here && list; /:$/ { list = 1 }' docs/chainwalk.1 |
	tr -d ' ' | tr ',' '\n' | grep . | sort >"$tmp/manual"
expect_at_least "functions in $file and $lists" 40 "$(wc -l <"$tmp/table")" "$tmp/table"
expect "functions in only one of $file with $lists, and docs/chainwalk.1" "" \
	"$(comm -3 "$tmp/table" "$tmp/manual")"
