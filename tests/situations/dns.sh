# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# The first of two name servers does not answer: each look-up waits for a second before it asks the other one.
service_start() {
	! lacks curl python3 unshare || return 77
	unshare -m true 2>/dev/null || { server_lacks='mount namespace (as in a chroot)'; return 77; }
	! grep -q ':0035 ' /proc/net/udp || { server_lacks="free port 53"; return 77; }
	service_run /usr/bin/python3 "$services/dns.py" ${service_healthy:+--healthy} || return 1
	printf 'nameserver 127.0.0.153\nnameserver 127.0.0.154\noptions timeout:1 attempts:2\n' >"$dir/resolv.conf"
}
service_load() {
	service_until_done unshare -m sh -c '
		mount --bind "$0/resolv.conf" /etc/resolv.conf
		end=$(($(date +%s) + $1))
		while [ "$(date +%s)" -lt $end ]; do curl -s http://shop.example:$2/ >/dev/null; done
	' "$dir" "$1" "$service_port" >"$dir/figures" 2>"$dir/client.log"
}
