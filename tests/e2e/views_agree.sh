#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All views of a recorded trace are of the same waits: their numbers agree to the nanosecond. Lines of
# --format=json are JSON to a real parser, also where a thread's name is not even UTF-8.
# Beside another: sums of one trace are compared, whatever is in it.
. "$(dirname "$0")/lib.sh"
needs_bpf

# view FILE [OPTION...]: what chainwalk says on standard output; its summary in $tmp/err.
view() {
	out=$1
	shift
	timeout 300 "$walk" "$@" "$tmp/trace" >"$out" 2>"$tmp/err"
	expect_exit "chainwalk $*" 0 $?
}
last_numbers() { awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"; }
# total N FILE: the N-th number of a table's last row.
total() { awk -v n="$1" '/^ *all of them/ { print $(3 + n) }' "$2"; }
# numbers KEY FILE: their sum over the lines of JSON.
numbers() {
	grep -o "\"$1\":[0-9]*" "$2" | awk -F: '{ sum += $2 } END { printf "%.0f\n", sum }'
}

# What a hostile process would call itself, while the relay runs. (The kernel cuts it to 15 bytes.)
timeout 300 "$cap" -F 0 -o "$tmp/trace" -- sh -c '
	printf "\"\\\\\377\033[31m;\303" >/proc/self/comm
	"$0" relay --rounds 5 >"$1"
	sleep 0.05' "$load" "$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- sh" 0 $?

# Most of the recording: a short part may have no wait that ended on a busy machine.
part=$(duration "$tmp/trace" | awk '{ printf "--from=%.3f --to=%.3f", $1 / 10e9, $1 * 9 / 10e9 }')
for filter in '' '--no-idle' '--min-wait=1ms --no-kthreads' '-c ^(alpha|bravo)$' "$part" \
	'--depth=2 --mode=classic'; do
	chain=$filter
	case $filter in --depth*) filter= ;; esac # these have no meaning in tables
	# shellcheck disable=SC2086 # options, separated by spaces
	{
		view "$tmp/folded" --unit=ns --state=all $chain
		view "$tmp/json" --format=json --state=all $chain
		view "$tmp/hist" --format=hist --unit=ns --state=all $filter
		view "$tmp/wakers" --format=wakers --unit=ns $filter
		view "$tmp/wakeup" --view=wakeup --unit=ns $filter
		view "$tmp/sleeps" --format=json --state=blocked $chain
	}
	all=$(last_numbers "$tmp/folded")
	expect_at_least "[$chain] folded: there is something" 1 "$all"
	expect "[$chain] folded, and the pieces of json" "$all" "$(numbers ns "$tmp/json")"
	blocked=$(numbers blocked "$tmp/json")
	expect "[$chain] folded, and the parts of json" "$all" \
		$((blocked + $(numbers runnable "$tmp/json") + $(numbers preempted "$tmp/json")))
	expect "[$chain] json's blocked time, and wakers'" "$blocked" "$(total 2 "$tmp/wakers")"
	expect "[$chain] json's blocked time, and --view wakeup" "$blocked" "$(last_numbers "$tmp/wakeup")"
	expect "[$chain] waits in json and hist" "$(wc -l <"$tmp/json")" \
		"$(awk '/ -> / { n += $5 } END { printf "%.0f\n", n }' "$tmp/hist")"
	expect "[$chain] sleeps in json and wakers" "$(wc -l <"$tmp/sleeps")" "$(total 1 "$tmp/wakers")"
	[ -n "$chain" ] && continue
	# a thread's times are all of it
	view "$tmp/json" --format=json --state=all --not-woken
	blocked=$(numbers blocked "$tmp/json")
	view "$tmp/sleeps" --format=json --not-woken
	view "$tmp/threads" --format=threads --unit=ns --state=all --not-woken
	# In no row: the sum over threads says nothing. A name may have blanks.
	expect "blocked time of json and threads" "$blocked" \
		"$(awk '/^ *[0-9]/ { sum += substr($0, 48, 13) } END { printf "%.0f\n", sum }' "$tmp/threads")"
	expect "blocked time in the last row of threads" - "$(total 2 "$tmp/threads")"
	expect "runnable time of json and threads" "$(numbers runnable "$tmp/json")" \
		"$(total 3 "$tmp/threads")"
	expect "preempted time of json and threads" "$(numbers preempted "$tmp/json")" \
		"$(total 4 "$tmp/threads")"
	expect "sleeps in json and threads" "$(wc -l <"$tmp/sleeps")" "$(total 7 "$tmp/threads")"
	view "$tmp/whole.json" --format=json --state=all
