#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Several hosts in one picture: records as three hosts (this machine under three names), loads the traces into two
# ClickHouse servers, which are started on loopback, and into SQLite, and draws the chains of all of them from SQL.
# $1 is the build folder.
set -eu
O=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
out=$O/demo-fleet
rm -rf "$out"
mkdir -p "$out"
# shellcheck source=tests/fleet/servers.sh
. tests/fleet/servers.sh
pids=
# shellcheck disable=SC2154 # the loop's
trap 'for pid in $pids; do kill "$pid" 2>/dev/null || true; done' EXIT
trap 'exit 130' INT TERM

for host in web1 web2 db1; do
	# One of them is slower.
	work=1000,1500,2000
	[ $host != web2 ] || work=1000,1500,6000
	"$O/chainload" relay --rounds 100000 --sleep 5000 --work $work >"$out/relay.txt" &
	load=$!
	# shellcheck disable=SC2016 # the inner shell's
	unshare --uts sh -c 'echo "$1" >/proc/sys/kernel/hostname && shift && exec "$@"' - $host "$O/chaincap" -q -o "$out/$host.bin" 2 ||
		{ echo "demo-fleet: recording is not possible here"; kill $load; exit 1; }
	kill $load
done
make_servers "$out" 2
for i in 1 2; do
	start_server "$out" $i
	pids="$pids $server"
done
make_tables "$out"
CHAINWALK=$O/chainwalk sh docs/fleet/load.sh "$shards" "$out"/*.bin
"$O/chainwalk" -q -f sqlite -o "$out/fleet.db" "$out"/*.bin

sh docs/fleet/ask.sh "${shards%,*}" picture >"$out/clickhouse.folded"
sh docs/fleet/ask.sh "$out/fleet.db" picture >"$out/sqlite.folded"
"$O/chainwalk" -q --unit ns --root host "$out"/*.bin | grep -v '^\[note\]' >"$out/chainwalk.folded"
cmp "$out/clickhouse.folded" "$out/chainwalk.folded"
cmp "$out/sqlite.folded" "$out/chainwalk.folded"
"$O/flamegraph" --countname ns --title "Wakeup chains of three hosts" "$out/clickhouse.folded" >"$out/fleet.svg"

echo "Which hosts differ in chainload's waits (docs/fleet/ask.sh ${shards%,*} hosts process=chainload):"
echo
sh docs/fleet/ask.sh "${shards%,*}" hosts process=chainload | cut -f 1-5
echo
echo "The chains of all hosts, from ClickHouse, equal to SQLite's and chainwalk's to the byte:"
echo "  $out/fleet.svg"
