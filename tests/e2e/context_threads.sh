#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The contexts that programs publish (OpenTelemetry's thread context), in each of the ways in which a program reaches
# its thread-local variables: each request's trace, span and route are read in the thread that answers it.
# Beside another: it counts the contexts of requests that it numbers itself.
. "$(dirname "$0")/lib.sh"
needs_bpf
requests=60

# shop WHAT PROGRAM LIBRARY: starts the shop, which waits; $front and $back are its ports, a line to descriptor 4 starts
# its clients.
shop() {
	what=$1
	mkfifo "$tmp/go"
	"$build/$2" "$3" $requests <"$tmp/go" >"$tmp/told" 2>"$tmp/shop.err" &
	shop=$!
	started="$started $shop"
	exec 4>"$tmp/go"
	rm "$tmp/go"
	wait_for "the shop is open" 10 grep -q ports "$tmp/told"
	front=$(awk '$1 == "ports" { print $2 }' "$tmp/told")
	back=$(awk '$1 == "ports" { print $3 }' "$tmp/told")
}

# begin: until the recorder knows of both servers and their keys: helpers may be late.
begin() {
	begin_recording "$tmp/trace" --context -F 0
	wait_for "$what: the recorder knows both servers" 60 grep -qE ' ([2-9]|[1-9][0-9]+) with routes' "$tmp/err.cap"
}

ask() {
	echo go >&4
	exec 4>&-
	wait "$shop"
	expect "$what: exit status of the shop" 0 $?
	expect "$what: requests sent" "sent $((2 * requests))" "$(grep sent "$tmp/told")"
}

# answers: for each answer of the shop "PORT TRACE SPAN ROUTE", as its thread's last context before it says.
answers() {
	timeout 300 "$walk" -q --all -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
	expect_exit "chainwalk -f events" 0 $?
	awk -v front=":$front," -v back=":$back," '
		$3 == "context" {
			gsub(",", "")
			context[$4] = "- - -"
			for (i = 5; i <= NF; i++) {
				if ($i == "trace" && $(i - 1) == "for") context[$4] = $(i + 1) " " $(i + 3) " " $(i + 5)
			}
		}
		$3 == "request" && ($7 == front || $7 == back) {
			if (!($4 in context)) context[$4] = "- - -"
			print ($7 == front ? "front" : "back") " " context[$4]
		}' "$tmp/events" | sort
}

# expected: the same, as the shop numbers its requests.
expected() {
	for client in 1 2; do
		k=0
		while [ $k -lt $requests ]; do
			low=$((client * 4096 + k))
			case $((k % 3)) in
			0)
				printf 'front %016x%016x %016x /cart\n' 12648430 $low $low
				printf 'back %016x%016x %016x /stock/?[31m{id}\n' 12648430 $low $((low + 184549376))
				;;
			1) printf 'front %016x%016x %016x /search\n' 12648430 $low $low ;;
			*) echo 'front - - -' ;;
			esac
			k=$((k + 1))
		done
	done | sort
}

# one_story: what chainwalk makes of it: routes are endpoints, and requests of one trace are told as one.
one_story() {
	timeout 300 "$walk" -q --all -f csv --requests --request " /" "$tmp/trace" >"$tmp/csv" 2>"$tmp/err"
	expect_exit "chainwalk -f csv --requests" 0 $?
	# Others' requests are of no trace.
	awk -F, -v at="$front" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["trace_id"] { print $column["route"], $column["trace_id"] }' "$tmp/csv" | sort >"$tmp/traces"
	expect "$what: routes" "/cart $((2 * requests / 3)),/search $((2 * requests / 3)),/stock/?[31m{id} $((2 * requests / 3)),"\
		"$(cut -d ' ' -f 1 "$tmp/traces" | sort | uniq -c | awk '{ printf "%s %s,", $2, $1 }')"
	# Each request to the back process is a part of one to the front process.
	expect "$what: traces of two requests" $((2 * requests / 3)) "$(cut -d ' ' -f 2 "$tmp/traces" | sort | uniq -d | wc -l | tr -d ' ')"
	timeout 300 "$walk" -q --all -f tree --request " /cart$" "$tmp/trace" >"$tmp/tree" 2>"$tmp/err"
	expect_exit "chainwalk -f tree --request ' /cart$'" 0 $?
	expect "$what: stories" "$(grep -c '^  +.* took ' "$tmp/tree")" \
		"$(grep -c '  | .request tcp :[0-9]* /stock/.*. back, of the same trace$' "$tmp/tree")"
}

for way in "in the program:shop_static:-" "descriptor:shop:$build/context_descriptor.so" \
	"descriptor, large block:shop:$build/context_descriptor_large.so" "module:shop:$build/context_module.so" \
	"offset:shop:$build/context_offset.so"; do
	rest=${way#*:}
	shop "${way%%:*}" "${rest%%:*}" "${rest#*:}"
	begin
	ask
	end_recording
	expected >"$tmp/expected"
	answers >"$tmp/got"
	diff "$tmp/expected" "$tmp/got" >"$tmp/diff" || fail "$what: contexts of answers
$(head -n 20 "$tmp/diff")"
	one_story
	read_info "$tmp/trace"
	expect "$what: auxiliary events in the log and lost" yes "$(awk '$1 == "more_accounted:" { print $2 }' "$tmp/info")"
done

# Without the option nothing of it is recorded.
shop "not asked for" shop_static -
begin_recording "$tmp/trace" -F 0
ask
end_recording
answers >"$tmp/got"
expect "not asked for: contexts" "" "$(grep -v -- '- - -' "$tmp/got")"

# A program that starts later is found, and then its contexts are all there.
timeout 300 "$cap" -q --context -F 0 -o "$tmp/trace" -- sh -c "sleep 0.5; yes | '$build/shop' '$build/context_module.so' 1500" \
	>"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- shop" 0 $?
front=$(awk '$1 == "ports" { print $2 }' "$tmp/told")
back=$(awk '$1 == "ports" { print $3 }' "$tmp/told")
answers >"$tmp/got"
known=$(grep -c '^back [0-9a-f]' "$tmp/got")
[ "$known" -gt 100 ] || fail "a program that starts later: answers of the back process with a context
expected: most of 1000
got:      $known"
