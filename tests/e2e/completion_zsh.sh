#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a real zsh, on a terminal of its own, Tab completes options, values and the name flamegraph.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
command -v zsh >/dev/null || skip "no zsh here"

# zsh_completes LINE: the line after Tab. The shell runs on a pseudo terminal of zsh's own module.
zsh_completes() {
	timeout 300 zsh -f -c '
		zmodload zsh/zpty || exit 3
		zpty shell zsh -f -i
		zpty -w shell "PS1=; unsetopt zle_bracketed_paste beep; fpath=($PWD/docs/completions \$fpath)"
		zpty -w shell "autoload -Uz compinit; compinit -u -d $2/dump"
		zpty -w shell "show() { print -r -- \"<<\$BUFFER>>\"; BUFFER=; zle accept-line }; zle -N show; bindkey ^X show"
		zpty -w shell "echo ready-\$((40 + 2))"
		zpty -r -m shell seen "*ready-42*" || exit 4
		zpty -n -w shell "$1"$'"'\\t\\C-x'"'
		zpty -r -m shell seen "*<<*>>*" || exit 5
		seen=${seen##*<<}
		print -r -- "${seen%%>>*}"
		zpty -d shell
	' zsh "$1" "$tmp"
}

while IFS='|' read -r line expected; do
	got=$(zsh_completes "$line") || fail "zsh gave up on: $line (exit $?)"
	expect "$line<Tab>" "$expected" "${got% }"
done <<EOF
chainwalk --blocked-s|chainwalk --blocked-stacks
chainwalk --format=thr|chainwalk --format=threads
chainwalk -f jso|chainwalk -f json
chaincap --ver|chaincap --ver
chaincap --verb|chaincap --verbose
flamegraph --colors=wak|flamegraph --colors=wakeup
chaingraph --flamec|chaingraph --flamechart
EOF
for file in docs/completions/_*; do
	zsh -n "$file" || fail "$file does not parse"
done
