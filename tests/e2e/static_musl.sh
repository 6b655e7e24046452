#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that need no library, where there is another C library than theirs and nothing else: below a folder with
# busybox and musl, no locale, no terminal's description and no certificates, they record a program of musl's. musl has
# no call frame information: its frames have their names, and where a stack is cut, that is said with the file.
# Beside another: it judges its own program's chains.
. "$(dirname "$0")/lib.sh"
only_all "it links the programs that need no library"
needs_bpf
for tool in musl-gcc busybox; do
	command -v $tool >/dev/null || skip "no $tool"
done
! readelf -l "$(command -v busybox)" | grep -q INTERP || skip "busybox needs libraries"
make_static

root=$tmp/root
mkdir -p "$root/bin" "$root/lib" "$root/proc" "$root/sys" "$root/tmp"
cp -L "$(command -v busybox)" "$root/bin/busybox"
cp "$build/static/chaincap" "$build/static/chainwalk" "$build/static/flamegraph" "$root/bin"
# musl's headers first, the kernel's after these.
include=/usr/include/$(cc -print-multiarch)
for pointers in no-omit omit; do
	musl-gcc -idirafter "$include" -idirafter /usr/include -O2 -g -std=c17 -D_GNU_SOURCE -f$pointers-frame-pointer \
		-fno-optimize-sibling-calls -pthread -o "$root/bin/chainload-$pointers" \
		"$(dirname "$0")/../workload/chainload.c" 2>"$tmp/err" || fail "musl-gcc: $(cat "$tmp/err")"
done
musl=$(readelf -l "$root/bin/chainload-omit" | sed -n 's/.*interpreter: \(.*\)\]$/\1/p')
case $musl in */ld-musl-*) ;; *) fail "chainload is not linked with musl: $musl" ;; esac
cp -L "$musl" "$root/lib/" || skip "no $musl"
expect "what there is below the folder" "bin/busybox bin/chaincap bin/chainload-no-omit bin/chainload-omit bin/chainwalk bin/flamegraph lib/${musl##*/}" \
	"$(cd "$root" && find bin lib -type f | sort | tr '\n' ' ' | sed 's/ $//')"

# inside COMMAND...: with nothing else, and no environment
inside() {
	unshare -m sh -c 'mount --rbind /proc "$1/proc" && mount --rbind /sys "$1/sys" &&
		root=$1 && shift && exec chroot "$root" /bin/busybox env -i PATH=/bin /bin/busybox timeout 100 "$@"' sh "$root" "$@"
}
for pointers in no-omit omit; do
	inside chaincap -o /tmp/trace -- chainload-$pointers relay --rounds 20 --hops pipe >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap below the folder" 0 $?
	cp "$root/tmp/trace" "$tmp/trace"
	expect_whole "$tmp/trace"
	for format in folded tree causes info; do
		(cd "$root" && exec "$walk" -q --format=$format tmp/trace) >"$tmp/with" 2>"$tmp/err"
		expect_exit "chainwalk --format=$format" 0 $?
		inside chainwalk -q --format=$format tmp/trace >"$tmp/without" 2>"$tmp/err"
		expect_exit "chainwalk --format=$format below the folder: $(cat "$tmp/err")" 0 $?
		cmp "$tmp/with" "$tmp/without" || fail "chainwalk --format=$format differs: $(diff "$tmp/with" "$tmp/without" | head -5)"
	done
	grep -q "^note: .*chainload-[a-z-]*/[0-9].*: callers of C library functions are missing: musl has no call frame information: " "$tmp/with" ||
		fail "it is not said what is missing: $(grep ^note "$tmp/with")"

	walk_to "$tmp/folded" -t "$(tid alpha)" "$tmp/trace"
	grep -q '^alpha;.*;--;.*;bravo;--;.*;charlie;--;.*;delta;--;.*;\[timer\] ' "$tmp/folded" ||
		fail "not alpha <- bravo <- charlie <- delta <- timer: $(cat "$tmp/folded")"
	# A function that musl exports no name of makes the system calls: not memset(), the last one below it that has one.
	expect "waits in a pipe that are not in musl" "" "$(grep '^alpha;.*;\[pipe[^;]*\];-;' "$tmp/folded" |
		grep -v "\[${musl##*/}\];\[pipe[^;]*\];-;" | head -3)"
	[ $pointers = omit ] || grep -q "^alpha;.*;thread_main;alpha_runs;.*\[${musl##*/}\];.*;-;.*bravo_runs;thread_main;.*bravo;--;" "$tmp/folded" ||
		fail "no callers by frame pointers: $(cat "$tmp/folded")"
done

inside chainwalk -q /tmp/trace >"$tmp/folded" 2>"$tmp/err"
"$build/flamegraph" <"$tmp/folded" >"$tmp/with"
inside flamegraph <"$tmp/folded" >"$tmp/without" 2>"$tmp/err"
expect_exit "flamegraph below the folder: $(cat "$tmp/err")" 0 $?
cmp "$tmp/with" "$tmp/without" || fail "flamegraph differs"
inside chaincap --self-test >"$tmp/out" 2>"$tmp/err"
expect_exit "--self-test below the folder: $(cat "$tmp/out" "$tmp/err")" 0 $?
expect "what does not work there" "" "$(grep '^no ' "$tmp/out")"
