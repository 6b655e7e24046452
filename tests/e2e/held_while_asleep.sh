#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What somebody has while he sleeps by choice is a cause for all who wait for it, through servers, too: a row that the
# client of a database has changed and not committed, a table that it has read, a file's lock, a child. How long that
# was the one who has it says by his own clock.
# Beside another: what its own clients waited for is judged by their clocks.
. "$(dirname "$0")/lib.sh"
shift
needs_usual "of some servers' objects nothing is recorded"
chmod 755 "$tmp"
dir=$tmp
# shellcheck source=tests/stacks/servers.sh
. "$(dirname "$0")/../stacks/servers.sh"
server_unused=yes servers=''

for server in postgresql mariadb; do
	server_start $server
	case $? in
	0) started="$started $server_kept" servers="$servers $server" ;;
	77) echo "note: without $server: no $server_lacks" ;;
	*) fail "$server does not start: $(tail -n 5 "$tmp/$server/log")" ;;
	esac
done
has() { case " $servers " in *" $1 "*) ;; *) return 1 ;; esac }
in_postgresql() { psql -q -h "$tmp/postgresql" -U postgres "$@"; }
in_mariadb() { mariadb --no-defaults -n -u root -S "$tmp/mariadb/socket" "$@"; }

# late: sleeps, and says when it has, in ns.
late() { sleep 1.2; date +%s%N >"$tmp/until"; }
# waits NAME WHOSE COMMAND...: which begins while somebody has what it waits for, until he says. WHOSE row that is.
waits() {
	name=$1 whose=$2
	shift 2
	sleep 0.3
	since=$(date +%s%N)
	"$@" >"$tmp/out" 2>"$tmp/err" &
	victim=$!
	wait $victim || fail "$name: $* failed: $(cat "$tmp/err")"
	wait_for "the end of who has it" 20 [ -s "$tmp/until" ]
	echo "$victim $whose $(($(cat "$tmp/until") - since)) $name" >>"$tmp/waited"
	rm "$tmp/until"
}

! has postgresql || in_postgresql -c 'create table stock as select 1 as pieces' >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
! has mariadb || in_mariadb -e 'create database shop; create table shop.stock engine=innodb select 1 as pieces' \
	>"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
begin_recording "$tmp/trace" -F 0
if has postgresql; then
	{ echo 'begin; update stock set pieces = pieces + 1;'; late; echo 'commit;'; } | in_postgresql >"$tmp/log" 2>&1 &
	waits "a row lock of PostgreSQL" sleep in_postgresql -c 'update stock set pieces = pieces - 1'
fi
if has mariadb; then
	{ echo 'begin; update shop.stock set pieces = pieces + 1;'; late; echo 'commit;'; } | in_mariadb >"$tmp/log" 2>&1 &
	waits "a row lock of MariaDB" sleep in_mariadb -e 'update shop.stock set pieces = pieces - 1'
	{ echo 'begin; select * from shop.stock;'; late; echo 'commit;'; } | in_mariadb >"$tmp/log" 2>&1 &
	waits "a metadata lock of MariaDB" sleep in_mariadb -e 'alter table shop.stock add column price int'
fi
flock -x "$tmp/lock" sh -c 'sleep 1.2; date +%s%N >"$1"' sh "$tmp/until" &
waits "a file's lock" flock flock -x "$tmp/lock" true
(late) &
waits "a child" sleep sh -c 'sleep 0.9; true'
end_recording

while read -r pid whose truth name; do
	timeout 300 "$walk" -q -f causes --json --tree-of "$pid" "$tmp/trace" >"$tmp/causes" 2>"$tmp/err"
	expect_exit "chainwalk -f causes of $name" 0 $?
	# The largest part of any of its threads: a shell may be among them.
	found=$(grep "\"name\":\"$whose\"" "$tmp/causes" | grep '"pause":false' | grep -o '"made_wait":[^]]*' |
		grep -o '"ns":[0-9]*' | sed 's/"ns"://' | sort -n | tail -n 1)
	# The client itself has to start first, and does not wait for that meanwhile: up to half of it, on a busy machine.
	expect_at_least "ns that it waited for $name" $((truth / 2)) "${found:-0}" "$tmp/causes"
	expect_at_most "ns that it waited for $name" $((truth + truth / 20)) "${found:-0}" "$tmp/causes"
done <"$tmp/waited"
echo "note: $(cut -d ' ' -f 4- "$tmp/waited" | tr '\n' ',' | sed 's/,$//; s/,/, /g')"
