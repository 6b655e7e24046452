#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the recorded traces in tests/data anew, all or those that are named: record.sh BUILD_DIR [NAME...]
# Root only. Each is chainload under a neutral host name, with everything that another program's name
# or stack would tell left out (tests/data/neutral.c). What a trace has to show stands in
# tests/unit/engine_recorded.c, which is to be run and looked through after this.
set -eu
LC_ALL=C
export LC_ALL
[ "${IN_NAMESPACE:-}" ] || exec env IN_NAMESPACE=1 unshare --uts "$0" "$@"
O=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/data"
data=$PWD
hostname testhost
tmp=$(mktemp -d)
load=
trap '[ -z "$load" ] || kill "$load" 2>/dev/null; rm -rf "$tmp"' EXIT

objects=$(find "$O/engine" -name "*.o" ! -name chainwalk.o)
# shellcheck disable=SC2086 # a list
${CC:-cc} -O2 -std=c17 -D_GNU_SOURCE -Wall -Wextra -I../../include -I../../engine -o "$tmp/neutral" neutral.c \
	$objects "$O/libflamegraph.o" "$O/libcommon.a" \
	-pthread -lz -lm -ldw -lelf -liberty -lmd -lsqlite3 -llzma -lzstd
cp "$O/chaincap" "$O/chainload" "$O/chainwalk" "$O/shop_static" "$tmp"
cd "$tmp"

names=$*
wanted() {
	[ -z "$names" ] && return 0
	case " $names " in *" $1 "*) return 0 ;; esac
	return 1
}

# keep_best NAME THREAD...: makes trace.bin presentable. Of several, the smallest in which nothing is unknown of
# these threads, or in shop_lost something of slow requests, is kept: the one with the least of what else this machine did.
keep_best() {
	name=$1
	shift
	./neutral trace.bin neutral.bin chainload "$@"
	any=$(echo "$@" | tr ' ' '|')
	if [ "${name%lost}" = "$name" ] && ./chainwalk -q -c "^($any)\$" neutral.bin | grep -q ';\[unknown\] '; then
		return
	fi
	if [ "$name" = shop_lost ] && ! ./chainwalk -q --json neutral.bin | grep -q '"ends_as": *"unknown"'; then
		return
	fi
	if [ ! -e best.bin ] || [ "$(wc -c <neutral.bin)" -lt "$(wc -c <best.bin)" ]; then
		mv neutral.bin best.bin
	fi
}

put_best() {
	size=$(wc -c 2>/dev/null <best.bin || echo 999999)
	if [ "$size" -gt 65000 ]; then
		echo "$1: this machine is too busy to record a small trace ($size bytes)" >&2
		exit 1
	fi
	echo "$1: $size bytes"
	mv best.bin "$data/$1.bin"
	chmod 644 "$data/$1.bin"
}

# recorded NAME "THREAD..." [CHAINCAP OPTION...] -- CHAINLOAD ARGUMENT...
recorded() {
	name=$1 threads=$2 options=
	shift 2
	wanted "$name" || return 0
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	for _ in $tries; do
		# shellcheck disable=SC2086 # lists
		./chaincap -q -o trace.bin $options -- ./chainload "$@" >told
		# shellcheck disable=SC2086
		keep_best "$name" $threads
	done
	put_best "$name"
}

# joined NAME "THREAD..." CHAINLOAD ARGUMENT...: recorded for a while when it has long been under way.
joined() {
	name=$1 threads=$2
	shift 2
	wanted "$name" || return 0
	./chainload "$@" --seconds 120 >told &
	load=$!
	sleep 0.5
	for _ in $tries; do
		./chaincap -q -o trace.bin 0.5
		# shellcheck disable=SC2086
		keep_best "$name" $threads
	done
	put_best "$name"
	kill "$load"
	wait "$load" || true
	load=
}

# asked NAME REQUESTS [CHAINCAP OPTION...]: tests/contexts/shop.c, from when the recorder knows where it publishes contexts.
asked() {
	name=$1 requests=$2
	shift 2
	wanted "$name" || return 0
	for _ in $tries; do
		mkfifo go
		./shop_static - "$requests" <go >told &
		load=$!
		exec 4>go
		rm go
		: >said # what the last one said
		./chaincap -v --context -F 199 "$@" -o trace.bin 2>said &
		recorder=$!
		until grep -q ' 2 with routes' said; do sleep 0.05; done
		echo >&4
		exec 4>&-
		wait "$load"
		load=
		kill -INT "$recorder"
		wait "$recorder"
		keep_best "$name" front back shop_static
	done
	put_best "$name"
}

tries=${TRIES:-1 2 3 4 5 6 7 8 9 10}
relay="alpha bravo charlie delta"
recorded relay "$relay" -- relay --rounds 24 --work 2000,3000,4000
recorded relay_unix_tcp "$relay" -F 997 -- relay --rounds 5 --work 1500,2500,3500 --hops tcp,unix,tcp
recorded pingpong "ping pong" -- pingpong --rounds 200 --work 100
recorded convoy "convoy0 convoy1 convoy2 convoy3" -F 997 -- convoy --threads 4 --rounds 10 --work 1000
recorded shares "client worker" -F 997 -- shares --rounds 30 --work 7000,3000,1
recorded sampled_relay "$relay" -F 997 -- relay --rounds 12 --work 2000,3000,4000
recorded idle "keeper $(seq -s ' ' -f 'idle%.0f' 0 29)" -F 997 -- idle --threads 30 --sleep 100000
recorded disk_reads "disk" -- diskio --rounds 40
recorded disk_syncs "disk" -- diskio --sync --rounds 20
recorded things "asker poller faulter syncer" -F 997 -- things --rounds 12 --work 1500 --sleep 1000
recorded terminal "reader typist" -- terminal --rounds 10
recorded loopdev "loopdev" -- loopdev --rounds 20
recorded timeout "receiver" -- timeout --rounds 10
recorded bystander "bystander sleeper" -- bystander --rounds 10
recorded deep "shallow deep" -- deep --rounds 5
recorded exec "patient before after exe" -F 997 -- exec --work 3000,5000
recorded heir "patient leader heir after exe" -- heir --work 3000,5000
recorded rename "patient larva moth" -- rename --work 3000,5000
recorded tenants "landlord tenant1 tenant2" -- tenants --work 3000,5000
recorded early_exit "patient early" -- earlyexit
recorded stop "stopped stopper" -- stop --rounds 3
recorded zombie "parent undead" -- zombie --sleep 100000
joined joined_zombie "parent undead" zombie --sleep 20000000
joined joined_deadlock "castor pollux" deadlock
joined joined_relay "$relay" relay --rounds 1000
recorded lost "ping pong" --buffer-size 4k -- pingpong --rounds 1500 --work 0
asked shop 21
asked shop_lost 100 -F 0 --buffer-size 4k
