#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The rows of many traces answer as chainwalk does: the picture of all hosts from SQLite and from two ClickHouse
# servers is that of chainwalk to the byte, and each question has one answer. A shard that dies while a trace is loaded
# loses nothing, and has nothing twice.
. "$(dirname "$0")/lib.sh"
only_all "two ClickHouse servers"
cd "$(dirname "$0")/../.." || exit 1
command -v sqlite3 >/dev/null || skip "no sqlite3"

# Traces of three hosts: the machine has another name for each recorder, where it may record.
if [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ] && "$build/may_record" >"$tmp/err"; then
	for host in web1 web2 db1; do
		# shellcheck disable=SC2016 # the inner shell's
		unshare --uts sh -c 'echo "$1" >/proc/sys/kernel/hostname && shift && exec "$@"' - $host \
			"$cap" -q -o "$tmp/$host.bin" -- "$load" relay --rounds 200 --sleep 1000 --work 500,500,500 >"$tmp/relay" 2>"$tmp/err" || fail "recording as $host: $(cat "$tmp/err")"
	done
	traces="$tmp/web1.bin $tmp/web2.bin $tmp/db1.bin"
else
	echo "note: no recording here: the traces of tests/data are all of one host"
	traces=
fi
traces="$traces tests/data/shop.bin tests/data/sampled_relay.bin tests/data/tenants.bin tests/data/disk_syncs.bin"

# shellcheck disable=SC2086 # a list
set -- $traces
"$walk" -q --unit ns --root host "$@" | grep -v '^\[note\]' >"$tmp/expected"
[ -s "$tmp/expected" ] || fail "no lines"

# ---- SQLite ----
"$walk" -q -f sqlite -o "$tmp/fleet.db" "$@" 2>"$tmp/err" || fail "chainwalk -f sqlite: $(cat "$tmp/err")"
sh docs/fleet/ask.sh "$tmp/fleet.db" picture >"$tmp/picture" || fail "picture of SQLite"
cmp "$tmp/expected" "$tmp/picture" || fail "the picture from SQLite is another one than chainwalk's"
rows() { sqlite3 "$tmp/fleet.db" 'SELECT (SELECT count(*) FROM waits), (SELECT sum(blocked_ns) FROM waits), (SELECT count(*) FROM chains), (SELECT count(*) FROM traces)'; }
before=$(rows)
"$walk" -q -f sqlite -o "$tmp/fleet.db" "$2" "$1" || fail "adding traces again"
expect "rows after two traces were added again" "$before" "$(rows)"
expect "traces" $# "$(sqlite3 "$tmp/fleet.db" 'SELECT count(*) FROM traces')"
# Several that add at a time wait for each other.
rm "$tmp/fleet.db"
adding=
for trace; do
	"$walk" -q -f sqlite -o "$tmp/fleet.db" "$trace" &
	adding="$adding $!"
done
for pid in $adding; do wait "$pid" || fail "adding several traces at a time"; done
expect "rows after all were added at a time" "$before" "$(rows)"
# What is no database of ours stays as it is.
sqlite3 "$tmp/other.db" 'CREATE TABLE waits(a); INSERT INTO waits VALUES(7)'
echo "a diary" >"$tmp/diary"
for file in other.db diary; do
	cp "$tmp/$file" "$tmp/$file.before"
	"$walk" -q -f sqlite -o "$tmp/$file" "$2" 2>"$tmp/err"
	expect_exit "chainwalk -f sqlite -o $file" 1 $?
	cmp "$tmp/$file" "$tmp/$file.before" || fail "$file was changed"
	expect "lines that say so" 1 "$(wc -l <"$tmp/err")"
	grep -q 'database' "$tmp/err" || fail "what is wrong is not said: $(cat "$tmp/err")"
done

# ---- questions ----
shop="(SELECT trace FROM traces WHERE bytes = $(wc -c <tests/data/shop.bin))"
endpoint=$(sqlite3 "$tmp/fleet.db" "SELECT endpoint FROM waits WHERE endpoint <> '' AND trace = $shop GROUP BY 1 ORDER BY sum(waits) DESC, 1 LIMIT 1")
since=$(sqlite3 "$tmp/fleet.db" 'SELECT max(time) FROM waits')
# ask_all WHERE: the answers of all questions
ask_all() {
	sh docs/fleet/ask.sh "$1" cost since="$since" && sh docs/fleet/ask.sh "$1" p99 "endpoint=$endpoint" quantile=0.9 &&
		sh docs/fleet/ask.sh "$1" hosts process=back && sh docs/fleet/ask.sh "$1" neighbours cgroup= || fail "questions to $1"
}
ask_all "$tmp/fleet.db" >"$tmp/answers"
expect "answers" 4 "$(grep -c -E '^(now_ms|ms|host|had_cpu)	' "$tmp/answers")"
[ "$(wc -l <"$tmp/answers")" -gt 12 ] || fail "answers: $(cat "$tmp/answers")"
# All requests are counted: as many as csv has rows.
"$walk" -q -f csv --requests tests/data/shop.bin >"$tmp/requests.csv"
expect "requests to $endpoint" \
	"$(sqlite3 :memory: '.mode csv' ".import $tmp/requests.csv r" "SELECT count(*) FROM r WHERE endpoint = '$endpoint'")" \
	"$(sqlite3 "$tmp/fleet.db" "SELECT sum(waits) FROM waits WHERE endpoint = '$endpoint' AND trace = $shop")"
