#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is interrupted in a function's first instruction is in that function, not in the one before it, from whose last
# call it would be the return address: page faults there (eu-addr2line says which function an address is in), and
# samples of the kernel (/proc/kallsyms does). The same address behind a call that does not return is the caller's.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_usual "the leaf of a page fault"
needs_disk
command -v eu-addr2line >/dev/null || skip "no eu-addr2line"
build_slow first
"$cap" -q -F 997 -o "$tmp/trace" -- sh -c '"$0" "$1" 1 >/dev/null && exec "$0" "$1" 200' "$tmp/first" "$dir" >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- first" 0 $?
"$walk" -q --all -f events -v "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk -f events" 0 $?

# ADDRESS FUNCTION, once for each frame of the program, with how often.
sed -n "s/^[[:space:]]*\([0-9a-f]*\) \([^+ ]*\)+0x[0-9a-f]* (.*\/first)\$/\1 \2/p" "$tmp/events" | sort | uniq -c >"$tmp/frames"
peeks=$(awk '$3 == "peek" { n += $1 } END { printf "%.0f\n", n }' "$tmp/frames")
expect_at_least "page faults in peek, of 200 of which few find their page read already" 20 "$peeks" "$tmp/frames"
expect "frames of the function before it" "" "$(grep -w before_peek "$tmp/frames")"
for name in peek gives_up; do
	addr=$(awk -v name=$name '$3 == name { print $2; exit }' "$tmp/frames")
	[ "$addr" ] || fail "no frame of $name
$(cat "$tmp/frames")"
	start=$(nm "$tmp/first" | awk '$3 == "'$name'" { print $1 }')
	if [ $name = peek ]; then
		expect "function at $addr by eu-addr2line" peek "$(eu-addr2line -f -e "$tmp/first" "0x$addr" | head -n 1)"
		expect "address of peek" "$((0x$start))" "$((0x$addr))"
	else
		# What follows its call is another function's first instruction.
		expect "function behind the call in gives_up by eu-addr2line" after_it \
			"$(eu-addr2line -f -e "$tmp/first" "0x$addr" | head -n 1)"
	fi
done

# Kernel functions in whose first instruction a sample is: any name of the address will do.
awk 'NR == FNR { if ($2 ~ /[tTwW]/) names[$1] = names[$1] " " $3; next }
	leaf { leaf = 0; if ($1 in names) { split($2, at, "+"); n++
		if (!index(names[$1] " ", " " at[1] " ")) print $1, $2, "but it is" names[$1] } }
	/^ +[0-9.]+ \[[0-9]+\] sample / { leaf = 1 }
	END { printf "%.0f\n", n >"/dev/stderr" }' /proc/kallsyms "$tmp/events" >"$tmp/wrong" 2>"$tmp/number"
echo "note: $(cat "$tmp/number") samples in a kernel function's first instruction"
expect "samples that have another function's name" "" "$(cat "$tmp/wrong")"
