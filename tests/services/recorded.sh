# shellcheck shell=sh disable=SC2154 # what tests/e2e/lib.sh has
# SPDX-License-Identifier: GPL-2.0-or-later
# For tests that compare what is recorded of a service's requests with what its clients measured; sourced after
# tests/e2e/lib.sh.
services=$(dirname "$0")/../services
# shellcheck source=tests/services/lib.sh
. "$services/lib.sh"
ran=

# record_service NAME SECONDS [HZ]: 77 if it cannot run here. Else $trace, $endpoint, the client's figures in
# $dir/figures, and in $tmp/csv what chainwalk says of the requests.
record_service() {
	dir=$tmp/$1 trace=$tmp/$1.bin
	server_kept=''
	mkdir "$dir"
	chmod 755 "$tmp" "$dir"
	service "$1"
	service_start
	case $? in
	0) ;;
	77) echo "note: $1: not tried: no $server_lacks"; return 77 ;;
	*) fail "$1 does not start: $(tail -n 5 "$dir"/*log "$dir"/*/log 2>/dev/null)" ;;
	esac
	started="$started $server_kept"
	endpoint=$service_endpoint
	begin_recording "$trace" -F "${3:-49}"
	service_load "$2" || fail "$1: the client failed: $(tail -n 5 "$dir"/*log)"
	end_recording
	for pid in $server_kept; do
		kill "$pid" 2>/dev/null
	done
	timeout 300 "$walk" -q -f csv --requests "$trace" >"$tmp/csv" 2>"$tmp/err"
	expect_exit "chainwalk -f csv --requests" 0 $?
	read_info "$trace"
	ran="$ran $1"
}

# recorded NAME: of what recorded.py says; figure NAME: of the client's.
recorded() {
	awk -v name="$1" '$1 == name { print $2 }' "$tmp/recorded"
}
figure() {
	awk -v name="$1" '$1 == name { print $2 }' "$dir/figures"
}

# look_at ENDPOINT [LATENCIES UNIT_NS]
look_at() {
	python3 "$services/recorded.py" "$tmp/csv" "$@" >"$tmp/recorded" 2>"$tmp/err"
	expect_exit "recorded.py $*" 0 $?
}

# adds_up: each request's time, to the nanosecond, is in the csv's ends and in the folded lines; the table has all.
adds_up() {
	echo "note: $service_name: $(recorded count) requests and $(recorded first) first ones, p99 $(recorded p99_ns) ns; the client's" \
		"$(figure count), $(figure p99_us) us${1:+; }${1:-}"
	expect "$service_name: requests whose ends do not add up" 0 "$(recorded uneven)"
	walk_to "$tmp/folded" --requests --request "^$(echo "$endpoint" | sed 's/[.]/\\./g')( .*)?\$" "$trace"
	expect "$service_name: ns of the folded lines" "$(recorded sum_ns)" "$(weight_of . "$tmp/folded")"
	timeout 300 "$walk" -q -f requests "$trace" >"$tmp/table" 2>"$tmp/err"
	expect_exit "chainwalk -f requests" 0 $?
	expect "$service_name: requests in the table" $(($(recorded count) + $(recorded first))) "$(
		AT="$endpoint" awk 'index($0, ENVIRON["AT"] " ") == 1 && $0 !~ / ALL /  {
			rest = substr($0, length(ENVIRON["AT"]) + 2)
			if (rest ~ /: where/) next
			# the name of the process, and "x N"; then the count comes
			if (match(rest, /  +[0-9]/)) { rest = substr(rest, RSTART); split(rest, f, " "); n += f[1] }
		} END { printf "%.0f\n", n }' "$tmp/table")"
	expect "$service_name: requests left out" "" "$(info_figure requests_left_out)"
}

# not_longer: a client waits for its request as long as the server has it, or longer: so the sorted latencies of
# both compare rank by rank. The kernel says that a write is done when the call returns: what a server waits for its
# CPU just then is taken off, and one in a hundred may be late for interrupts and other machines.
not_longer() {
	expect_at_most "$service_name: ranks at which a recorded request is longer than the client's" \
		$((($(recorded count) + $(recorded first)) / 100 + 1)) "$(recorded longer)" "$tmp/recorded"
}

# second_opinion: of the naive engine, on this trace.
second_opinion() {
	[ -x "$build/tests/unit/attribute_oracle" ] || { echo "note: $service_name: no second opinion (needs cmocka)"; return; }
	ONLY=on_recorded_requests TRACES=$trace timeout 200 "$build/tests/unit/attribute_oracle" >"$tmp/said" 2>&1 ||
		fail "$service_name: the second engine says otherwise: $(tail -c 3000 "$tmp/said")"
	grep -q 'OK.*on_recorded_requests' "$tmp/said" || fail "$(cat "$tmp/said")"
}
