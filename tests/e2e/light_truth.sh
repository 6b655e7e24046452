#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same incident in a light and in a whole recording, made at once: all requests are counted, those that took long are
# in both, the causes have the same shares, and the chains of the slowest requests are the same.
# Beside another: both recorders see the same load.
. "$(dirname "$0")/lib.sh"
needs_usual "light recordings"
command -v python3 >/dev/null || skip "no python3"
services=$(dirname "$0")/../services
# shellcheck source=tests/services/lib.sh
. "$services/lib.sh"
dir=$tmp/c server_kept=''
mkdir "$dir"
chmod 755 "$tmp" "$dir"
service c
service_start || skip "no ${server_lacks:-service: $(tail -n 5 "$dir"/*log)}"
started="$started $server_kept"
# What runs is not sampled: that is at other moments in each.
begin_recording "$tmp/light.bin" --light 1ms -F 0
light=$recorder
begin_recording "$tmp/full.bin" -F 0
service_load 8 || fail "the client failed: $(tail -n 5 "$dir"/*log)"
end_recording
kill -INT "$light"
wait "$light"
expect_exit "chaincap --light" 0 $?
for of in full light; do
	"$walk" -q -f requests --json "$tmp/$of.bin" >"$tmp/$of.requests" 2>"$tmp/err"
	expect_exit "chainwalk -f requests of $of" 0 $?
	"$walk" -q -f causes --json --top 1000 -c '^(shelf|visitors|redis-server)$' "$tmp/$of.bin" >"$tmp/$of.causes" 2>"$tmp/err"
	expect_exit "chainwalk -f causes of $of" 0 $?
	"$walk" -q --unit=ns --requests --slowest 1% "$tmp/$of.bin" >"$tmp/$of.chains" 2>"$tmp/err"
	expect_exit "chainwalk --slowest of $of" 0 $?
done
read_info "$tmp/light.bin"
python3 - "$tmp" "$(info_figure quick_requests_left_out)" "$(info_figure requests)" <<'END' >"$tmp/judged" || fail "$(cat "$tmp/judged" "$tmp/light.causes")"
import json, os, re, sys
where, left_out, told = sys.argv[1], int(sys.argv[2] or 0), int(sys.argv[3])
wrong = []
def lines(of):
    return [json.loads(line) for line in open(where + "/" + of)]
def share(of):
    """The time of each thread's name that waited, ran or had no CPU, in parts of 100."""
    at = {}
    for c in lines(of):
        what = re.search(r" (had no CPU|ran|slept|unknown)\b", c["cause"])
        key = c["name"], what.group(1) if what else "", c["pause"]
        at[key] = at.get(key, 0) + c["ns"]
    counted = {k: v for k, v in at.items() if not k[2]}
    return {k: 100 * v / sum(counted.values()) for k, v in counted.items()}
full, light = share("full.causes"), share("light.causes")
for k in sorted(set(full) | set(light), key=lambda k: -full.get(k, 0)):
    a, b = full.get(k, 0), light.get(k, 0)
    if max(a, b) >= 1:
        print("%-14s %-12s %5.1f %% %5.1f %%" % (k[0], k[1], a, b))
    if abs(a - b) > 5:
        wrong.append("%s %s: %.1f and %.1f %%" % (k[0], k[1], a, b))
def chains(of):
    at = {}
    for line in open(where + "/" + of):
        chain, ns = line.rsplit(" ", 1)
        at[chain] = at.get(chain, 0) + int(ns)
    return at
full, light = chains("full.chains"), chains("light.chains")
recalled = 100 * sum(min(v, light.get(k, 0)) for k, v in full.items()) / sum(full.values())
print("of the slowest requests' chains %.1f %% are recalled" % recalled)
if recalled < 95:
    wrong.append("chains")
def requests(of):
    return {r["endpoint"]: r for r in lines(of) if "p99_ns" in r}
full, light = requests("full.requests"), requests("light.requests")
n = sum(r["requests"] for r in full.values())
print("%d requests, %d told, %d left out" % (n, told, left_out))
if abs(n - told - left_out) > n / 100 or not left_out:
    wrong.append("requests")
for name in full:
    a, b = full[name]["requests"], light.get(name, {"requests": 0})["requests"]
    if abs(a - b) > 63 * os.cpu_count() + a / 100:
        wrong.append("%s: %d requests, and %d in the light recording" % (name, a, b))
print(wrong)
sys.exit(len(wrong))
END
sed "s/^/note: /" "$tmp/judged"
