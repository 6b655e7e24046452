#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# However many threads read a trace, what chainwalk writes is the same to the byte: of the traces in
# tests/data in small slices of time, of some of them in all formats, and of a made trace in the slices
# that it really has. The laws and the comparison with the naive engine hold for several threads, too.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)

# sum THREADS SLICE OPTION...: a checksum of what chainwalk writes, and its exit status. Slices of
# nothing are the usual ones.
sum() {
	threads=$1 slice=$2
	shift 2
	{
		timeout 300 env CHAINWALK_THREADS="$threads" ${slice:+CHAINWALK_SLICE="$slice"} "$walk" -q "$@" 2>/dev/null
		echo $?
	} | cksum
}
# same SLICE THREADS OPTION...
same() {
	slice=$1 several=$2
	shift 2
	[ "$(sum "$several" "$slice" "$@")" = "$(sum 1 "$slice" "$@")" ] ||
		fail "chainwalk $*: $several threads (slices of ${slice:-the usual length}) write something else than one"
}

for trace in "$data"/*.bin; do
	formats='folded causes objects io hist wakers pprof otlp perfetto'
	case $trace in
	*/things.bin | */shop.bin | */lost.bin) formats="$formats tree json threads events info csv html requests" ;;
	esac
	for format in $formats; do
		same 40 3 --format="$format" "$trace"
	done
done
for trace in "$data"/services/*.bin; do
	same 500 3 --format=causes --json "$trace"
done
same 100 2 --mode=classic --depth=3 "$data/things.bin"
same 100 16 --view=wakeup "$data/shop.bin"
same 40 16 --format=otlp --state=all "$data/relay.bin" "$data/zombie.bin"

"$build/bench/generate" --events 1000000 --idle 100 "$tmp/made" || fail "no trace was made"
same '' 16 --all "$tmp/made"
for format in folded pprof otlp causes; do
	same '' 2 --all --format=$format "$tmp/made"
done
# Some of it missing: what is left is read as before, up to the same message.
{ head -c 3000000 "$tmp/made"; tail -c +3000400 "$tmp/made"; } >"$tmp/damaged"
same '' 3 --all "$tmp/damaged"

if [ -x "$build/tests/unit/attribute_oracle" ]; then
	for unit in attribute_oracle attribute_laws attribute_examples attribute_requests trace_reader; do
		ORACLE_TRACES=60 LAWS_TRACES=30 CHAINWALK_THREADS=3 CHAINWALK_SLICE=16 \
			timeout 300 "$build/tests/unit/$unit" >"$tmp/log" 2>&1 ||
			fail "$unit, with three threads: $(tail -n 20 "$tmp/log")"
	done
else
	echo "note: the naive engine is left out: it is not built (needs cmocka)"
fi
