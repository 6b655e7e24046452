#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests at sockets, as the clients count them: whoever reads and whoever answers, over TCP, unix sockets
# and UDP; pipelined ones are marked, an answer of several writes has two ends, and what asks nothing is none.
# Beside another: it counts requests at ports of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
clients=$(dirname "$0")/../workload/requests/sockets.py

# serve SCENARIO N [PATH]: records it; $port, and $answers as the clients counted them.
serve() {
	timeout 300 "$cap" -q -F 0 -o "$tmp/trace" -- python3 -W ignore "$clients" "$@" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- sockets.py $*" 0 $?
	port=$(awk '$1 == "port" { print $2 }' "$tmp/told")
	answers=$(awk '$1 == "client" { print $2 }' "$tmp/told")
	reader=$(awk '$1 == "reader" { print $2 }' "$tmp/told")
	writer=$(awk '$1 == "writer" { print $2 }' "$tmp/told")
	if [ "${3:-}" ]; then
		requests_at "$tmp/trace" "unix $3"
		rm "$3"
	else
		requests_at "$tmp/trace" "${protocol:-tcp} :$port"
	fi
}

for path in "" "$tmp/socket"; do
	what=${path:+unix, }
	# shellcheck disable=SC2086 # nothing where there is no path
	serve keepalive 400 $path
	expect_requests "${what}two connections: requests" "$answers" request
	expect_requests "${what}two connections: first ones" 2 request ' first'
	expect_requests "${what}two connections: others" 0 open
	# shellcheck disable=SC2086
	serve reconnect 60 $path
	expect_requests "${what}a connection each: requests" "$answers" request
	expect_requests "${what}a connection each: first ones" "$answers" request ' first'
	# shellcheck disable=SC2086
	serve push 20 $path
	expect_requests "${what}the server speaks first: requests" 0 request
	# shellcheck disable=SC2086
	serve oneway 10 $path
	expect_requests "${what}clients only send: requests" 0 request
	# They sent something, and their connection ended without an answer.
	expect_requests "${what}clients only send: unanswered" 10 open
done

protocol=udp
serve udp 200
expect_requests "UDP: requests" "$answers" request
protocol=tcp

serve fork 100
expect_requests "a child serves: requests" "$answers" request
expect_requests "a child serves: requests it answered" "$answers" request "/$reader answers"
serve passed 100
expect_requests "passed to another process: requests" "$answers" request
expect_requests "passed to another process: requests it answered" "$answers" request "/$reader answers"
serve handover 100
expect_requests "one reads, another one answers: requests" "$answers" request
expect_requests "one reads, another one answers: requests by these" "$answers" request \
	"/$writer answers .* read by [^ ]*/$reader,"

serve pipelined 100
expect_requests "pipelined: requests" "$answers" request
expect_requests "pipelined: marked ones" $((answers / 2)) request ' pipelined'
serve keepalive 100
expect_requests "one after the other: marked as pipelined" 0 request ' pipelined'

serve several 20
expect_requests "three writes: requests" "$answers" request
expect_requests "three writes: their ends" "$answers" more '8 bytes written'
expect "three writes: ends 5 ms after the first write" "$answers" "$(awk '$3 == "more" {
	for (i = 1; i < NF; i++) { if ($i == "first") first = $(i + 1); if ($i == "answered") last = $(i + 1) }
	n += first - last >= 5000000
} END { printf "%.0f", n }' "$tmp/requests")"

serve slow 20
expect_requests "slow: requests" "$answers" request
expect "slow: those that took 5 ms or longer" "$answers" "$(request_ns arrived | awk '$1 >= 5000000' | wc -l | tr -d ' ')"
# Which answers get their stacks is promised in docs/trace-format.md: on each CPU of one in a millisecond, whoever's it
# is. So one without has an answer with stacks before it, on its CPU and less than that ago, that took more than half as
# long. Not all 20, each 5 ms after the one before, are behind another one.
timeout 300 "$walk" -v -q --all -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk -v -f events" 0 $?
awk -v at=" tcp :$port," '
	function judge() {
		if (!took)
			return
		if (stacked) {
			had[cpu] = when
			had_took[cpu] = took
		}
		if (ours && sent)
			with++
		else if (ours && took >= 1000000 && (stacked || !(cpu in had) || when - had[cpu] >= 1000000 ||
			took >= 2 * had_took[cpu]))
			print "without its stack: " line
		took = 0
	}
	/^ *[0-9]/ {
		judge()
		if ($3 != "request")
			next
		line = $0
		ours = index($0, at)
		cpu = $2
		split($1, at_s, "[.]")
		when = at_s[1] * 1000000000 + at_s[2]
		for (i = 1; i < NF; i++) if ($i == "arrived") took = $(i + 1) + 0
		stacked = sent = 0
		next
	}
	/^\t/ { stacked = 1 }
	/ (__x64_sys|__arm64_sys|__sys)_send(to|msg)/ { sent = 1 }
	END { judge(); printf "with %.0f\n", with }' "$tmp/events" >"$tmp/stacks"
# What gave another one no stacks may be among lost events.
[ "$(info_figure more_lost)" != 0 ] ||
	expect "slow: those without the stack of the answer for no reason" "" "$(grep without "$tmp/stacks")"
expect_at_least "slow: those with the stack of the answer" 1 "$(awk '$1 == "with" { print $2 }' "$tmp/stacks")"
