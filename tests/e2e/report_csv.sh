#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is copied from a report's table as csv: each cell is one field, and none that a recorded program has chosen is a
# spreadsheet's formula. The report's own functions are asked.
. "$(dirname "$0")/lib.sh"
command -v node >/dev/null || skip "no node"
timeout 300 "$walk" -q -f html "$(dirname "$0")/../data/services/c.bin" >"$tmp/report.html" 2>"$tmp/err"
expect_exit "chainwalk -f html" 0 $?
grep -E '^[[:space:]]*const ((plain|field) = \(v\) => /|csvText = )' "$tmp/report.html" | sort -u >"$tmp/functions.js"
expect "functions in the report" 3 "$(wc -l <"$tmp/functions.js")"
cat >>"$tmp/functions.js" <<-'EOF'
	const cells = ["=1+1", "+x", "-x|' /C calc'!A0", "@SUM(A1)", '=a,"b"', "a=b", "-", -1.5, 12, "", "a,b"];
	process.stdout.write(csvText([cells]));
	EOF
node "$tmp/functions.js" >"$tmp/out" 2>"$tmp/err"
expect_exit "node" 0 $?
expect "the cells as csv" "'=1+1,'+x,'-x|' /C calc'!A0,'@SUM(A1),\"'=a,\"\"b\"\"\",a=b,-,-1.5,12,,\"a,b\"" "$(cat "$tmp/out")"
