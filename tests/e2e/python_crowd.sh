#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Somebody's thousands of files that are called as Python's would be delay his own names: of another one's program the
# functions are in the trace, and what was not looked at is said.
. "$(dirname "$0")/lib.sh"
only_all "one of the attackers"
needs_more "interpreted code"
for tool in cc python3 setpriv; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
cc -O2 -o "$tmp/python_files" "$(dirname "$0")/../attacks/python_files.c" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
mkdir -m 777 "$tmp/files"
chmod 755 "$tmp"
setpriv --reuid=65432 --regid=65432 --clear-groups "$tmp/python_files" "$tmp/files" 4000 >"$tmp/ready" 2>&1 &
started="$started $!"
wait_for "files" 30 grep -q ready "$tmp/ready"
cat >"$tmp/innocent.py" <<'END'
import time


def innocent():
    for _ in range(1000):
        time.sleep(0.01)


innocent()
END
begin_recording "$tmp/trace" -F 0
python3 "$tmp/innocent.py" &
started="$started $!"
sleep 4
end_recording
timeout 300 "$walk" -q --all -f folded "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk -f folded" 0 $?
waits=$(awk '/innocent/ { n += $NF } END { printf "%.0f\n", n / 1e3 }' "$tmp/folded")
read_info "$tmp/trace"
left_out=$(info_figure mapped_left_out)
echo "note: $waits ms in innocent(), ${left_out:-0} mappings not looked at"
expect_at_least "ms that the program waited in innocent()" 1000 "$waits" "$tmp/err.cap"
expect_at_least "mappings that were not looked at" 1 "${left_out:-0}" "$tmp/err.cap"
