# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# To be sourced by what records, when its clean_up() is defined: that is called in the end, also when the
# script is interrupted. And rotated, for recorders that are measured in turn.
trap clean_up EXIT
trap 'exit 130' INT TERM
if [ "$(id -u)" != 0 ]; then
	echo "bench: needs root" >&2
	exit 1
fi

# rotated BY WORD...: the words in the same order, but beginning BY words later.
rotated() {
	local by=$(($1 % ($# - 1)))
	shift
	echo "${@:by + 1}" "${@:1:by}"
}
