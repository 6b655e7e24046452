#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --json without a format is the first screen as one object of at most 8192 bytes: of all recorded traces as --json-schema
# says, with the sentences, links and causes of the screen itself, and whatever long names a trace has.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
here=$(dirname "$0")
schema() { python3 "$here/../tools/json_schema.py" "$tmp/schema" "$@" 2>"$tmp/err"; }

"$walk" --json-schema >"$tmp/schema" || fail "--json-schema"
cmp "$tmp/schema" "$here/../../engine/formats/screen.schema.json" || fail "--json-schema prints another schema"
for trace in "$here"/../data/*.bin "$here"/../data/services/*.bin; do
	"$walk" -q --json "$trace" >"$tmp/one" 2>"$tmp/err"
	expect_exit "chainwalk --json $trace" 0 $?
	expect "$trace: objects" 1 "$(wc -l <"$tmp/one" | tr -d ' ')"
	expect_at_most "$trace: bytes" 8192 "$(wc -c <"$tmp/one")" "$tmp/one"
	cat "$tmp/one" >>"$tmp/all"
	"$walk" -q --json --wide "$trace" >>"$tmp/wide"
done
"$walk" -q --json -p 26049 "$here"/../data/relay.bin >>"$tmp/all"
# The comparison of two: of the same one, and of one that has other things.
for pair in "relay relay" "relay shop" "shop relay" "services/c services/python"; do
	before=$here/../data/${pair% *}.bin after=$here/../data/${pair#* }.bin
	[ -e "$after" ] || fail "there is no $after"
	"$walk" -q --fail-above 20% --json --against "$before" "$after" >"$tmp/one" 2>"$tmp/err"
	json=$?
	"$walk" -q --fail-above 20% --against "$before" "$after" >"$tmp/text" 2>"$tmp/err"
	expect_exit "chainwalk --json --against, $pair" $? $json
	expect_at_most "bytes of the comparison, $pair" 8192 "$(wc -c <"$tmp/one")" "$tmp/one"
	"$walk" -q --json --wide --against "$before" "$after" >>"$tmp/one"
	cat "$tmp/one" >>"$tmp/compared"
	# As many figures as the text has, which are marked there.
	expect "figures, $pair" "$(grep -cE '^ *([0-9.]+ m?s(/s)?|-) ' "$tmp/text")" \
		"$(tail -n 1 "$tmp/one" | grep -o '"kind":' | wc -l | tr -d ' ')"
	expect "marked ones, $pair" "$(grep -c ' ! ' "$tmp/text")" "$(head -n 1 "$tmp/one" | grep -o '"above":true' | wc -l | tr -d ' ')"
done
schema "$tmp/all" "$tmp/wide" "$tmp/compared" >"$tmp/unused" || fail "$(cat "$tmp/err")"
# Members that no recorded trace has: of a command with children, and of several traces.
expect "members of the schema that no trace has" \
	".screen.host .screen.trace .subject.longest_steps .subject.longest_steps.name .subject.longest_steps.took_ns" \
	"$(sort "$tmp/unused" | tr '\n' ' ' | sed 's/ $//')"
# The check sees what is wrong.
for wrong in 's/"schema":1/"schema":2/' 's/"verdict":"[^"]*",//' 's/"lost":0/"lost":"0"/' 's/"cpus"/"CPUs"/' 's/"percent":/&-/'; do
	sed "$wrong" "$tmp/all" >"$tmp/wrong"
	cmp "$tmp/all" "$tmp/wrong" >/dev/null && fail "nothing to change: $wrong"
	schema "$tmp/wrong" >/dev/null && fail "the schema allows what is not so: $wrong"
done
"$walk" -q --json "$here/../data/relay.bin" "$here/../data/shop.bin" >"$tmp/two"
schema "$tmp/two" >/dev/null || fail "$(cat "$tmp/err")"
expect "traces of two" 2 "$(sed 's/^{"trace":"\([^"]*\)".*/\1/' "$tmp/two" | sort -u | wc -l | tr -d ' ')"

