#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots the distribution's kernels under qemu, by software emulation, with the programs of the build
# folder $1 in an initramfs, and runs there the tests in guest/ and some of ../e2e: run.sh BUILD_DIR
#   KERNELS   meta packages of the kernels (default below), with @SUITE those of another release
#   KERNEL_IMAGE  instead of these the file of a kernel that somebody has built, with all modules in it, for
#             KERNEL_ARCH: amd64, arm64 (default: this machine's)
#   GUEST     paths of the tests below tests/ (default below)
#   CPUS      how many CPUs the guest has (default: 2); from 9 on it has 4 GiB of memory
#   POSSIBLE  how many CPUs it can have (default: those)
#   TOOLS     programs of this machine that are there, too, with 2 GiB of memory (of its own architecture only)
#   STATIC=1  chaincap, chainwalk and flamegraph are those of "make static"
#   BOOT_SECONDS, TEST_SECONDS  how long a guest may take for all, and for a test (defaults below)
# Needs no root. What cannot be had is skipped by name, with the reason. Nothing is installed:
# packages are fetched into $1/kernels, and of each only the kernel image and some modules are kept there. For another
# architecture than this machine's, a folder with its libraries is made there too (sysroot.sh), and the
# programs are built for it into $1/kernels/build-ARCH, which is all that is done without qemu.
set -u
O=$(cd "$1" && pwd) || exit 2
built=${KERNEL_IMAGE:+$(realpath -m "$KERNEL_IMAGE")}
cd "$(dirname "$0")/.." || exit 2
LC_ALL=C
export LC_ALL
kernels=${KERNELS:-linux-image-amd64 linux-image-6.12-amd64 linux-image-amd64@bullseye linux-image-arm64}
[ ! "$built" ] || kernels=built-${KERNEL_ARCH:-$(dpkg --print-architecture)}
guest=${GUEST:-kernels/guest/units.sh kernels/guest/relay.sh kernels/guest/pid_namespace.sh kernels/guest/verify.sh kernels/guest/hotplug.sh kernels/guest/start.sh
	kernels/guest/lacking.sh kernels/guest/disk.sh kernels/guest/network.sh kernels/guest/samples.sh kernels/guest/probes.sh e2e/objects.sh
	e2e/losses_counted.sh e2e/context_interrupt.sh e2e/context_softirq.sh e2e/never_woken.sh e2e/deadlock.sh e2e/max_stack.sh}
modules="configfs null_blk e1000" # what these need of what kernels have as modules, in this order
boot_seconds=${BOOT_SECONDS:-900} test_seconds=${TEST_SECONDS:-240}
tools=${TOOLS:-}
cpus=${CPUS:-2} memory=${tools:+2G}
memory=${memory:-1G}
[ "$cpus" -le 8 ] || memory=4G
# shellcheck source=tests/kernels/qemu.sh
. kernels/qemu.sh

# walked_alike COUNT: walks that many traces of the guest here, where its kernel and its processes are
# not, and compares with what the guest itself made of them.
walked_alike() {
	what_it_left it
	n=0
	for trace in "$tmp/out"/*.bin; do
		[ -s "$trace" ] || continue
		n=$((n + 1))
		"$O/chainwalk" -q --unit=ns "$trace" | cmp - "${trace%.bin}.folded" || return 1
	done
	[ $n -eq "$1" ] || { echo "expected $1 traces from the guest, got $n"; return 1; }
	[ $n -eq 0 ] || echo "  ok   walked here with the same result: $n traces"
}

# find_built: sets what find_kernel does, for KERNEL_IMAGE.
find_built() {
	vmlinuz=$built package=$built why="no such file: $built"
	[ -s "$built" ]
}

for k in $kernels; do
	architecture "$k"
	build || { skip "$k" "$(echo "$why" | head -n 1)"; continue; }
	command -v "${qemu_command%% *}" >/dev/null || { skip "$k" "no ${qemu_command%% *}"; continue; }
	[ -e "$tmp/initramfs-$arch" ] || initramfs || exit 2
	if [ "$built" ]; then find_built; else find_kernel "$k"; fi || { skip "$k" "$(echo "$why" | head -n 1)"; continue; }
	echo "$package:"
	begin=$(date +%s)
	# The guest's only network is one TCP port, where each line is answered by a process here, after 100 ms.
	start_guest it "$vmlinuz" -netdev "user,id=net,restrict=on,guestfwd=tcp:10.0.2.9:7-cmd:sh $PWD/kernels/answer.sh" \
		-device e1000,netdev=net,romfile=
	wait $!
	status=$?
	guests=
	took=$(($(date +%s) - begin))
	traces=0
	case $guest in *kernels/guest/relay.sh*) traces=5 ;; esac
	if guest_passed it && walked_alike $traces; then
		passed=$((passed + 1))
		echo "ok   kernel $package ($took s)"
	else
		failed=$((failed + 1))
		guest_failed it
		echo "FAIL kernel $package (qemu's exit $status, $took s)"
	fi
done
sums
