#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorded traces in tests/data give the chains in tests/data/chains.txt, to the nanosecond: one thread of
# each (of shops: the requests of one endpoint), with the functions of its scenario. Needs nothing but the programs and a shell.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)

for trace in "$data"/*.bin; do
	name=$(basename "$trace" .bin)
	case $name in
	*relay*) thread=alpha ;;
	pingpong | lost) thread=ping ;;
	convoy) thread=convoy0 ;;
	idle) thread=idle7 ;;
	disk_*) thread=disk ;;
	terminal) thread=reader ;;
	loopdev) thread=loopdev ;;
	timeout) thread=receiver ;;
	bystander) thread=sleeper ;;
	deep) thread=shallow ;;
	exec | heir | rename | early_exit) thread=patient ;;
	tenants) thread=landlord ;;
	stop) thread=stopped ;;
	*zombie) thread=parent ;;
	*deadlock) thread=castor ;;
	shares) thread=client ;;
	things) thread=poller ;;
	shop | shop_lost) thread=front ;;
	*) fail "$name: which thread?" ;;
	esac
	printf '\n%s\n' "$name"
	case $name in
	shop | shop_lost) options='--request /cart$' ;;
	*) options=--state=all ;;
	esac
	# shellcheck disable=SC2086 # a list
	walk_to "$tmp/folded" $options -c "^$thread\$" "$trace"
	skeleton '^([a-z0-9]*_(waits|wants|reads|syncs|wakes|unlocks|types|continues|sorts|hashes)|work$)' <"$tmp/folded"
done >"$tmp/chains"
diff "$data/chains.txt" "$tmp/chains" >"$tmp/diff" || fail "other chains (< expected, > got)
$(cat "$tmp/diff")"
