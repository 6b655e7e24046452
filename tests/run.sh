#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs all tests against the programs in the build folder $1: unit tests, end-to-end tests, the
# renderer's in a browser. A skipped test is named with its reason. TESTS="glob..." picks some.
set -u
O=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
passed=0 failed=0 skipped=0 names=
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

wanted() {
	[ -z "${TESTS:-}" ] && return 0
	set -f # the patterns are for names of tests, not of files
	for pattern in $TESTS; do
		# shellcheck disable=SC2254 # a glob
		case $1 in $pattern) set +f; return 0 ;; esac
	done
	set +f
	return 1
}
count() { grep -c "$1" "$log"; }

for t in "$O"/tests/unit/*; do
	case $t in *.o | *.d) continue ;; esac
	[ -x "$t" ] && wanted "${t##*/}" || continue
	timeout 300 "$t" >"$log" 2>&1
	status=$?
	ok=$(count '^\[       OK \]') bad=$(count '^\[  FAILED  \] [^0-9]') skip=$(count '^\[  SKIPPED \] [^0-9]')
	[ "$bad" -gt 0 ] && bad=$(count '^\[  FAILED  \] .*') && bad=$(grep '^\[  FAILED  \] [a-zA-Z_]' "$log" | sort -u | wc -l)
	[ "$skip" -gt 0 ] && skip=$(grep '^\[  SKIPPED \] [a-zA-Z_]' "$log" | sort -u | wc -l)
	passed=$((passed + ok)) skipped=$((skipped + skip))
	if [ $status -ne 0 ]; then
		[ "$bad" -gt 0 ] || bad=1
		failed=$((failed + bad)) names="$names ${t##*/}"
		cat "$log"
		echo "FAIL ${t##*/} (exit $status)"
	else
		echo "ok   ${t##*/}: $ok tests"
		grep -v '^\[' "$log" | grep -i '^skip'
		[ "$skip" -eq 0 ] || grep '^\[  SKIPPED \] [a-zA-Z_]' "$log" | sort -u
	fi
done

for t in "$O"/tests/replay/*; do
	name=${t##*/}
	[ -x "$t" ] && [ -d "tests/fuzz/corpus/$name" ] && wanted "replay_$name" || continue
	if timeout 120 "$t" tests/fuzz/corpus/"$name"/* >"$log" 2>&1; then
		passed=$((passed + 1))
		echo "ok   replay_$name: $(find tests/fuzz/corpus/"$name" -type f | wc -l) inputs"
	else
		failed=$((failed + 1)) names="$names replay_$name"
		cat "$log"
		echo "FAIL replay_$name"
	fi
done

for t in tests/e2e/*.sh; do
	name=$(basename "$t" .sh)
	case $name in lib | '*') continue ;; esac
	wanted "$name" || continue
	begin=$(date +%s)
	timeout 120 bash "$t" "$O" >"$log" 2>&1
	status=$?
	took=$(($(date +%s) - begin))
	case $status in
	0) passed=$((passed + 1)); echo "ok   $name (${took} s)"; grep '^note:' "$log" ;;
	77) skipped=$((skipped + 1)); echo "SKIP $name: $(tail -n 1 "$log")" ;;
	*) failed=$((failed + 1)) names="$names $name"; cat "$log"; echo "FAIL $name (exit $status, ${took} s)" ;;
	esac
done

if wanted browser && [ -f tests/browser/run.sh ]; then
	timeout 600 bash tests/browser/run.sh "$O" >"$log" 2>&1
	status=$?
	sums=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
	p=$(echo "$sums" | sed -n 's/^\([0-9]*\) passed.*/\1/p') f=$(echo "$sums" | sed -n 's/.* \([0-9]*\) failed.*/\1/p')
	k=$(echo "$sums" | sed -n 's/.* \([0-9]*\) skipped.*/\1/p')
	passed=$((passed + ${p:-0})) skipped=$((skipped + ${k:-0}))
	grep -i '^skip' "$log"
	if [ $status -ne 0 ] || [ "${f:-1}" -ne 0 ]; then
		[ "${f:-0}" -gt 0 ] || f=1
		failed=$((failed + f)) names="$names browser"
		cat "$log"
		echo "FAIL browser (exit $status)"
	else
		echo "ok   browser: ${p:-0} tests"
	fi
fi

[ $failed -eq 0 ] || echo "failed:$names"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
