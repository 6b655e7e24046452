#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A file with several names: each process shows its functions by the name by which it was run, whether that is a
# symbolic link or a hard one, beside the file or elsewhere, cut in the thread's name or a script's interpreter; and
# never by a name that does not lead to the file, whatever the process says of itself.
# Beside another: it looks at names of its own programs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../names.sh"
needs_bpf
command -v bash >/dev/null || skip "no bash, for exec -a"

a_program really_called
strip "$tmp/really_called"
mkdir "$tmp/bin"
ln "$tmp/really_called" "$tmp/by_hard_link"
ln -s really_called "$tmp/by_link"
ln -s by_link "$tmp/by_two_links"
ln -s ../really_called "$tmp/bin/elsewhere"
ln -s really_called "$tmp/with_a_long_long_name"
a_program another
# A script has its own name; its interpreter is run by what the first line says.
cp -L "$(command -v dash || command -v sh)" "$tmp/really_a_shell"
ln -s ../really_a_shell "$tmp/bin/a_shell"
printf '#!%s\nread line\nread line\n' "$tmp/bin/a_shell" >"$tmp/a_script"
chmod +x "$tmp/a_script"

: >"$tmp/programs"
# program NAME COMMAND...: whose functions are to have that name
program() {
	expected=$1
	shift
	echo "($*) & echo $expected \$!" >>"$tmp/programs"
}
waits='wait 150 4000'
program really_called exec "$tmp/really_called" $waits
program by_hard_link exec "$tmp/by_hard_link" $waits
program by_link exec "$tmp/by_link" $waits
program by_two_links exec "$tmp/by_two_links" $waits
program elsewhere exec "$tmp/bin/elsewhere" $waits
program with_a_long_long_name exec "$tmp/with_a_long_long_name" $waits
program by_link exec bash -c "'exec -a $tmp/another $tmp/by_link $waits'"
program with_a_long_long_name exec bash -c "'exec -a $tmp/another $tmp/with_a_long_long_name $waits'"
program a_shell "exec $tmp/a_script <$tmp/lines"
mkfifo "$tmp/lines"
echo "{ sleep 0.2; echo; sleep 0.2; echo; } >$tmp/lines; wait" >>"$tmp/programs"
# One that runs already.
"$tmp/by_link" wait 1000 4000 &
started="$started $!"
running=$!
record_programs "$cap" -F 0 -o "$tmp/trace" -- sh "$tmp/programs"

# names_of TID: what its functions without a symbol are named by
names_of() {
	timeout 300 "$walk" -q -t "$1" "$tmp/trace" 2>"$tmp/err" >"$tmp/folded"
	grep -v '^sh;' "$tmp/folded" | cut -d ';' -f 2- | sed 's/;-;.*//' | grep -o '\[[^];]*+0x' | sed 's/^.//; s/+0x$//' |
		grep -vE '^(ld-|lib|bash)' | sort -u | tr '\n' ' '
}
echo "by_link $running" >>"$tmp/told"
expect "programs" 10 "$(wc -l <"$tmp/told")"
while read -r name tid; do
	expect "functions of $tid, run as $name, in
$(cut -c 1-300 "$tmp/folded" 2>/dev/null | tail -3)
names" "$name " "$(names_of "$tid")"
done <"$tmp/told"

# The file that was run is the one whose build ID the trace has, by which names are found later.
objcopy --only-keep-debug "$names_load" "$tmp/really_called.debug"
for frames in without with; do
	set -- -q -t "$running"
	[ $frames = without ] || set -- "$@" --debug-dir "$tmp"
	timeout 300 "$walk" "$@" "$tmp/trace" 2>"$tmp/err" >"$tmp/$frames"
	expect_exit "chainwalk $*" 0 $?
done
grep -q '\[by_link+0x' "$tmp/without" || fail "nothing to be named: $(head -3 "$tmp/without")"
! grep -q '\[by_link+0x' "$tmp/with" || fail "not named by the debug file: $(grep '\[by_link+0x' "$tmp/with" | head -3)"

# Where redis is installed as Debian does.
[ "$(readlink "$(command -v redis-server)")" = redis-check-rdb ] || exit 0
port=$((20000 + $$ % 20000))
timeout 300 "$cap" -q -o "$tmp/trace" -- timeout 2 redis-server --port $port --save '' >"$tmp/told" 2>"$tmp/err"
timeout 300 "$walk" -q --all "$tmp/trace" 2>"$tmp/err" | grep '^redis-server;' >"$tmp/folded"
grep -q ';\[redis-server+0x' "$tmp/folded" || fail "no function of redis-server:
$(head -3 "$tmp/folded")"
! grep -q 'redis-check-rdb' "$tmp/folded" || fail "functions of redis-check-rdb:
$(grep redis-check-rdb "$tmp/folded" | head -3)"
