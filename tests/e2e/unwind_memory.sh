#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What unwinding takes while the programs of a desktop and of a server run at once, chromium among them: the
# call frame information of the files that run, at most 128 MiB of it, and tables of fixed size in the
# kernel. All of it is printed.
# Beside another: what others run takes some of the memory, and the bounds have room for that.
. "$(dirname "$0")/lib.sh"
only_all "how much memory unwinding takes"
needs_bpf
dir=$tmp/servers
mkdir "$dir"
chmod 755 "$tmp" "$dir"
# shellcheck source=tests/stacks/servers.sh
. "$(dirname "$0")/../stacks/servers.sh"
trap 'server_stop; clean_up' EXIT
servers_start || fail "$server does not start: $(tail -5 "$dir/$server/log" 2>/dev/null)"
programs=$servers
for name in ${CHROMIUM:-chromium chromium-browser google-chrome}; do
	command -v "$name" >/dev/null || continue
	"$name" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --remote-debugging-port=0 \
		'data:text/html,<script>setInterval(() => { document.title = Date.now() }, 20)</script>' >"$tmp/browser" 2>&1 &
	started="$started $!"
	wait_for "$name begins" 30 grep -q 'DevTools listening' "$tmp/browser"
	programs="$programs $name"
	break
done
[ "$programs" ] || skip "none of the programs is installed"

begin_recording "$tmp/trace" 60
sleep 5
anon=$(awk '$1 == "RssAnon:" { print $2 }' /proc/$recorder/status)
# Of the kernel's maps, without the rings: the largest ones, which are known by their size.
maps=$(cat /proc/$recorder/fdinfo/* 2>/dev/null | awk '
	$1 == "map_type:" { type = $2 }
	$1 == "memlock:" { memlock = $2 }
	$1 == "map_id:" && !(($2, type) in seen) { seen[$2, type]; if (type != 27) sum += memlock }
	END { printf "%.0f\n", sum / 1024 }')
end_recording
read -r known unwound stacks looked_up files kib <<<"$(sed -n 's/^chaincap: unwinding: //p' "$tmp/err.cap" | tr -cs '0-9\n' ' ')"
whole=$(sed -n 's/^chaincap: user stacks:.* \([0-9]*\) whole.*/\1/p' "$tmp/err.cap")
echo "note:$programs: $whole whole stacks; $known known again, $unwound unwound, $stacks completed by the recorder, $looked_up addresses looked up in" \
	"$files files, whose call frame information takes $((kib / 1024)) MiB"
echo "note: the recorder's own memory is $((anon / 1024)) MiB, its maps in the kernel without the rings $((maps / 1024)) MiB"
expect_at_least "files that something ran through" 10 "$files" "$tmp/err.cap"
expect_at_most "MiB of call frame information" 128 $((kib / 1024)) "$tmp/err.cap"
expect_at_most "MiB of the recorder's own memory" 256 $((anon / 1024)) "$tmp/err.cap"
expect_at_most "MiB of maps" 64 $((maps / 1024)) "$tmp/err.cap"
