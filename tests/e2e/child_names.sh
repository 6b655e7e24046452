#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A child that is waited for has its name beside its id; in a PID namespace of its own, where that id is
# another process than on the machine, the id alone. A thread that is joined has its name.
# Beside another: its children have a name that no other program has.
. "$(dirname "$0")/lib.sh"
needs_bpf
cp "$(command -v sleep)" "$tmp/dawdler"
# waited_for COMMAND...: what dash waits for by id.
waited_for() {
	timeout 300 "$cap" -q -o "$tmp/trace" -- "$@" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- $*" 0 $?
	"$walk" -q --objects --depth 0 "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
	expect_exit "chainwalk --objects" 0 $?
	grep -o '\[child [^]]*\]' "$tmp/folded" | sort -u | tr '\n' ' '
}
# A program that waits for one child by its id.
cat >"$tmp/parent" <<END
#!/bin/sh
"$tmp/dawdler" 0.3 &
echo \$! >"$tmp/pid"
exec "\$0-waits" \$!
END
cat >"$tmp/waits.c" <<'END'
#include <stdlib.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
	return argc > 1 && waitpid(atoi(argv[1]), NULL, 0) > 0 ? 0 : 1;
}
END
chmod 755 "$tmp/parent"
command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
${CC:-cc} -o "$tmp/parent-waits" "$tmp/waits.c" 2>"$tmp/err" || fail "waits.c: $(cat "$tmp/err")"
children=$(waited_for "$tmp/parent")
expect "child, as it is shown" "[child dawdler/$(cat "$tmp/pid")] " "$children"

cat >"$tmp/joins.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static void *dawdle(void *unused)
{
	pthread_setname_np(pthread_self(), "loiterer");
	usleep(300000);
	return unused;
}
int main(void)
{
	pthread_t thread;
	return pthread_create(&thread, NULL, dawdle, NULL) || pthread_join(thread, NULL);
}
END
${CC:-cc} -O2 -pthread -o "$tmp/joins" "$tmp/joins.c" 2>"$tmp/err" || fail "joins.c: $(head -5 "$tmp/err")"
# What code of a program that is seen first does is known from its second run on (see record in lib.sh).
timeout 300 "$cap" -q -o "$tmp/trace" -- sh -c '"$0"; "$0"; "$0"' "$tmp/joins" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- joins" 0 $?
"$walk" -q -f tree -c '^joins$' "$tmp/trace" >"$tmp/tree" 2>"$tmp/err"
expect_at_least "waits for the thread" 1 "$(grep -c ' for thread loiterer/[0-9]*' "$tmp/tree")" "$tmp/tree"
unshare --pid --fork true 2>/dev/null || { echo "note: no PID namespace can be made here"; exit 0; }
children=$(waited_for unshare --pid --fork "$tmp/parent")
case "$children" in
*"[child $(cat "$tmp/pid")] "*) ;;
*) fail "child $(cat "$tmp/pid") of a PID namespace is shown as $children" ;;
esac
