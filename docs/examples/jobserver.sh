#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# "make -j2" keeps both CPUs idle for most of a build.
. "$(dirname "$0")/lib.sh"
needs make make
needs flock util-linux
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Two packages download their sources, one file at a time because of the cache's lock (a pause stands for
# the slow server), and the program is compiled (sha256sum stands for the compiler), all by sub-makes.
fetch() {
	printf '#!/bin/sh\nsleep 0.3\n' >"$1/download"
	chmod 755 "$1/download"
	for package in $2; do
		mkdir "$1/$package"
		printf '%s\n' '.PHONY: all' 'all: a.tar b.tar c.tar' '%.tar:' '	@flock ../cache.lock ../download $@' \
			>"$1/$package/Makefile"
	done
	mkdir "$1/program"
	printf '%s\n' '.PHONY: all' 'all: one.o two.o three.o four.o' '%.o:' '	@date +%s%N >>../begun' \
		'	@head -c 20000000 /dev/zero | sha256sum >$@' >"$1/program/Makefile"
}
# As somebody wrote it: everything may run at once.
mkdir "$tmp/project" "$tmp/cured"
fetch "$tmp/project" "zlib curl"
printf '%s\n' 'all: zlib curl program' 'zlib curl program:' '	@$(MAKE) -s -C $@' \
	'.PHONY: all zlib curl program' >"$tmp/project/Makefile"
# The cure: what cannot run at once does not ask for two slots.
fetch "$tmp/cured" "zlib curl"
printf '%s\n' 'all: packages program' 'packages:' '	@$(MAKE) -s -j1 -C zlib && $(MAKE) -s -j1 -C curl' 'program:' \
	'	@$(MAKE) -s -C $@' '.PHONY: all packages program' >"$tmp/cured/Makefile"

# begins FOLDER: builds there, and prints after how many seconds the first compiler was started.
begins() {
	start=$(date +%s%N)
	timeout 60 make -s -j2 -C "$1" >"$tmp/make.out" 2>&1 || fail "make: $(cat "$tmp/make.out")"
	head -n 1 "$1/begun" | awk -v start="$start" '{ printf "%.2f\n", ($1 - start) / 1e9 }'
}

title "The symptom"
cp -R "$tmp/project" "$tmp/again"
cd "$tmp/project" || exit 1
# The shell becomes make: its process id is that of the make on top.
printf '#!/bin/sh\necho $$ >make.pid\nexec make -s -j2\n' >build.sh
printf '\n$ make -s -j2\n'
timeout 60 chaincap -o "$out/trace.bin" -- sh build.sh 2>"$tmp/err" || { cat "$tmp/err"; fail "not recorded"; }
grep '^chaincap:' "$tmp/err"
tid=$(cat make.pid)
cd "$out" || exit 1
before=$(begins "$tmp/again")
echo "The first compiler is started after $before s."

title "Off-CPU, off-wake, chain: the same wait"
show chainwalk -f tree -t "$tid" --top 1 --depth 0 trace.bin
show chainwalk -f tree -t "$tid" --top 1 --depth 1 trace.bin
show chainwalk -f tree -t "$tid" --top 1 --depth 8 trace.bin
pictures "make -j2: the make on top" 8 -t "$tid"
chainwalk -q --depth 10 -t "$tid" --within '^do_select$' trace.bin >slot.folded || fail "chainwalk"
grep -v '\[run[a-z]*\] ' slot.folded >asleep.folded
claim "of make's waits for a slot, where nobody worked or wanted a CPU, for a download" 60 \
	"$(share ';download;.*\[timer\]' asleep.folded)"

title "The cure"
cured "seconds until the first compiler starts" "$before" "$(begins "$tmp/cured")" 3
