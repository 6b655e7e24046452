#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A flight recorder in whose control group others use up the memory writes its trace before it may be killed.
# Beside another: the memory that is short is its own group's.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
	group_dir=/sys/fs/cgroup/memory/chain-short.$$ limit=memory.limit_in_bytes
elif grep -qsw memory /sys/fs/cgroup/cgroup.subtree_control; then
	group_dir=/sys/fs/cgroup/chain-short.$$ limit=memory.max
else
	skip "no control groups with limits of memory"
fi
mkdir "$group_dir" 2>"$tmp/err" || skip "no control group: $(cat "$tmp/err")"
groups=$group_dir
echo 600M >"$group_dir/$limit"

cat >"$tmp/hog.py" <<'END'
import time
taken = []
time.sleep(2)
for _ in range(60):
    taken.append(bytearray(b"x") * (10 << 20))
    time.sleep(0.1)
END
# The recorder is in the group from its beginning, and so is the other one.
cat >"$tmp/in_group" <<END
#!/bin/sh
echo \$\$ >"$group_dir/cgroup.procs"
exec "\$@"
END
chmod +x "$tmp/in_group"
real=$cap
cat >"$tmp/cap" <<END
#!/bin/sh
exec "$tmp/in_group" "$real" "\$@"
END
chmod +x "$tmp/cap"
cap=$tmp/cap
fly "$tmp/flight" --flight=60s -F 0 -K --memory=128M --max-size=32M
# What the kernel keeps of files that somebody reads again and again is none of the memory that is short.
if dd if=/dev/zero of="$tmp/read" bs=1M count=450 oflag=direct 2>"$tmp/told"; then
	"$tmp/in_group" cat "$tmp/read" "$tmp/read" "$tmp/read" >/dev/null
	sleep 1.5
	! grep '^chaincap: little memory is left' "$tmp/err.cap" || fail "files count as memory that is short"
else
	echo "note: no file system for direct writes: $(tail -n 1 "$tmp/told")"
fi
"$tmp/in_group" python3 "$tmp/hog.py" >"$tmp/told" 2>&1 &
started="$started $!"
wait_for "a trace is written" 20 written "$tmp/flight"
grep -q '^chaincap: little memory is left in its control group' "$tmp/err.cap" ||
	fail "chaincap does not say why: $(cat "$tmp/err.cap")"
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
flying=''
expect_whole "$tmp/flight"
