# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A script that starts a program for each number that it adds up.
service_start() { ! lacks expr || return 77; }
service_load() {
	# shellcheck disable=SC2016 # for the script
	cat >"$dir/sum" <<-END
		n=0
		while [ \$n -lt $((400 * $1)) ]; do
			$([ "$service_healthy" ] && echo 'n=$((n + 1))' || echo 'n=$(expr $n + 1)')
		done
	END
	service_until_done sh "$dir/sum" >"$dir/figures"
}
