#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes of one server that wait for a connection, in select() or for the lock under which they take turns, wait
# for work, and not for what a client of theirs waits for.
# Beside another: what counts is what its own server waited for.
. "$(dirname "$0")/lib.sh"
needs_bpf

# load URL_SLOW URL_FAST: a client that asks for the slow page now and then, and for the fast one all the time;
# it says how long it waited for the fast one, where that took long; or, if the page says so, how long that waited.
load() {
	cat >"$tmp/load.py" <<'END'
import sys, threading, time, urllib.request

def asked(url):
    began = time.monotonic_ns()
    page = urllib.request.urlopen(url).read().strip()
    return int(page) if page.isdigit() else time.monotonic_ns() - began

def asks_slow():
    for _ in range(3):
        asked(sys.argv[1])
        time.sleep(0.1)

slow = threading.Thread(target=asks_slow)
slow.start()
waited = 0
while slow.is_alive():
    took = asked(sys.argv[2])
    waited += took if took > 50e6 else 0
    time.sleep(0.02)
slow.join()
print(waited)
END
	waited=$(timeout 120 "$cap" -F 0 -o "$tmp/trace" -- python3 "$tmp/load.py" "$@" 2>"$tmp/err")
	expect_exit "chaincap -- python3" 0 $?
}

# rows WHAT: how long the server's processes waited in rows of that sort, in ns.
rows() {
	python3 -c '
import json, sys
print(sum(row["ns"] for row in map(json.loads, open(sys.argv[1])) if '"$1"'))' "$tmp/causes" || fail "$(cat "$tmp/causes")"
}

# judge NAME: what the processes of that name waited for, as "$tmp/causes".
judge() {
	"$walk" -q -f causes --json -c "^$1\$" "$tmp/trace" >"$tmp/causes" || fail "chainwalk: $(cat "$tmp/causes")"
}

listens() { grep -qi ":$(printf %04x "$1") 00000000:0000 0A" /proc/net/tcp; }

command -v php >/dev/null || skip "no php"
port=$((20000 + $$ % 9000))
mkdir "$tmp/php" "$tmp/sessions"
cat >"$tmp/php/fast.php" <<'END'
<?php session_id('abc123'); $began = hrtime(true); session_start(); $took = hrtime(true) - $began;
session_write_close(); echo $took;
END
cat >"$tmp/php/slow.php" <<'END'
<?php session_id('abc123'); session_start(); $end = microtime(true) + 0.4; while (microtime(true) < $end) md5('x'); echo "slow";
END
PHP_CLI_SERVER_WORKERS=4 php -d session.save_path="$tmp/sessions" -S 127.0.0.1:$port -t "$tmp/php" >"$tmp/log" 2>&1 &
started="$started $!"
wait_for "php listens" 10 listens $port
started="$started $(pgrep -P "$!")" # its workers outlive it
load "http://127.0.0.1:$port/slow.php" "http://127.0.0.1:$port/fast.php"
judge php
held=$(rows 'not row["pause"] and (row["lock"] or "").startswith("file")')
# The page's clock has all of the wait and a little more; the client's has that of a page whose process has the slow one
# before it, too. While who has the session has no CPU, the lack of it is the cause: the wait itself is on the chains.
# What lies in a hole of the trace is not known.
walk_to "$tmp/folded" -q --no-idle -c '^php$' "$tmp/trace"
expect_at_least "php: what the fast page waited for the session" $((waited * 7 / 10)) \
	"$(weight_of ';[_a-z0-9]*sys_flock;' "$tmp/folded")" "$tmp/folded"
expect_at_most "php: what all processes waited for the session" $((waited * 12 / 10)) "$held" "$tmp/causes"

modules=/usr/lib/apache2/modules
[ -f $modules/mod_mpm_prefork.so ] || skip "no Apache with prefork"
mkdir "$tmp/apache" "$tmp/apache/www"
echo fast >"$tmp/apache/www/fast"
chmod 755 "$tmp" "$tmp/apache" "$tmp/apache/www"
cat >"$tmp/apache/conf" <<END
ServerRoot $tmp/apache
ServerName localhost
PidFile $tmp/apache/pid
DefaultRuntimeDir $tmp/apache
ErrorLog $tmp/apache/error
Listen 127.0.0.1:$((port + 1))
Listen 127.0.0.1:$((port + 2))
LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
LoadModule authz_core_module $modules/mod_authz_core.so
User www-data
Group www-data
StartServers 5
MaxSpareServers 6
DocumentRoot $tmp/apache/www
END
/usr/sbin/apache2 -f "$tmp/apache/conf" -D FOREGROUND 2>>"$tmp/log" &
started="$started $!"
wait_for "Apache listens" 10 listens $((port + 1))
sleep 1 # all of its processes wait for their turns
load "http://127.0.0.1:$((port + 1))/fast" "http://127.0.0.1:$((port + 2))/fast"
judge apache2
expect_at_most "Apache: what its processes waited for the lock under which they take turns" 20000000 \
	"$(rows 'not row["pause"] and (row["lock"] or "").startswith("futex")')" "$tmp/causes"
# There were such waits, of several processes for a large part of a second.
expect_at_least "Apache: waits for a turn" 100000000 \
	"$(rows 'row["pause"] and "held by apache2" in row["cause"]')" "$tmp/causes"
