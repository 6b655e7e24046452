#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first screen of commands that people run, each judged by a clock of its own: a shell script with a pipeline, a
# parallel build, a test suite, the installation of a package, a backup to a slow disk. How long it took is within a
# twentieth of what the command measured itself; what it waited for is named, by the words of its command line, too.
#   commands.sh BUILD_DIR [NAME...]
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../disks.sh"
shift
needs_bpf
[ $# -gt 0 ] || set -- script build suite package backup

# told FILE: how long it took by its own clock, in ms: from the first time in it to the last one, in ns.
told_ms() { awk 'NR == 1 { first = $1 } { last = $1 } END { printf "%.0f\n", (last - first) / 1000000 }' "$1"; }

# screen_of COMMAND...: records it. What the first screen says of it is in $verdict, $took (ms), $step and $step_took (ms,
# of the longest one), and all of the screen in $tmp/screen. Its shells write times to $TIMES at their beginning and end.
screen_of() {
	TIMES=$tmp/times
	export TIMES
	rm -f "$TIMES"
	timeout 300 "$cap" -q -o "$tmp/trace" -- "$@" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- $*" 0 $?
	timeout 300 "$walk" -q --json "$tmp/trace" >"$tmp/json" 2>"$tmp/err"
	expect_exit "chainwalk --json" 0 $?
	timeout 300 "$walk" -q -f causes "$tmp/trace" >"$tmp/screen" 2>"$tmp/err"
	verdict=$(of_subject 'verdict":"[^"]*')
	took=$(($(of_subject 'took_ns":[0-9]*') / 1000000))
	step=$(of_subject 'longest_steps":[[]{"name":"[^"]*')
	step_took=$(($(of_subject 'name":"[^"]*","took_ns":[0-9]*' | sed 's/.*://') / 1000000))
	echo "note: $verdict Longest step: $step, $step_took ms"
}

# of_subject REGEX: the first member like this of what is said of the command, without its name
of_subject() {
	sed 's/.*"subjects":\[//' "$tmp/json" | grep -o "\"$1" | head -n 1 | sed 's/^"[a-z_]*":[[]*{*\("name":\)*"*//'
}

# expect_took MS
expect_took() {
	echo "note: $1 ms by its own clock"
	expect_at_least "how long it took, in ms" "$1" "$took" "$tmp/screen"
	expect_at_most "how long it took, in ms" $(($1 + $1 / 20 + 50)) "$took" "$tmp/screen"
}

# expect_step LEAST MOST REGEX: the longest step is like that, and took so many ms.
expect_step() {
	echo "$step" | grep -qE "^$3$" || fail "the longest step is not $3
$(cat "$tmp/screen")"
	expect_at_least "ms of the longest step" "$1" "$step_took" "$tmp/screen"
	expect_at_most "ms of the longest step" "$2" "$step_took" "$tmp/screen"
}

# Where others have the CPUs, that may be most of what a command waits for.
crowded='the CPUs are what it waits for, of which other programs had [0-9.]*[1-9]\.$'

# says REGEX
says() {
	echo "$verdict" | grep -qE "$1|$crowded" || fail "the verdict is not like $1
$(cat "$tmp/screen")"
}

# A shell script sleeps, and sorts in a pipeline.
script() {
	# shellcheck disable=SC2016 # for the inner shell
	screen_of sh -c 'date +%s%N >>"$TIMES"; sleep 0.5; seq 2000 | sort -R | md5sum; date +%s%N >>"$TIMES"'
	expect_took "$(told_ms "$TIMES")"
	says '^sh took .* because sleep sleeps in [a-z_]*nanosleep\.$'
	expect_step 500 560 'sleep 0\.5'
}

# One file of a build takes long to compile.
build() {
	command -v make >/dev/null && command -v cc >/dev/null || { echo "note: without build: no make or no cc"; return; }
	mkdir "$tmp/src"
	for i in 1 2 3; do echo "int small_$i(int x) { return x + $i; }" >"$tmp/src/small_$i.c"; done
	awk 'BEGIN { for (i = 0; i < 400; i++) printf "int f_%.0f(int x) { int s = 0; for (int i = 0; i < x; i++) { s += i * %.0f; if (s %% 7 == 3) s ^= x; else s += x / (i + 1); } return s; }\n", i, i }' >"$tmp/src/big.c"
	# shellcheck disable=SC2016 # for make's shell
	printf 'all: big.o small_1.o small_2.o small_3.o\n%%.o: %%.c\n\tdate +%%s%%N >>$*.times; cc -O2 -c -o $@ $<; date +%%s%%N >>$*.times\n' \
		>"$tmp/src/Makefile"
	screen_of make -s -C "$tmp/src" -j2
	big=$(told_ms "$tmp/src/big.times")
	# All of the build but its beginning waits for this file.
	expect_at_least "how long it took, in ms" "$big" "${took:-0}" "$tmp/screen"
	says '^make took .*(cc1 |the CPUs are what it waits for)'
	expect_step $((big * 6 / 10)) "$((big + 20))" 'big\.[cos] \((cc1|cc|gcc|sh|as)[^)]*\)'
}

# A test suite, of which one test waits for a server that is not there.
suite() {
	mkdir "$tmp/t"
	# shellcheck disable=SC2016 # for the tests
	for i in 1 2 3; do
		printf '#!/bin/sh\ndate +%%s%%N >>$0.times\n%s\necho "1..1"; echo "ok 1"\ndate +%%s%%N >>$0.times\n' \
			"$([ $i != 2 ] || echo 'for i in 1 2 3 4 5 6; do [ -e /nonexistent/server ] || sleep 0.1; done')" >"$tmp/t/$i.t"
		chmod 755 "$tmp/t/$i.t"
	done
	if command -v prove >/dev/null; then
		screen_of prove -Q "$tmp/t"
	else
		# shellcheck disable=SC2016 # for the inner shell
		screen_of sh -c 'for t in "$0"/*.t; do "$t" | grep -q "^ok"; done' "$tmp/t"
	fi
	second=$(told_ms "$tmp/t/2.t.times")
	says 'because sleep sleeps in [a-z_]*nanosleep\.$'
	expect_step "$((second * 9 / 10))" "$((second + second / 10 + 50))" '[^ ]*/2\.t( \([a-z0-9.]*\))?'
}

# The script of a package that is installed waits. Nothing of this machine's packages is touched, and nothing is fetched.
package() {
	command -v apt-get >/dev/null || { echo "note: without package: no apt-get"; return; }
	mkdir -p "$tmp/deb/DEBIAN" "$tmp/deb/opt/chain-e2e" "$tmp/root" "$tmp/admin/info" "$tmp/admin/updates" \
		"$tmp/apt/lists/partial" "$tmp/apt/archives/partial" "$tmp/apt/log"
	: >"$tmp/admin/status"
	: >"$tmp/admin/available"
	head -c 300000 /dev/urandom >"$tmp/deb/opt/chain-e2e/data"
	printf 'Package: chain-e2e\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: a test\n' \
		>"$tmp/deb/DEBIAN/control"
	# shellcheck disable=SC2016 # for the package's shell
	printf '#!/bin/sh\ndate +%%s%%N >>"$TIMES"\nsleep 1.4\ndate +%%s%%N >>"$TIMES"\n' >"$tmp/deb/DEBIAN/postinst"
	chmod 755 "$tmp/deb/DEBIAN/postinst"
	dpkg-deb -b "$tmp/deb" "$tmp/x.deb" >"$tmp/out" 2>&1 || fail "dpkg-deb: $(cat "$tmp/out")"
	screen_of apt-get -qq -y -o Dir::State="$tmp/apt" -o Dir::State::status="$tmp/admin/status" -o Dir::Cache="$tmp/apt" \
		-o Dir::Log="$tmp/apt/log" -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=/dev/null \
		-o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dpkg::Options::="--instdir=$tmp/root" \
		-o Dpkg::Options::="--admindir=$tmp/admin" -o Dpkg::Options::=--force-script-chrootless \
		-o Dpkg::Options::="--log=$tmp/apt/log/dpkg" install "$tmp/x.deb"
	waited=$(told_ms "$TIMES")
	# apt-get looks every 50 ms whether dpkg has ended, so that nothing but a timer ends its waits; in between it runs itself.
	expect_at_least "how long it took, in ms" "$waited" "$took" "$tmp/screen"
	says '^apt-get took .* because sleep sleeps in [a-z_]*nanosleep\.$'
	expect_step $((waited / 2)) $((waited + 100)) 'sleep [0-9.]*'
}

# A backup is written to a disk that lets it write 20 times a second.
backup() {
	needs_disk
	limit_writes 20 || { echo "note: without backup: $why_not"; return; }
	mkdir "$tmp/data"
	head -c 700000 /dev/urandom >"$tmp/data/random"
	# shellcheck disable=SC2016 # for the inner shell
	screen_of sh -c 'echo $$ >"$0/cgroup.procs"; date +%s%N >>"$TIMES"
		tar -C "$1" -cf - . | dd of="$2" iflag=fullblock bs=50k oflag=direct; date +%s%N >>"$TIMES"' \
		"$group" "$tmp/data" "$dir/chain-e2e.$$"
	rm -f "$dir/chain-e2e.$$"
	expect_took "$(told_ms "$TIMES")"
	says "^sh took .* because dd has used up the I/O limit of [^ ]*/${group##*/}\\.\$"
	expect_step $((took * 8 / 10)) "$took" 'dd of=.*'
}

for name; do
	"$name"
done
