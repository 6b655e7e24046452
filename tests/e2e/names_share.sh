#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How many user frames have a name, for each kind of program and process that lives for a second or two. All run at
# once in one recording: ../speed/names_share.sh has those for which the recorder has some milliseconds.
# Beside another: it compares names of its own programs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../names.sh"
needs_bpf
: >"$tmp/programs" # a shell script that runs all of them
: >"$tmp/kinds"

# kind NAME:THREADS:LEAST:OWN_LEAST:FRAMES_LEAST COMMAND...: see judge_kind; the command is a line of the script.
kind() {
	echo "$1" >>"$tmp/kinds"
	shift
	echo "$* &" >>"$tmp/programs"
}
waits='300 4000' # how often, and for how many us

a_program n_symtab
kind 'symbol table:n_symtab:85:100:600' "$tmp/n_symtab" wait $waits

a_program n_stripped
strip "$tmp/n_stripped"
kind 'stripped (.dynsym only):n_stripped:42:50:600' "$tmp/n_stripped" wait $waits

# As Fedora makes it: the functions that are not exported, in an ELF file of their own, packed.
mini_debug_info() {
	(
		cd "$tmp" || exit 1
		nm -D "$1" --format=posix --defined-only | cut -d' ' -f1 | sort >dynamic
		nm "$1" --format=posix --defined-only | awk '$2 ~ /^[Tt]$/ { print $1 }' | sort >functions
		comm -13 dynamic functions >keep
		objcopy --only-keep-debug "$1" "$1.debug" &&
			objcopy -S --remove-section .comment --keep-symbols=keep "$1.debug" "$1.mini" &&
			xz -f "$1.mini" && strip "$1" && objcopy --add-section .gnu_debugdata="$1.mini.xz" "$1"
	)
}
a_program n_minidebug
if ! ldd "$cap" | grep -q liblzma; then
	cannot .gnu_debugdata "built without liblzma"
elif ! command -v xz >/dev/null; then
	cannot .gnu_debugdata "no xz"
else
	mini_debug_info n_minidebug || fail "cannot make .gnu_debugdata"
	kind '.gnu_debugdata:n_minidebug:85:100:600' "$tmp/n_minidebug" wait $waits
fi

# debug_file PROGRAM ROOT: strips it; its debug file is installed in ROOT under its build ID.
debug_file() {
	debug=$2/usr/lib/debug/.build-id/$(debug_path "$1")
	mkdir -p "${debug%/*}"
	objcopy --only-keep-debug "$1" "$debug"
	strip "$1"
}
a_program n_debugfile
debug_file "$tmp/n_debugfile" "$tmp/debug"
in_namespace=''
if unshare -m true 2>/dev/null && [ -d /usr/lib/debug ]; then
	cat >"$tmp/with_debug_file" <<-EOF
		mount --bind "$tmp/debug/usr/lib/debug" /usr/lib/debug && exec "\$@"
	EOF
	in_namespace="unshare -m sh $tmp/with_debug_file"
	kind 'debug file by build ID:n_debugfile:85:100:600' "$tmp/n_debugfile" wait $waits
else
	cannot "debug file by build ID" "no mount namespaces (in a chroot?), or no /usr/lib/debug"
fi

a_program n_debuglink
objcopy --only-keep-debug "$tmp/n_debuglink" "$tmp/n_debuglink.debug"
strip "$tmp/n_debuglink"
objcopy --add-gnu-debuglink="$tmp/n_debuglink.debug" "$tmp/n_debuglink"
kind 'debug file beside it (.gnu_debuglink):n_debuglink:85:100:600' "$tmp/n_debuglink" wait $waits

contained=''
if make_container n_container n_contdebug n_contjit; then
	contained=yes
	kind 'container:n_container:85:100:600' "$contain /n_container wait $waits"
	debug_file "$root/n_contdebug" "$root"
	kind 'container, its own debug file:n_contdebug:85:100:600' "$contain /n_contdebug wait $waits"
	kind 'container, perf map:n_contjit:85:100:900' "$contain /n_contjit jit $waits"
else
	cannot container "no mount or PID namespaces"
fi

a_program n_deleted
"$tmp/n_deleted" wait 100000 300 &
started="$started $!"
sleep 0.2
rm "$tmp/n_deleted"
kind 'deleted before the recording:n_deleted:85:100:600' true
a_program n_vanishes
kind 'deleted during the recording:n_copy:85:100:600' \
	"{ cp $tmp/n_vanishes $tmp/n_copy && { $tmp/n_copy wait $waits & } && sleep 1 && rm $tmp/n_copy; wait; }"

a_program n_jit
kind 'generated code, perf map:n_jit:85:100:900' "{ $tmp/n_jit jit $waits & echo \$! >$tmp/jit; wait; }"

a_program n_exec
kind 'exec over running threads:n_exec:80:100:600' "$tmp/n_exec" exec $waits "$tmp/n_exec"

a_program n_rename
kind 'renamed threads:name_[0-9]:85:100:500' "$tmp/n_rename" rename $waits

echo wait >>"$tmp/programs"
# shellcheck disable=SC2086 # words
record_programs $in_namespace "$cap" -F 0 -o "$tmp/trace" -- sh "$tmp/programs"
rm -f "/tmp/perf-$(cat "$tmp/jit").map"
[ -z "$contained" ] || expect "perf maps in the container" "$root/tmp/perf-1.map" "$(echo "$root"/tmp/perf-*.map)"
while IFS=: read -r name threads least own_least frames; do
	judge_kind "$name" "$threads" "$least" "$own_least" "$frames"
done <"$tmp/kinds"
expect_names
