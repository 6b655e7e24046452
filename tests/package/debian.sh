# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# A fresh Debian below a folder, for the scripts that try the project there; to be sourced by who is root. Each fails
# with the reason on standard error.
#
#   own_mounts "$0" "$@"   first of all: this script again in a mount namespace of its own, so that nothing stays
#                          mounted however it ends
#   make_debian ROOT       with debootstrap, from where this machine's apt has its packages from
#                          SUITE   of Debian (default: this machine's)
#   mount_debian ROOT      what programs want to have: a /proc, a /sys in which nothing is mounted, the devices, and a root
#                          that is mounted, without which nobody there can make a mount namespace
#   inside_debian ROOT COMMAND...  runs it there, with nothing of this environment, for $limit seconds at most
#   copy_sources FOLDER    of this tree as it stands, from its top
limit=300

own_mounts() {
	[ "${OWN_MOUNTS:-}" ] || OWN_MOUNTS=1 exec unshare -m sh "$@"
}

make_debian() {
	command -v debootstrap >/dev/null || { echo "no debootstrap here: apt-get install debootstrap" >&2; return 1; }
	suite=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")}
	source=$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' "Codename: $suite" 2>/dev/null | head -n 1)
	# shellcheck disable=SC2086 # debootstrap knows a source itself
	timeout 900 debootstrap --variant=minbase "$suite" "$1" $source >"$1.log" 2>&1 || {
		tail -n 5 "$1.log" >&2
		echo "debootstrap $suite did not come through (no network?)" >&2
		return 1
	}
	rm -f "$1.log"
	cp /etc/resolv.conf /etc/hosts "$1/etc/"
}

mount_debian() {
	mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" && mount --rbind /dev "$1/dev"
}

inside_debian() {
	root=$1
	shift
	timeout "$limit" chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

copy_sources() {
	mkdir -p "$1"
	tar -c --exclude=node_modules --exclude='build*/*' .ci Makefile ./*.mk ./*.md COPYING .clang-format \
		bench bpf collector docs engine include render tests | tar -x -C "$1"
}