# What the screen says.
for trace in "$here"/../data/relay.bin "$here"/../data/shop.bin "$here"/../data/services/*.bin; do
	# --wide: as here, names have their addresses.
	"$walk" -q -f causes --wide "$trace" >"$tmp/text"
	"$walk" -q --json --wide "$trace" >"$tmp/one"
	"$walk" -q --json -f causes "$trace" >"$tmp/rows"
	python3 - "$tmp/one" "$tmp/text" "$tmp/rows" <<'END' || fail "$trace: not what the screen says"
import json, sys
screen = json.load(open(sys.argv[1]))
text = open(sys.argv[2], encoding="utf-8").read()
words, lines = " ".join(text.split()), [line.split() for line in text.split("\n")]
assert screen["subjects"] and screen["causes"]
for subject in screen["subjects"]:
    assert " ".join(subject["verdict"].split()) in words, subject["verdict"]
    assert subject["steps"][0]["ns"] <= subject["explained_ns"]
    for step in subject["steps"]:
        end = [str(step["percent"]), "%"] + step["words"].split()
        # How many wait is there if it has room.
        crowd = end + [f"({step['at_once']}", "at", "once)"]
        assert any(line[-len(e):] == e and line[0] == step["who"].split()[0] for line in lines for e in (end, crowd)), step
rows = [row for row in map(json.loads, open(sys.argv[3])) if not row["pause"]]
assert [{k: v for k, v in cause.items() if k not in ("row", "percent")} for cause in screen["causes"]] == rows
assert sum(cause["ns"] for cause in screen["causes"]) == screen["waited_ns"] and not screen["causes_left_out"]
END
done

# What limits trust is on both.
"$walk" -q -f causes "$here/../data/lost.bin" >"$tmp/text"
limit=$("$walk" -q --json "$here/../data/lost.bin" | sed 's/.*"limits_of_trust":\["\([^"]*\)".*/\1/')
expect "first line of a trace with losses" "Careful: $limit." "$(head -n 1 "$tmp/text")"

# Long names of all kinds of characters, in threads, functions and the path.
python3 - "$tmp/perf" <<'END'
import sys
odd = "\\\"\U0001f600\u00e9\u200e" * 400
with open(sys.argv[1], "w", encoding="utf-8") as out:
    now = 100.0
    for i in range(400):
        for line in (
            f"t{i % 40}-x 100{i % 40} [000] {now:.6f}: sched:sched_switch: prev_comm=t{i % 40}-x prev_pid=100{i % 40} prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
            f"\tffffffff81000000 schedule ([kernel.kallsyms])",
            f"\t401000 f{i % 40}{odd} (/bin/{odd[:50]})", "",
            f"w{i % 7} 200{i % 7} [001] {now + 0.01:.6f}: sched:sched_waking: comm=t{i % 40}-x pid=100{i % 40} prio=120 target_cpu=000",
            f"\tffffffff81000010 try_to_wake_up ([kernel.kallsyms])",
            f"\t402000 g{i % 7}{odd} (/bin/x)", "",
            f"swapper 0 [000] {now + 0.011:.6f}: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=t{i % 40}-x next_pid=100{i % 40} next_prio=120", "",
        ):
            print(line, file=out)
        now += 0.02
END
long=$tmp/$(printf '%0200d' 7 | tr 0 "'").txt
mv "$tmp/perf" "$long"
"$walk" -q --json "$long" >"$tmp/one" 2>"$tmp/err"
expect_exit "chainwalk --json of long names" 0 $?
expect_at_most "bytes with long names" 8192 "$(wc -c <"$tmp/one")" "$tmp/one"
expect_at_least "bytes of all with long names" 20000 "$("$walk" -q --json --wide "$long" | wc -c)" "$tmp/one"
schema "$tmp/one" >/dev/null || fail "$(cat "$tmp/err")"
grep -q '"causes":\[{"row":1' "$tmp/one" || fail "no cause is left: $(cat "$tmp/one")"

# Bad usage.
"$walk" --json --show 1 "$trace" 2>"$tmp/err" && fail "--json --show is taken"
exit 0
