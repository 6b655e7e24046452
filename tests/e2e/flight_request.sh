#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --trigger-request writes a trace by itself when a request took too long, at any endpoint or at the one that is
# named, to the last write of its answer, and not more often than once per window.
# Beside another: it judges requests to ports of its own, and others' where it says so.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
clients=$(dirname "$0")/../workload/requests/sockets.py

# serve NAME: a server with its clients, which do what stands in $tmp/NAME.asks; its endpoint is in $endpoint.
serve() {
	: >"$tmp/$1.told"
	mkfifo "$tmp/$1.asks"
	python3 "$clients" asked 200 <"$tmp/$1.asks" >"$tmp/$1.told" 2>"$tmp/told.err" &
	started="$started $!"
	case $1 in
	slow) exec 3>"$tmp/$1.asks" ;;
	other) exec 4>"$tmp/$1.asks" ;;
	esac
	wait_for "$1 serves" 20 grep -q port "$tmp/$1.told"
	endpoint="tcp :$(awk '$1 == "port" { print $2 }' "$tmp/$1.told")"
}

# told_times NAME WHAT N: whether it has been done so often.
told_times() {
	[ "$(grep -c "$2" "$tmp/$1.told")" -ge "$3" ]
}

# ask NAME WHAT: and waits until it was answered.
ask() {
	before=$(grep -c "$2" "$tmp/$1.told")
	case $1 in
	slow) echo "$2" >&3 ;;
	other) echo "$2" >&4 ;;
	esac
	wait_for "$1: $2" 20 told_times "$1" "$2" $((before + 1))
}

# said ENDPOINT: of the requests to it that are said to have taken too long, how many ms each took.
said() {
	sed -n "s|^chaincap: a request to $1 took \([0-9]*[.][0-9]\) ms\$|\1|p" "$tmp/err.cap"
}

# traces NAME: how many were written.
traces() {
	find "$tmp" -name "$1*.bin" -size +0 | wc -l | tr -d ' '
}

# took_ms: of each request in $tmp/requests that took longer than the limit, how many ms.
took_ms() {
	awk '{
		for (i = 1; i < NF; i++) {
			if ($i == "connection") c = $(i + 1) + 0
			if ($i == "arrived") arrived = $(i + 1)
			if ($i == "answered") answered = $(i + 1)
			if ($i == "first") first = $(i + 1)
		}
		if ($3 == "request") ns[c, ++n[c]] = arrived - answered
		if ($3 == "more") ns[c, n[c]] += first - answered
	} END { for (k in ns) if (ns[k] > 500000000) printf "%.1f\n", ns[k] / 1e6 }' "$tmp/requests" | sort
}

serve other
serve slow
slow=$endpoint

# Of one endpoint: another endpoint's slow request does not count, and its own second one is in the window of the
# first.
fly "$tmp/one.bin" --flight 60s --trigger-request "$slow=500ms"
ask other slow
ask slow slow
wait_for "a trace of a request of 1 s" 20 written "$tmp/one.bin"
ask slow slow
sleep 1.2
end_recording
expect "requests that are said" "$(said "$slow")" "$(said '.*')"
expect_whole "$tmp/one.bin"
requests_at "$tmp/one.bin" "$slow"
expect "slow requests in the trace, as said" "$(said "$slow")" "$(took_ms)"
expect_at_least "how long it is said to have taken, ms" 1000 "$(said "$slow")" "$tmp/err.cap"
requests_at "$tmp/one.1.bin" "$slow"
expect "slow requests in the trace at the end" 2 "$(took_ms | wc -l)"
expect "traces: of the slow request, and at the end" 2 "$(traces one)"

# Nothing was slow, unless the machine was: then that is in the trace at the end.
fly "$tmp/none.bin" --flight 60s --trigger-request "$slow=500ms"
ask slow quick
ask other slow
sleep 1.2
end_recording
last=$tmp/none.bin
[ ! -s "$tmp/none.1.bin" ] || last=$tmp/none.1.bin
requests_at "$last" "$slow"
expect_requests "quick requests" 200 request
expect "traces, with the one at the end" "$((1 + ($(took_ms | wc -l) > 0)))" "$(traces none)"

# The answer of a request may end late.
fly "$tmp/late.bin" --flight 60s --trigger-request 20s --trigger-request "$slow=500ms"
ask slow late
wait_for "a trace of an answer that took 1 s" 20 written "$tmp/late.bin"
end_recording
requests_at "$tmp/late.bin" "$slow"
expect_requests "answers of several writes" 1 more
expect "requests that took long to the end of their answer, as said" "$(said "$slow")" "$(took_ms)"

# Any endpoint. Somebody else's slow request may come first: then there is no other trace for a second.
fly "$tmp/any.bin" --flight 1500ms --trigger-request 500ms
for try in 1 2 3 4 5; do
	ask slow slow
	sleep 1.2
	[ -z "$(said "$slow")" ] || break
	echo "note: try $try: another request came first: $(said '.*')"
	sleep 1.5
done
expect_at_least "how long it is said to have taken, ms" 1000 "$(said "$slow" | head -n 1)" "$tmp/err.cap"
end_recording
