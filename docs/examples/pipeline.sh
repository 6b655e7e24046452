#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A shell pipeline is slow, and none of its stages is busy.
. "$(dirname "$0")/lib.sh"
needs basename coreutils
cd "$tmp" || exit 1
awk 'BEGIN { for (i = 0; i < 3000; i++)
	printf "/srv/www/shop/static/pictures/%04.0f/article-%04.0f-%s.jpg\n", i % 7, i % 97, i % 2 ? "small" : "large" }' >paths

cat >names.sh <<'EOF'
cat paths | while read -r path; do basename "$path"; done | sort | uniq -c >names
EOF
cat >cured.sh <<'EOF'
cat paths | sed 's,.*/,,' | sort | uniq -c >cured
EOF
# seconds SCRIPT
seconds() {
	start=$(date +%s%N)
	timeout 60 sh "$1" || fail "$1"
	awk -v ns=$(($(date +%s%N) - start)) 'BEGIN { printf "%.3f\n", ns / 1e9 }'
}

title "The symptom"
printf '\n$ cat names.sh\n'
cat names.sh
printf '\n$ chaincap -- sh names.sh\n'
printf 'echo $$ >sh.pid\n. ./names.sh\n' >run.sh
timeout 60 chaincap -o "$out/trace.bin" -- sh run.sh 2>"$tmp/err" || { cat "$tmp/err"; fail "not recorded"; }
grep '^chaincap:' "$tmp/err"
before=$(seconds names.sh)
echo "It takes $before s for $(wc -l <paths) lines."
cd "$out" || exit 1
# Which cat, where there are others: the one that this shell started.
tid=$(chainwalk -q -f events trace.bin | awk -v shell="sh/$(cat "$tmp/sh.pid")" '
	$3 == "fork" && $4 == shell { sub(".*/", "", $6); child[$6] = 1 }
	$3 == "exec" && $4 ~ /^cat\// { sub("cat/", "", $4); if ($4 in child) { print $4; exit } }')
[ "$tid" ] || fail "no cat in the trace"

title "Off-CPU, off-wake, chain: the same wait"
show chainwalk -f tree -t "$tid" --top 1 --depth 0 trace.bin
show chainwalk -f tree -t "$tid" --top 1 --depth 1 trace.bin
show chainwalk -f tree -t "$tid" --top 1 --depth 2 trace.bin
pictures "cat, in front of a pipeline" 2 -t "$tid"
claim "of cat's waits, for the loop" 90 "$(share ';--;.*pipe_read;.*;sh;' off-wake.folded)"
grep ';sh;--;' chain.folded >asleep.folded
claim "of the time for which the loop slept meanwhile, for processes that live for one line" 80 \
	"$(share ';(sh|basename);\[' asleep.folded)"

title "The cure"
cd "$tmp" || exit 1
printf '\n$ cat cured.sh\n'
cat cured.sh
after=$(seconds cured.sh)
cmp names cured || fail "the cure has another result"
cured "seconds, with the same result" "$before" "$after" 5
