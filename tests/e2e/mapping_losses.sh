#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# After the loss of records of what is mapped, it is unknown what lies outside of the core kernel. The
# recorder's own frames are still left out of kernel stacks, and the summary tells of the loss. The recorder
# is stopped while a program maps code more often than there is room for.
. "$(dirname "$0")/lib.sh"
needs_bpf
cat >"$tmp/maps.py" <<'END'
import mmap, os
f = os.open(os.__file__, os.O_RDONLY)
for i in range(60000):
    mmap.mmap(f, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
END
begin_recording "$tmp/trace" -F 0
kill -STOP "$recorder"
python3 "$tmp/maps.py"
kill -CONT "$recorder"
sleep 0.3
timeout 300 "$load" pingpong --rounds 3000 --work 0 >"$tmp/told" || fail "pingpong"
end_recording
expect_at_least "records lost" 1000 "$("$walk" -f info "$tmp/trace" | awk '$1 == "mappings_lost:" { print $2 }')"
"$walk" -q -f events -v -c '^p[io]ng$' "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_at_least "switches after that" 3000 "$(grep -c ' switch p[io]ng/' "$tmp/events")"
expect "frames of the recorder" 0 "$(grep -c -E 'bpf_prog_|bpf_trace_run|__traceiter' "$tmp/events")" "$tmp/events"
"$walk" -f folded "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
grep -q '^[0-9]* records of memory mappings are lost: functions may lack names$' "$tmp/err" ||
	fail "no word of the loss in the summary:
$(cat "$tmp/err")"
