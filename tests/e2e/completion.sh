#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The completions of bash and zsh offer exactly the options that the programs have, and the values that
# --help and the manual name. Who adds an option and forgets them is told here.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

# options: all words of standard input that are options, one a line. -- alone is none.
options() {
	grep -oE '(^|[^[:alnum:]_.-])--?[a-zA-Z][a-z-]*' | grep -oE -- '--?[a-zA-Z][a-z-]*$' |
		grep -E -- '^(--[a-z-]+|-[a-zA-Z])$' | sort -u
}

# complete_line WORD...: what bash offers for the last word.
complete_line() {
	bash --norc -c '
		. "docs/completions/$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		"_$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"
	' bash "$@" | sort -u
}

# check PROGRAM BUILT_PROGRAM MANUAL
check() {
	name=$1 program=$2 manual=$3
	function=$name
	export function
	"$program" --help >"$tmp/help" || fail "$name --help"
	sed '/^Examples:/,$d' "$tmp/help" | options >"$tmp/in_help"
	# Of the manual's section on options the lines that name one.
	sed -n '/^\.SH OPTIONS/,/^\.SH \(OUTPUT\|READING\|IN THE\)/p' "$manual" | sed 's/\\-/-/g; s/\\f[A-Z]//g' |
		grep -A 1 '^\.TP' | grep -v '^\.TP\|^--$' | options >"$tmp/in_manual"
	{
		complete_line "$name" "$name" --
		complete_line "$name" "$name" - | grep -E '^-[a-zA-Z]$'
	} 2>/dev/null | grep -vx -- -- | sort -u >"$tmp/in_bash"
	grep -oE "^	'[^[]*(\{[^}]*\})?" "docs/completions/_$name" | sed 's/([^)]*)//g' | options >"$tmp/in_zsh"

	expect_at_least "$name: options in --help" 10 "$(wc -l <"$tmp/in_help")" "$tmp/in_help"
	expect "$name: options of --help that bash does not offer (docs/completions/$name)" "" \
		"$(comm -23 "$tmp/in_help" "$tmp/in_bash")"
	expect "$name: options of the manual that bash does not offer (docs/completions/$name)" "" \
		"$(comm -23 "$tmp/in_manual" "$tmp/in_bash")"
	expect "$name: options that bash offers and the manual does not have" "" \
		"$(comm -13 "$tmp/in_manual" "$tmp/in_bash")"
	expect "$name: options of zsh (docs/completions/_$name)" "$(cat "$tmp/in_bash")" "$(cat "$tmp/in_zsh")"

	# Each one is known to the program. An option that is not known ends it before it does anything: one for
	# the option to take as its argument, one behind that.
	while read -r option; do
		set -- "$option" --none-such --none-such
		wanted=2
		case $option in -h | --help | -V | --version | --json-schema) set -- "$option"; wanted=0 ;; esac
		(cd "$tmp" && timeout 300 "$program" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null)
		expect_exit "$name $*" $wanted $?
		bare=${option#"${option%%[!-]*}"}
		! grep -qE -- "(unrecognized|invalid|no) option (-- )?'?(--?)?$bare'?( |\$)" "$tmp/err" ||
			fail "$name offers $option, and then says: $(cat "$tmp/err")"
	done <"$tmp/in_bash"
}
check chaincap "$cap" docs/chaincap.1
check chainwalk "$walk" docs/chainwalk.1
check chaingraph "$flame" docs/flamegraph.1

# Values: one by one, each that --help lists is offered, and each that is offered is taken.
function=chainwalk
export function
formats=$("$walk" --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\).*/\1/p' | sort -u)
expect_at_least "formats in chainwalk --help" 8 "$(echo "$formats" | wc -l)"
for spelled in "-f " "--format " "--format = "; do
	# shellcheck disable=SC2086 # the words of a command line
	expect "formats offered after $spelled" "$formats" "$(complete_line chainwalk chainwalk $spelled "")"
done
expect "the same in zsh" "$formats" \
	"$(sed -n 's/.*--format=.*:format:(\(.*\)).*/\1/p' docs/completions/_chainwalk | tr ' ' '\n' | sort -u)"
expect "a word begun" "hist" "$(complete_line chainwalk chainwalk --format hi)"
expect "the second of a list" "blocked,runnable" "$(complete_line chainwalk chainwalk --state blocked,runna)"
for mode in $(complete_line chainwalk chainwalk --mode ""); do
	"$walk" --mode "$mode" --help >/dev/null || fail "chainwalk --mode $mode"
done

function=chaingraph
printf 'a;b 1\n' >"$tmp/folded"
for option in --colors --bgcolors --labels; do
	values=$(complete_line chaingraph chaingraph "$option" "")
	[ "$values" ] || fail "no values for $option"
	for value in $values; do
		"$flame" "$option" "$value" "$tmp/folded" >"$tmp/out" 2>"$tmp/err"
		expect_exit "flamegraph $option $value" 0 $?
	done
done
expect "palettes that bash offers, and --help lists" \
	"$("$flame" --help | sed -n '/^Palettes:/,/^(/p' | sed 's/^Palettes://; /^(/d' | tr ' ' '\n' | grep . | sort)" \
	"$(complete_line chaingraph chaingraph --colors "")"

# Files, and commands after --.
function=chaincap
(
	cd "$tmp" && mkdir docs && ln -s "$OLDPWD/docs/completions" docs/completions && : >"some trace.bin"
	expect "a file" "some trace.bin" "$(complete_line chaincap chaincap -o some)"
	function=chainwalk
	expect "a trace" "some trace.bin" "$(complete_line chainwalk chainwalk -q some)"
) || exit 1
expect "a command" "true" "$(complete_line chaincap chaincap -o x -- tru | grep -x true)"
