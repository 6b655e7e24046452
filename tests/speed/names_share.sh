#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How many user frames have a name where programs live for milliseconds: what belongs to a process has to be found
# while it lives, and a recorder that was kept off the CPU for all of that finds nothing.
. "$(dirname "$0")/../e2e/lib.sh"
. "$(dirname "$0")/../names.sh"
needs_bpf

# kind NAME THREADS LEAST OWN_LEAST FRAMES_LEAST -- COMMAND...: in a recording of its own.
kind() {
	name=$1 threads=$2 least=$3 own_least=$4 frames=$5
	shift 5
	record_programs "$cap" -F 0 -o "$tmp/trace" "$@"
	judge_kind "$name" "$threads" "$least" "$own_least" "$frames"
}

a_program n_symtab
kind "a program of 30 ms" n_symtab 85 100 600 -- "$tmp/n_symtab" wait 100 300

# shellcheck disable=SC2086 # words
if make_container n_contstorm n_hidden; then
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

# As configure scripts have them: compiled, run, deleted.
# shellcheck disable=SC2016 # is for the inner shell
kind "60 programs deleted after 2 ms" "n_copy[0-9]+" 70 75 600 -- sh -c 'i=0; while [ $i -lt 60 ]; do
	cp "$1" "$2$i" && "$2$i" wait 2 300 && rm "$2$i"; i=$((i + 1)); done' sh "$tmp/n_symtab" "$tmp/n_copy"

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

expect_names