# A value is text of SQL, whatever it has.
sqlite3 "$tmp/fleet.db" "UPDATE keys SET process = 'it''s & | {top}' WHERE process = 'back'"
sh docs/fleet/ask.sh "$tmp/fleet.db" hosts "process=it's & | {top}" >"$tmp/out" || fail "a process with a quote"
expect "hosts of a process with a quote" 2 "$(wc -l <"$tmp/out")"
sqlite3 "$tmp/fleet.db" "UPDATE keys SET process = 'back' WHERE process LIKE 'it%'"

# ---- ClickHouse ----
command -v clickhouse-server >/dev/null && command -v curl >/dev/null ||
	skip "SQLite holds; no clickhouse-server or no curl here: ClickHouse was not tried"
. tests/fleet/servers.sh
make_servers "$tmp" 2
start_server "$tmp" 1 || fail "the first server does not start"
started="$started $server"
start_server "$tmp" 2 || fail "the second server does not start"
second=$server
started="$started $server"
make_tables "$tmp" || fail "the schema"
export CHAINWALK="$walk"
sh docs/fleet/load.sh "$shards" "$@" >"$tmp/out" 2>&1 || fail "load.sh: $(cat "$tmp/out")"
sh docs/fleet/ask.sh "${shards%,*}" picture >"$tmp/picture" || fail "picture of ClickHouse"
cmp "$tmp/expected" "$tmp/picture" || fail "the picture from ClickHouse is another one than chainwalk's"
ask_all "${shards#*,}" >"$tmp/theirs"
# Each writes whole numbers in its own way: 5.0 and 5.
awk 'BEGIN { FS = OFS = "\t" } { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.0$/) sub(/\.0$/, "", $i); print }' "$tmp/answers" >"$tmp/ours"
cmp "$tmp/ours" "$tmp/theirs" || fail "answers of SQLite and of ClickHouse: $(diff "$tmp/ours" "$tmp/theirs" | head -n 10)"

# RowBinary is read as the same values.
ask_server 1 "CREATE TABLE again AS waits_shard ENGINE = Memory" || fail "a table"
"$walk" -q -f rowbinary --table waits "$@" >"$tmp/binary"
curl -sS --fail-with-body --data-binary "@$tmp/binary" "http://${shards%,*}/?database=fleet&query=INSERT%20INTO%20again%20FORMAT%20RowBinary" ||
	fail "RowBinary"
sums="count(), sum(blocked_ns), sum(waits), sum(cityHash64(thread, ended, toString(chain), toString(trace), latency_ns, time))"
expect "what RowBinary has" "$(ask_server 1 "SELECT $sums FROM waits")" "$(ask_server 1 "SELECT $sums FROM again")"

# ---- a shard dies at each step of a load ----
counts="SELECT (SELECT count() FROM traces), (SELECT count() FROM modules), (SELECT count() FROM waits), (SELECT sum(blocked_ns) FROM waits), (SELECT uniq(chain) FROM chains)"
# A curl before whose call number $DIE_AT the server ends that has the trace.
mkdir "$tmp/bin"
cat >"$tmp/bin/curl" <<'END'
#!/bin/sh
n=$(($(cat "$DIE_DIR/calls") + 1))
echo $n >"$DIE_DIR/calls"
[ $n -ne "$DIE_AT" ] || kill -KILL "$(cat "$DIE_DIR/pid")"
PATH=$DIE_PATH exec curl "$@"
END
chmod +x "$tmp/bin/curl"
ask_server 1 "SELECT count() FROM traces_shard WHERE bytes = $(wc -c <tests/data/shop.bin)" >"$tmp/on_first"
if [ "$(cat "$tmp/on_first")" = 1 ]; then dying=1 other=2; else dying=2 other=1; fi
[ $dying = 2 ] || second=$(echo "$started" | awk '{ print $(NF - 1) }')
export DIE_DIR="$tmp" DIE_PATH="$PATH"
for step in 2 3 4 5; do
	make_tables "$tmp" || fail "the schema again"
	sh docs/fleet/load.sh "$shards" tests/data/shop.bin || fail "loading"
	expected=$(ask_server $other "$counts")
	make_tables "$tmp" || fail "the schema again"
	echo 0 >"$tmp/calls"
	echo "$second" >"$tmp/pid"
	DIE_AT=$step PATH=$tmp/bin:$PATH sh docs/fleet/load.sh "$shards" tests/data/shop.bin >"$tmp/out" 2>&1
	expect_exit "load.sh whose shard dies at step $step" 1 $?
	wait "$second" 2>/dev/null
	start_server "$tmp" $dying || fail "the server does not start again"
	second=$server
	started="$started $server"
	sh docs/fleet/load.sh "$shards" tests/data/shop.bin || fail "loading again after a shard died at step $step"
	expect "rows after a shard died at step $step and came back" "$expected" "$(ask_server $other "$counts")"
done
sh docs/fleet/load.sh --keep 0 "$shards" || fail "load.sh --keep"
expect "rows when none is kept" 0 "$(ask_server 1 'SELECT count() FROM waits')"