done

# what --no-idle leaves out is said, and is what is missing
view "$tmp/busy.json" --format=json --state=all --no-idle
view "$tmp/busy.folded" --state=all --no-idle
left_out=$(sed -n 's/.*left out as idle: \([0-9]*\) waits.*/\1/p' "$tmp/err")
blocked_waits() { grep -c '"blocked":[1-9]' "$1"; }
expect "waits left out as idle" $(($(blocked_waits "$tmp/whole.json") - $(blocked_waits "$tmp/busy.json"))) "$left_out"
expect "time that is not blocked, with --no-idle" \
	$(($(numbers runnable "$tmp/whole.json") + $(numbers preempted "$tmp/whole.json"))) \
	$(($(numbers runnable "$tmp/busy.json") + $(numbers preempted "$tmp/busy.json")))
# and is what the causes do not count
view "$tmp/causes" --format=causes --json
expect "ns that are left out, and those of pauses in causes" \
	$(($(numbers blocked "$tmp/whole.json") - $(numbers blocked "$tmp/busy.json"))) \
	"$(grep '"pause":true' "$tmp/causes" | sed 's/.*"function":[^,]*,"ns":\([0-9]*\),.*/\1/' |
		awk '{ sum += $1 } END { printf "%.0f\n", sum }')"
expect "relay's own waits with --no-idle" "$(grep -c alpha_waits "$tmp/whole.json")" \
	"$(grep -c alpha_waits "$tmp/busy.json")"
grep -q '"schedule","__schedule"' "$tmp/whole.json" || fail "no waits with a scheduler's frame at all"
expect "loops of kernel workers with --no-idle" "" \
	"$(grep -o '"kthread","worker_thread","schedule","__schedule"\]},"pieces' "$tmp/busy.json" | head -1)"

if command -v jq >/dev/null 2>&1; then
	parse() { jq -r '[.tid, .name, ([.pieces[].ns] | add // 0)] | @json' "$1"; }
	parser=jq
elif command -v python3 >/dev/null 2>&1; then
	parse() {
		python3 -c 'import json, sys
for line in open(sys.argv[1], encoding="utf-8", errors="strict"):
	o = json.loads(line)
	print(json.dumps([o["tid"], o["name"], sum(p["ns"] for p in o["pieces"])],
		separators=(",", ":"), ensure_ascii=False))' "$1"
	}
	parser=python3
elif command -v node >/dev/null 2>&1; then
	parse() {
		node -e 'const text = new TextDecoder("utf-8", { fatal: true })
			.decode(require("fs").readFileSync(process.argv[1]))
		for (const line of text.split("\n").filter(Boolean)) {
			const o = JSON.parse(line)
			console.log(JSON.stringify([o.tid, o.name, o.pieces.reduce((a, p) => a + p.ns, 0)]))
		}' "$1"
	}
	parser=node
else
	skip "the views agree, but there is no JSON parser (jq, python3, node) to try the json with"
fi
parse "$tmp/whole.json" >"$tmp/parsed" 2>"$tmp/err" || fail "$parser does not take it: $(head -3 "$tmp/err")"
expect "objects that $parser read" "$(wc -l <"$tmp/whole.json")" "$(wc -l <"$tmp/parsed")"
expect "nanoseconds that $parser read" "$(numbers ns "$tmp/whole.json")" \
	"$(sed 's/.*,\([0-9]*\)\]$/\1/' "$tmp/parsed" | awk '{ sum += $1 } END { printf "%.0f\n", sum }')"
# each bad byte of the name is one U+FFFD
grep -q '"\\"\\\\�\\u001b\[31m;�"' "$tmp/parsed" || fail "the hostile name did not come through $parser:
$(grep -o '^.[0-9]*,"\\".*' "$tmp/parsed" | head -3)"
if grep -q "$(printf '\033')" "$tmp/whole.json"; then
	fail "a raw escape character in the JSON"
fi
