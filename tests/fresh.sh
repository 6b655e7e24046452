#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Tries "make test" and "make demo" on a copy of this tree where they were never run: fresh.sh [PLACE...]
#   container     as root without the rights to record, which is what containers give
#   boot          a machine just booted, on which nothing but /proc and /sys is mounted: in qemu, with Debian's kernel
#   debootstrap   a bare Debian below a folder, with nothing but what "make deps deps-test" installs
# Each place has a line of its own in the end; what was said there is in FRESH/PLACE.log. Exits 1 if something failed.
# What it needs itself is installed first (tests/deps.sh fresh): debootstrap, qemu.
#   FRESH   where the Debian and the disk of the guest are made (default /var/tmp/chain-fresh, 10 GB)
#   KEEP=1  keeps them for the next time; else only the logs stay
#   TESTS   picks some tests, as for tests/run.sh. In the guest, which is emulated where there is no KVM, the default
#           are those that use what a boot leaves undone: tracefs, other recorders, block devices, control groups
#   ALL=1   as for tests/run.sh, but not in the guest
#   KVM=1   the guest runs on KVM
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 2
[ "$(id -u)" = 0 ] || { echo "fresh: needs root" >&2; exit 2; }
. tests/package/debian.sh
own_mounts tests/fresh.sh "$@"
fresh=$(mkdir -p "${FRESH:-/var/tmp/chain-fresh}" && cd "${FRESH:-/var/tmp/chain-fresh}" && pwd) || exit 2
debian=$fresh/debian
tmp=$(mktemp -d /var/tmp/chain-fresh-tree.XXXXXX) || exit 2
# What is mounted below $debian is so in this mount namespace only. The devices are this machine's own.
clean_up() {
	rm -rf --one-file-system "$debian/src" "$tmp"
	[ -z "${KEEP:-}" ] || return
	for folder in proc sys dev; do
		umount -R "$debian/$folder" 2>/dev/null
	done
	umount "$debian" 2>/dev/null
	! grep -qF " $debian" /proc/self/mounts || { echo "fresh: $debian stays: something is mounted there" >&2; return; }
	rm -rf --one-file-system "$debian" "$debian.made" "$fresh/disk" "$fresh/disk.packages" "$fresh/kernel" "$fresh/initrd"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
all_ok=yes
limit=3600

# say PLACE: its line, from what make said in $fresh/PLACE.log.
say() {
	failed=$(sed -n 's/^failed: *//p' "$fresh/$1.log" | tr '\n' ' ')
	sums=$(grep -E '^[0-9]+ passed, ' "$fresh/$1.log" | tail -n 1)
	demo='the demo fails'
	! grep -q '^Pictures, for a browser' "$fresh/$1.log" || demo='the demo draws'
	[ "$sums" ] && [ -z "$failed" ] && [ "$demo" = 'the demo draws' ] || all_ok=''
	[ "$sums" ] || tail -n 5 "$fresh/$1.log"
	echo "fresh: $1: $2: ${sums:-no tests}${failed:+: $failed}; $demo"
}

# What is run everywhere, in the top folder of a copy.
steps='make test; make demo'

in_container() {
	copy_sources "$tmp/container"
	(
		cd "$tmp/container" || exit 1
		unset MAKEFLAGS MFLAGS MAKELEVEL
		# What container runtimes leave to root.
		setpriv --bounding-set=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap \
			sh -c "$steps"
	) >"$fresh/container.log" 2>&1 </dev/null
	say container "$(uname -r)"
}

# has_debian: makes sure of $debian with the packages that the tree asks for.
has_debian() {
	if [ ! -e "$debian.made" ]; then
		rm -rf --one-file-system "$debian"
		make_debian "$debian" || return 1
	fi
	copy_sources "$debian/src"
	mountpoint -q "$debian/proc" || mount_debian "$debian" || return 1
	inside_debian "$debian" sh -c 'cd /src && apt-get -q update && sh tests/deps.sh build && make deps deps-test &&
		update-alternatives --set awk /usr/bin/mawk' \
		>"$fresh/packages.log" 2>&1 || { tail -n 5 "$fresh/packages.log" >&2; return 1; }
	: >"$debian.made"
}

in_debootstrap() {
	has_debian || { all_ok=''; echo "fresh: debootstrap: it cannot be made"; return; }
	inside_debian "$debian" sh -c "cd /src && export TESTS='${TESTS:-}' ALL='${ALL:-}'; $steps" >"$fresh/debootstrap.log" 2>&1 </dev/null
	say debootstrap "$(inside_debian "$debian" sh -c '. /etc/os-release; echo "$PRETTY_NAME"') on $(uname -r)"
}

# has_disk: makes sure of the guest's disk, kernel and initrd: the Debian as it is, and the distribution's kernel.
has_disk() {
	has_debian || return 1
	# What is kept has the packages of its time.
	inside_debian "$debian" dpkg-query -W >"$tmp/packages" || return 1
	[ ! -s "$fresh/disk" ] || ! cmp -s "$tmp/packages" "$fresh/disk.packages" || return 0
	cp -a --one-file-system "$debian" "$tmp/guest" && rm -rf "$tmp/guest/src" &&
		inside_debian "$tmp/guest" apt-get -q install -y --no-install-recommends linux-image-amd64 initramfs-tools \
			>"$fresh/packages.log" 2>&1 || { tail -n 5 "$fresh/packages.log" >&2; return 1; }
	cp "$tmp"/guest/boot/vmlinuz-* "$fresh/kernel" && cp "$tmp"/guest/boot/initrd.img-* "$fresh/initrd"
	cat >"$tmp/guest/init" <<-'END_INIT'
		#!/bin/sh
		# The first process: no more than a shell has when it is all that was booted.
		mountpoint -q /proc || mount -t proc proc /proc
		mountpoint -q /sys || mount -t sysfs sysfs /sys
		mkdir -p /dev/shm /dev/pts && mount -t tmpfs tmpfs /dev/shm
		mountpoint -q /dev/pts || mount -t devpts devpts /dev/pts
		ip link set lo up 2>/dev/null
		exec </dev/null >/dev/ttyS0 2>&1
		export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
		mkdir -p /src && tar -x -C /src -f /dev/vdb && cd /src && sh steps
		echo "guest: kernel $(uname -r)"
		echo o >/proc/sysrq-trigger
		sleep 60
	END_INIT
	chmod 755 "$tmp/guest/init"
	truncate -s 12G "$tmp/disk" && mke2fs -q -t ext4 -d "$tmp/guest" "$tmp/disk" && mv "$tmp/disk" "$fresh/disk" &&
		mv "$tmp/packages" "$fresh/disk.packages"
	status=$?
	rm -rf "$tmp/guest"
	return $status
}

in_boot() {
	command -v qemu-system-x86_64 >/dev/null || { all_ok=''; echo "fresh: boot: no qemu-system-x86_64"; return; }
	has_disk || { all_ok=''; echo "fresh: boot: the guest cannot be made"; return; }
	accel="tcg,thread=single -cpu max" # see kernels/run.sh
	[ -z "${KVM:-}" ] || accel="kvm -cpu host"
	# These compare short times with what another recorder measures, which takes long itself where it is emulated.
	timed='who_ran interrupts import_relay'
	[ -z "${KVM:-}" ] && [ -z "${TESTS:-}" ] && echo "fresh: boot: not judged in an emulated machine: $timed" || timed=
	tests=${TESTS:-$(grep -lE '^can_compare|if can_compare|make_loop|make_quota|serve_deaf' tests/e2e/*.sh |
		sed 's/.*\///; s/[.]sh$//' | grep -vx lib | { for name in $timed; do echo "$name"; done; cat; } |
		sort | uniq -u | tr '\n' ' ')}
	# It is built here, by the guest's own compiler, as that takes an hour in an emulated machine.
	inside_debian "$debian" make -s -j"$(nproc)" -C /src WERROR=1 all unit >"$fresh/boot.log" 2>&1
	echo "export TESTS='$tests'; $steps" >"$debian/src/steps"
	tar -c -C "$debian/src" -f "$tmp/tree" .
	# shellcheck disable=SC2086 # options
	timeout "$limit" qemu-system-x86_64 -accel $accel -smp 2 -m 3G -nodefaults -no-user-config -display none -no-reboot \
		-serial "file:$tmp/console" -kernel "$fresh/kernel" -initrd "$fresh/initrd" \
		-drive "file=$fresh/disk,format=raw,if=virtio,snapshot=on" -drive "file=$tmp/tree,format=raw,if=virtio,readonly=on" \
		-append "root=/dev/vda rw console=ttyS0 quiet panic=-1 no_timer_check init=/init" </dev/null >>"$fresh/boot.log" 2>&1
	tr -d '\r' <"$tmp/console" >>"$fresh/boot.log"
	say boot "$(sed -n 's/^guest: //p' "$fresh/boot.log" | tail -n 1)"
}

[ $# -gt 0 ] || set -- container boot debootstrap
case " $* " in
*' boot '* | *' debootstrap '*) sh tests/deps.sh fresh || exit 2 ;;
esac
for place; do
	case $place in
	container | boot | debootstrap) "in_$place" ;;
	*) echo "fresh: no such place: $place" >&2; exit 2 ;;
	esac
done
[ "$all_ok" ]
