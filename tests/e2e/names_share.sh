#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How many user frames have a name, for each kind of program and process, as a table:
#   kind: named N of M user frames (P %), of the program's own N of M (P %)
# A frame counts as often as it stands in a stack of an event. The program (names_load) has three exported
# and three local functions in each stack. Its own frames must all have names, except where there are none:
#   - stripped to .dynsym: the local ones, half of them;
#   - of the C library and its loader only what they export, unless their debug files are installed. How many
#     of their frames there are depends on how busy the machine is, so that no share of them is expected then.
# What belongs to a process has to be found while it lives. A recorder that was kept off the CPU for all of
# a short life finds nothing, so what is measured on a busy machine gets three tries.
. "$(dirname "$0")/lib.sh"
needs_bpf
names_load=$build/names_load
poor=''

# debug_path FILE: of its debug file by build ID, below /usr/lib/debug/.build-id
debug_path() {
	id=$(readelf -n "$1" | awk '/Build ID:/ { print $3 }')
	rest=${id#??}
	echo "${id%"$rest"}/$rest.debug"
}
libc=$(ldconfig -p | awk '$1 == "libc.so.6" { print $NF; exit }')
libc_named=''
[ ! -e "/usr/lib/debug/.build-id/$(debug_path "$libc")" ] || libc_named=yes

# share THREADS: counts the frames of threads with names that match, into $named $all $own_named $own (frames),
# $percent $own_percent, and $without (what has no name).
share() {
	timeout 60 "$walk" -v -U --format=events "$tmp/trace" 2>"$tmp/err" >"$tmp/events"
	expect_exit "chainwalk --format=events" 0 $?
	awk -v threads="$1" '
		/^ *[0-9]+\.[0-9]+ \[/ { counts = $4 ~ ("^" threads "/[0-9]+$"); next }
		!counts || !/^\t/ || $1 == "[cut]" { next }
		{
			file = $0
			if (!sub(/.* \(/, "", file))
				file = "nowhere)"
			sub(/\)$/, "", file)
			is_own = file !~ /^(\/usr)?\/lib/ && file !~ /^\[/
			is_named = $1 != "[unknown]" && $2 != "[unknown]" && $2 !~ /^\[.*\+0x[0-9a-f]+\]/
			all++; named += is_named; own += is_own; own_named += is_own && is_named
			if (!is_named)
				without[file]++
		}
		END {
			printf "%.0f %.0f %.0f %.0f %.1f %.1f ", named, all, own_named, own,
				all ? 100 * named / all : 0, own ? 100 * own_named / own : 0
			for (file in without)
				printf " %.0f in %s", without[file], file
			print ""
		}' "$tmp/events" >"$tmp/share"
	read -r named all own_named own percent own_percent without <"$tmp/share"
}

# kind NAME THREADS LEAST OWN_LEAST FRAMES_LEAST COMMAND...: records it, prints its line, and notes it in
# $poor if fewer per cent of all frames, or of its own, have a name, or there are fewer frames.
# $recorder is what runs the recorder, if anything.
recorder=''
kind() {
	name=$1 threads=$2 least=$3 own_least=$4 frames=$5
	[ "$libc_named" ] || least=0
	shift 5
	for try in 1 2 3; do
		# shellcheck disable=SC2086 # words
		timeout 60 $recorder "$cap" -F 0 -o "$tmp/trace" "$@" >"$tmp/told" 2>"$tmp/err"
		expect_exit "$recorder chaincap $*" 0 $?
		share "$threads"
		awk -v a="$percent" -v b="$least" -v c="$own_percent" -v d="$own_least" -v e="$all" \
			-v f="$frames" 'BEGIN { exit !(a >= b && c >= d && e >= f) }' && break
	done
	printf 'note: %s: named %s of %s user frames (%s %%), of its own %s of %s (%s %%)%s\n' "$name" \
		"$named" "$all" "$percent" "$own_named" "$own" "$own_percent" \
		"$([ $try = 1 ] || echo ", try $try")"
	[ -z "$without" ] || echo "      without a name: $without" | cut -c1-200
	if [ $try = 3 ] && awk -v a="$percent" -v b="$least" -v c="$own_percent" -v d="$own_least" -v e="$all" \
		-v f="$frames" 'BEGIN { exit a >= b && c >= d && e >= f }'; then
		poor="$poor
$name: expected at least $least % of all and $own_least % of its own, of at least $frames frames"
	fi
}

# a_program NAME: a copy that is known by that name.
a_program() {
	cp "$names_load" "$tmp/$1"
}

cannot() {
	echo "note: $1: cannot run here: $2"
}

a_program n_symtab
kind "symbol table" n_symtab 85 100 600 -- "$tmp/n_symtab" wait 100 300

a_program n_stripped
strip "$tmp/n_stripped"
kind "stripped (.dynsym only)" n_stripped 42 50 600 -- "$tmp/n_stripped" wait 100 300

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
	kind ".gnu_debugdata" n_minidebug 85 100 600 -- "$tmp/n_minidebug" wait 100 300
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
if unshare -m true 2>/dev/null && [ -d /usr/lib/debug ]; then
	cat >"$tmp/with_debug_file" <<-EOF
		mount --bind "$tmp/debug/usr/lib/debug" /usr/lib/debug && exec "\$@"
	EOF
	recorder="unshare -m sh $tmp/with_debug_file"
	kind "debug file by build ID" n_debugfile 85 100 600 -- "$tmp/n_debugfile" wait 100 300
	recorder=''
else
	cannot "debug file by build ID" "no mount namespaces (in a chroot?), or no /usr/lib/debug"
fi

a_program n_debuglink
objcopy --only-keep-debug "$tmp/n_debuglink" "$tmp/n_debuglink.debug"
strip "$tmp/n_debuglink"
objcopy --add-gnu-debuglink="$tmp/n_debuglink.debug" "$tmp/n_debuglink"
kind "debug file beside it (.gnu_debuglink)" n_debuglink 85 100 600 -- "$tmp/n_debuglink" wait 100 300

# A container: a root directory of its own, in new mount and PID namespaces.
root=$tmp/root
mkdir -p "$root/tmp"
ldd "$names_load" | grep -o '/[^ ]*' | while read -r library; do
	cp -L --parents "$library" "$root"
done
contain="unshare -mpf --propagation unchanged chroot $root"
# shellcheck disable=SC2086 # words
if unshare -mpf --propagation unchanged true 2>/dev/null; then
	for program in n_container n_contdebug n_contjit n_contstorm n_hidden; do
		cp "$names_load" "$root/$program"
	done
	kind "container" n_container 85 100 600 -- $contain /n_container wait 100 300
	debug_file "$root/n_contdebug" "$root"
	kind "container, its own debug file" n_contdebug 85 100 600 -- $contain /n_contdebug wait 100 300
	kind "container, perf map" n_contjit 85 100 900 -- $contain /n_contjit jit 100 300
	expect "perf maps in the container" "$root/tmp/perf-1.map" "$(echo "$root"/tmp/perf-*.map)"
	kind "container, 200 short-lived processes" n_contstorm 85 100 4000 \
		-- $contain /n_contstorm storm 200 8 300 /n_contstorm
	if unshare -m true 2>/dev/null; then
		# shellcheck disable=SC2016 # is for the inner shell
		kind "30 containers of 2 ms, each with a file system of its own" n_hidden 70 75 300 -- \
			sh -c 'i=0; while [ $i -lt 30 ]; do unshare -mpf sh -c "
				mount -t tmpfs none $1/tmp && cp $1/n_hidden $1/tmp && exec chroot $1 /tmp/n_hidden wait 2 300"
				i=$((i + 1)); done' sh "$root"
	else
		cannot "containers with a file system of their own" "no mounts in a chroot"
	fi
else
	cannot container "no mount or PID namespaces"
fi

a_program n_deleted
"$tmp/n_deleted" wait 100000 300 &
started="$started $!"
sleep 0.2
rm "$tmp/n_deleted"
kind "deleted before the recording" n_deleted 85 100 600 0.5
a_program n_vanishes
# shellcheck disable=SC2016 # is for the inner shell
kind "deleted during the recording" n_copy 85 100 600 -- \
	sh -c 'cp "$1" "$2" && { "$2" wait 600 300 & } && sleep 0.15 && rm "$2"; wait' sh "$tmp/n_vanishes" "$tmp/n_copy"
# As configure scripts have them: compiled, run, deleted.
# shellcheck disable=SC2016 # is for the inner shell
kind "60 programs deleted after 2 ms" "n_copy[0-9]+" 70 75 600 -- sh -c 'i=0; while [ $i -lt 60 ]; do
	cp "$1" "$2$i" && "$2$i" wait 2 300 && rm "$2$i"; i=$((i + 1)); done' sh "$tmp/n_vanishes" "$tmp/n_copy"

a_program n_jit
# shellcheck disable=SC2016 # is for the inner shell
kind "generated code, perf map" n_jit 85 100 900 -- sh -c '"$1" jit 100 300 & wait; echo $! >>"$2"' \
	sh "$tmp/n_jit" "$tmp/jits"
while read -r pid; do
	rm -f "/tmp/perf-$pid.map"
done <"$tmp/jits"

a_program n_storm
kind "500 short-lived processes (fork and exec)" n_storm 85 100 10000 -- \
	"$tmp/n_storm" storm 500 8 300 "$tmp/n_storm"

if command -v make >/dev/null; then
	a_program n_make
	{
		printf 'all:'
		seq -f ' t%.0f' 200 | tr -d '\n'
		printf '\nt%%:\n\t@%s wait 2 300; :\n' "$tmp/n_make"
	} >"$tmp/Makefile"
	kind "make -j8, 200 programs" n_make 80 100 2000 -- make -s -j8 -C "$tmp"
else
	cannot "make -j8" "no make"
fi

a_program n_exec
kind "exec over running threads" n_exec 80 100 600 -- "$tmp/n_exec" exec 50 300 "$tmp/n_exec"

a_program n_rename
kind "renamed threads" "name_[0-9]" 85 100 500 -- "$tmp/n_rename" rename 100 300

[ -z "$poor" ] || fail "too few names:$poor"
