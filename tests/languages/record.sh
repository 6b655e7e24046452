# shellcheck shell=sh disable=SC2154 # walk and tmp are the test's
# SPDX-License-Identifier: GPL-2.0-or-later
# Records a service of this folder under load, and judges what chains say of its slow requests; to be sourced after
# tests/e2e/lib.sh. Wants $languages, this folder.

# language_end: ends what still runs of it.
language=''
language_end() {
	[ -z "$language" ] || { kill "$language" && wait "$language"; } 2>/dev/null
	language=''
}
trap 'language_end; clean_up' EXIT

# language_record NAME COMMAND...: COMMAND, with "-o TRACE SECONDS" behind it, records $tmp/trace; the service's
# endpoint is in $endpoint, chains of requests that took 20 ms or longer in $tmp/slow. Longer if there are none: on a
# busy machine it takes a while until one is answered.
language_record() {
	language_name=$1
	shift
	chmod 755 "$tmp"
	: >"$tmp/told"
	TMPDIR=$tmp sh "$languages/../services/run.sh" "$languages/$language_name" 60 \
		>"$tmp/told" 2>&1 &
	language=$!
	for _ in $(seq 600); do
		! grep -q '^loading$' "$tmp/told" || break
		is_running $language || break
		sleep 0.1
	done
	grep -q '^loading$' "$tmp/told" || {
		wait $language
		[ $? != 77 ] || skip "$(cat "$tmp/told")"
		fail "$language_name does not start: $(cat "$tmp/told")"
	}
	endpoint=$(sed -n 's/^endpoint //p' "$tmp/told")
	sleep 1 # the first requests; what is called often is compiled
	for language_seconds in 2 5 10; do
		timeout 60 "$@" -o "$tmp/trace" $language_seconds 2>"$tmp/err"
		expect_exit "$*" 0 $?
		"$walk" -q --depth 10 --request "^$endpoint\$" --request-min 20ms "$tmp/trace" |
			grep -v '^\[note\]' >"$tmp/slow"
		[ ! -s "$tmp/slow" ] || break
		echo "note: no request took 20 ms in $language_seconds s"
	done
	language_end
}

# expect_names REGEX...: for each, there is a chain of a slow request in which a function's name matches.
expect_names() {
	for wanted; do
		named=$(grep -cE "$wanted" "$tmp/slow")
		echo "note: $named of $(wc -l <"$tmp/slow") chains have $wanted"
		[ "$named" -gt 0 ] || fail "no chain of a slow request has $wanted:
$(awk '{ print $NF, $0 }' "$tmp/slow" | sort -rn | head -n 3 | cut -c 1-1000)
$(cat "$tmp/err")"
	done
}
