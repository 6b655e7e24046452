#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the tapes in tests/data/tapes anew, all or those that are named, and the checksums of what this build makes of
# them: tapes.sh BUILD_DIR [NAME...]. Root only; to be done when include/chainwire.h has changed, by the commit that
# changes it. A tape is what the BPF side told in a recording of one of our workloads (tests/tools/tape.c), and
# tests/unit/events_tapes.c replays it.
set -eu
LC_ALL=C
export LC_ALL
O=$(cd "$1" && pwd)
shift
names=$*
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/quota.sh
. "$here/quota.sh"
tmp=$(mktemp -d)
load=''
end() {
	[ -z "$load" ] || kill "$load" 2>/dev/null || true
	[ -z "$group" ] || quota_end || true
	rm -rf "$tmp"
}
trap end EXIT
cp "$O/tape/chaincap" "$O/chainload" "$O/shop_static" "$tmp"
cd "$tmp"
# By names that nothing else on this machine has.
cp "$(command -v sh)" tape_sh
ln -s /usr/bin/python3 tape_python

# wanted NAME
wanted() {
	case " ${names:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
}

# tape NAME "PROGRAM..." CHAINCAP_ARGUMENT...: what concerns these programs.
tape() {
	name=$1
	echo "$1" >>tapes
	wanted "$1" || return 0
	export TAPE_OF="$2" TAPE_OUT="$here/data/tapes/$1.tape"
	shift 2
	echo "$name"
	sh -c 'echo $$ >recorder; exec ./chaincap -o trace.bin "$@"' chaincap "$@" >said 2>&1 || { cat said; return 1; }
}

tape relay chainload -F 499 -- ./chainload relay --rounds 4
tape requests chainload -- ./chainload relay --rounds 4 --hops tcp,unix,tcp
tape things chainload -- ./chainload things --rounds 3
tape disk chainload -- ./chainload diskio --sync --rounds 5
tape heir chainload -- ./chainload heir
tape tenants chainload -- ./chainload tenants
tape terminal chainload -- ./chainload terminal --rounds 5

# under_way SCENARIO: has begun before the recording.
under_way() {
	./chainload "$@" --seconds 60 >/dev/null &
	load=$!
	sleep 0.3
}
over() {
	kill "$load"
	wait "$load" || true
	load=''
}
under_way deadlock
tape deadlock "chainload castor pollux" 0.2
over
under_way pingpong --rounds 1000000 --work 0
tape lost "chainload ping pong" --buffer-size 4k 0.1
over

# Control groups, and a quota that is used up.
quota_group 5000 || { echo "$why_not" >&2; exit 1; }
cat >in_group <<'END'
echo $$ >"$1/cgroup.procs"
timeout 0.4 gzip -c /dev/zero || :
END
tape quota tape_sh -- ./tape_sh in_group "$group"

# Ids in another PID namespace.
tape own_ids tape_sh -- ./tape_sh -c 'unshare --pid --fork sh -c "sleep 0.01; exit 0"'

# Requests that probes mark, with labels.
cc -O2 -pthread -o probed "$here/workload/requests/probed.c"
tape probes probed --request own="$PWD/probed:handle" --request-label arg2:string -- ./probed calls 3

# Contexts that a program publishes; it ends when the recorder has seen them.
if wanted contexts; then
	mkfifo go
	./shop_static - 5 <go >told &
	load=$!
	exec 4>go
	: >said
	(until grep -q ' 2 with routes' said; do sleep 0.05; done; echo >&4; sleep 0.5; kill -INT "$(cat recorder)") &
	tape contexts "shop_static front back" -v --context
	exec 4>&-
	wait "$load"
	load=''
else
	echo contexts >>tapes
fi

# Interpreted code.
cat >code.py <<'END'
import time
def pause(n):
    time.sleep(0.002)
    return n and pause(n - 1)
for i in range(5):
    pause(i)
END
tape python tape_python -- ./tape_python -c 'import time; time.sleep(0.5); exec(open("code.py").read())'

# An acknowledgement that is put off: the request is sent in two pieces.
cat >pieces.py <<'END'
import os, socket
listening = socket.create_server(("127.0.0.1", 0))
if not os.fork():
    c = listening.accept()[0]
    for i in range(3):
        c.setsockopt(socket.IPPROTO_TCP, 12, 0) # TCP_QUICKACK
        for _ in b"ab":
            c.recv(1)
        c.send(b"x")
    os._exit(0)
s = socket.create_connection(listening.getsockname())
for i in range(3):
    s.send(b"a")
    s.send(b"b")
    s.recv(1)
END
tape tcp_timers tape_python -- ./tape_python pieces.py

cd "$here/.."
[ "$names" ] && [ -e tests/data/tapes/sums ] || sed 's/$/ 0 0/' "$tmp/tapes" >tests/data/tapes/sums
ACCEPT=1 "$O/tests/unit/events_tapes"
ls -l tests/data/tapes
