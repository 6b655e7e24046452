#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# flamegraph takes each option of flamegraph.pl and inferno that the table in docs/flamegraph.md says
# it takes, and refuses those that it says it does not.
. "$(dirname "$0")/lib.sh"
table=$(cd "$(dirname "$0")/../../docs" && pwd)/flamegraph.md
printf 'main;work 7\nmain;rest 3\n' >"$tmp/in"
cd "$tmp" || exit 1

# A value for an option that takes one.
value() {
	case $1 in
	--width | --height | --total) echo 100 ;;
	--fontsize | --minwidth | --factor) echo 5 ;;
	--fontwidth) echo 0.6 ;;
	--colors | -c) echo "${2:-mem}" ;;
	--bgcolors) echo green ;;
	--search-color | --stroke-color | --uicolor) echo '#123456' ;;
	--base) echo main ;;
	--title | --subtitle | --countname | --nametype | --notes | --fonttype) echo text ;;
	esac
}

# Rows "OPTION VALUE|what is said of it here" of the table, one option a row.
awk -F' *[|] *' '/^## / { on = $0 == "## A drop-in" } on && $2 ~ /^`-/ {
	n = split($2, part, ", ")
	for (i = 1; i <= n; i++)
		if (part[i] ~ /^`-/) {
			gsub("`", "", part[i])
			print part[i] "|" $5
		}
}' "$table" >rows
[ "$(wc -l <rows)" -gt 40 ] || fail "the table in docs/flamegraph.md has $(wc -l <rows) options"
while IFS='|' read -r option here; do
	name=${option%% *}
	value=$(value "$name" "$(echo "$option" | awk '{ print $2 }')")
	timeout 300 "$flame" "$name" ${value:+"$value"} in >out 2>err </dev/null
	status=$?
	case $here in
	no:*)
		[ "$name" = -v ] || expect_exit "flamegraph $option, which the table says is not taken" 2 $status
		;;
	*)
		expect_exit "flamegraph $option" 0 $status
		case $name in --help | -h) continue ;; esac
		grep -q '<svg' out || fail "flamegraph $option draws nothing"
		[ ! -s err ] || [ "$name" = --total ] || fail "flamegraph $option says: $(cat err)"
		;;
	esac
done <rows
