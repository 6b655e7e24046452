#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots the distribution's kernels under qemu, by software emulation, with the programs of the build
# folder $1 in an initramfs, and runs there the tests in guest/ and some of ../e2e: run.sh BUILD_DIR
#   KERNELS   meta packages of the kernels (default below), with @SUITE those of another release
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
cd "$(dirname "$0")/.." || exit 2
LC_ALL=C
export LC_ALL
kernels=${KERNELS:-linux-image-amd64 linux-image-6.12-amd64 linux-image-amd64@bullseye linux-image-arm64}
guest=${GUEST:-kernels/guest/units.sh kernels/guest/relay.sh kernels/guest/pid_namespace.sh kernels/guest/verify.sh kernels/guest/hotplug.sh kernels/guest/start.sh
	kernels/guest/lacking.sh kernels/guest/disk.sh kernels/guest/network.sh kernels/guest/samples.sh kernels/guest/probes.sh e2e/objects.sh
	e2e/losses_counted.sh e2e/context_interrupt.sh e2e/context_softirq.sh e2e/never_woken.sh e2e/deadlock.sh e2e/max_stack.sh}
modules="configfs null_blk e1000" # what these need of what kernels have as modules, in this order
boot_seconds=${BOOT_SECONDS:-900} test_seconds=${TEST_SECONDS:-240}
tools=${TOOLS:-}
cpus=${CPUS:-2} memory=${tools:+2G}
memory=${memory:-1G}
[ "$cpus" -le 8 ] || memory=4G
store=$O/kernels
passed=0 failed=0 skipped=0 qemu=

skip() {
	echo "SKIP kernel $1: $2"
	skipped=$((skipped + 1))
}

sums() {
	echo "kernels: $passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
	exit
}

# architecture KERNEL: sets $arch, and what goes with it.
architecture() {
	case $1 in
	*-arm64*)
		arch=arm64 cross=aarch64-linux-gnu-
		qemu_command="qemu-system-aarch64 -machine virt -cpu max,pauth-impdef=on -device pci-serial,chardev=out"
		console=ttyAMA0 out=ttyS0
		;;
	*)
		arch=amd64 cross=x86_64-linux-gnu-
		qemu_command="qemu-system-x86_64 -cpu max -device isa-serial,chardev=out"
		console=ttyS0 out=ttyS1
		;;
	esac
	conf='' sysroot='' programs=$O
	[ $arch = "$native" ] || conf=$store/$arch/apt.conf sysroot=$store/$arch/root programs=$store/build-$arch
}

native=$(dpkg --print-architecture 2>/dev/null)
reason=
for tool in apt-get cpio busybox readelf; do
	[ "$reason" ] || command -v $tool >/dev/null || reason="no $tool"
done
if [ "$reason" ]; then
	for k in $kernels; do skip "$k" "$reason"; done
	sums
fi

mkdir -p "$store" && tmp=$(mktemp -d "${TMPDIR:-/tmp}/chain-kernels.XXXXXX") || exit 2
trap '[ -z "$qemu" ] || kill "$qemu" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# other_release SUITE: an apt that knows that release's packages, at the first source of this machine's own;
# nothing of it is installed. Sets $conf.
other_release() {
	release=$store/apt-$1-$arch
	conf=$release/apt.conf
	[ ! -s "$conf" ] || return 0
	source=$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' 2>/dev/null | head -n 1)
	[ "$source" ] || { echo "E: apt-get indextargets names no source of packages" >"$tmp/log"; return 1; }
	mkdir -p "$release/lists/partial" "$release/archives/partial"
	: >"$release/status"
	{
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${source%-security} $1 main"
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${source%-security}-security $1-security main"
	} >"$release/sources.list"
	cat >"$release/new.conf" <<-END_CONF
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
		APT::Sandbox::User "$(id -un)";
		Dir::State "$release";
		Dir::State::status "$release/status";
		Dir::Cache "$release";
		Dir::Etc::sourcelist "$release/sources.list";
		Dir::Etc::sourceparts "-";
	END_CONF
	APT_CONFIG=$release/new.conf timeout 300 apt-get -q update >"$tmp/log" 2>&1 || return 1
	mv "$release/new.conf" "$conf"
}

# package_of META: the package of the very kernel that a meta package stands for.
package_of() {
	APT_CONFIG=$conf apt-cache depends --important "$1" 2>/dev/null |
		sed -n 's/^ *|* *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

# fetch PACKAGE: makes sure of $vmlinuz, the package's kernel image in the store, and of its modules in the folder
# $vmlinuz.modules; else says why not in $why.
fetch() {
	vmlinuz=$store/vmlinuz-${1#linux-image-}
	[ ! -s "$vmlinuz" ] || [ ! -d "$vmlinuz.modules" ] || return 0
	why="no kernel image in $1"
	(cd "$tmp" && APT_CONFIG=$conf timeout 300 apt-get -q -o APT::Sandbox::User="$(id -un)" download "$1") >"$tmp/log" 2>&1 ||
		why=$(grep '^E:' "$tmp/log" || echo "apt-get download $1 took too long")
	rm -rf "$tmp/image" && mkdir -p "$tmp/image/modules"
	# A module that is not in the package is part of the kernel, or its test says that it is not there.
	# shellcheck disable=SC2046 # patterns
	dpkg-deb --fsys-tarfile "$tmp/$1"_*.deb 2>/dev/null | tar -x -C "$tmp/image" --no-same-owner --wildcards \
		'./boot/vmlinuz-*' $(printf '*/%s.ko* ' $modules) 2>/dev/null
	rm -f "$tmp/$1"_*.deb
	for module in $modules; do
		path=$(find "$tmp/image" -path "*/kernel/*" -name "$module.ko*" | head -n 1)
		case $path in
		*.xz) xz -dc "$path" >"$tmp/image/modules/$module.ko" ;;
		?*) mv "$path" "$tmp/image/modules/$module.ko" ;;
		esac
	done
	rm -rf "$vmlinuz.modules" && mv "$tmp/image/modules" "$vmlinuz.modules" &&
		mv "$tmp/image/boot"/vmlinuz-* "$vmlinuz" 2>/dev/null
}

# find_kernel META: sets $package, and $vmlinuz or $why. The lists of packages may be older than the archive.
find_kernel() {
	why="the distribution has no such package (apt-cache depends $1)"
	case $1 in
	*@*)
		other_release "${1#*@}" || { why=$(grep '^E:' "$tmp/log" | head -n 1); return 1; }
		set -- "${1%@*}"
		;;
	esac
	package=$(package_of "$1")
	[ "$package" ] && fetch "$package" && return 0
	# shellcheck disable=SC2015 # not root, or no network: both end it
	[ "$conf$(id -u)" = 0 ] && timeout 300 apt-get -q update >/dev/null 2>&1 || return 1
	package=$(package_of "$1")
	[ "$package" ] && fetch "$package"
}

# build: makes sure of the programs in $programs; else says why not in $why.
build() {
	[ $arch != "$native" ] || return 0
	sh kernels/cross.sh "$store" $arch >"$tmp/log" 2>&1
	case $? in
	0) return 0 ;;
	77) why=$(tail -n 1 "$tmp/log") ;;
	*)
		cat "$tmp/log"
		echo "FAIL build for $arch"
		failed=$((failed + 1))
		why="it cannot be built"
		;;
	esac
	return 1
}

# find_file NAME FOLDER...: its path in the first of these folders that has it, in the guest's architecture.
find_file() {
	name=$1
	shift
	for folder; do
		[ ! -e "$sysroot$folder/$name" ] || { echo "$folder/$name"; return; }
	done
}

# libraries ROOT FILE...: what the programs are linked with, at the same paths.
libraries() {
	root=$1
	shift
	multiarch=${cross%-}
	for l in $(readelf -ld "$@" 2>/dev/null |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p; s/.*interpreter: \/\(.*\)\]$/\1/p' | sort -u); do
		path=$(find_file "$l" '' /lib/$multiarch /usr/lib/$multiarch)
		[ "$path" ] && [ ! -e "$root$path" ] || continue
		mkdir -p "$root${path%/*}"
		cp -L "$sysroot$path" "$root$path"
		(libraries "$root" "$root$path")
	done
}

initramfs() {
	root=$tmp/$arch
	mkdir -p "$root/bin" "$root/build/tests/unit" "$root/tests"
	cp kernels/init.sh "$root/init"
	chmod 755 "$root/init"
	ln -s busybox "$root/bin/sh"
	# Those whose busybox namesakes understand something else by what the tests say to them.
	for tool in busybox bash grep sed timeout dd; do
		cp -L "$sysroot$(find_file $tool /usr/bin /bin)" "$root/bin/$tool"
	done
	cp -L "$sysroot$(find_file mawk /usr/bin)" "$root/bin/awk"
	for tool in $tools; do
		[ $arch != "$native" ] || cp -L "$(command -v "$tool")" "$root/bin" || return 1
	done
	for program in chaincap chainwalk flamegraph chainload chainload-nofp classes may_record; do
		cp "$programs/$program" "$root/build"
	done
	[ -z "${STATIC:-}" ] || cp "$programs/static/"* "$root/build" || return 1
	for test in kernel_stack_slots kernel_forgetting kallsyms_changes unwind_sleeping_threads unwind_stacks; do
		cp "$programs/tests/unit/$test" "$root/build/tests/unit"
	done
	libraries "$root" "$root"/bin/* "$root"/build/* "$root"/build/tests/unit/*
	cp -R e2e kernels "$root/tests"
	for t in $guest; do echo "/tests/$t"; done >"$root/tests/list"
	archive "$root" >"$tmp/initramfs-$arch"
}

archive() {
	(cd "$1" && find . | cpio -o -H newc -R 0:0 --quiet)
}

# boot IMAGE: the console goes to $tmp/console, the second serial line to $tmp/out64. The guest's only network is
# one TCP port, where each line is answered by a process here, after 100 ms.
boot() {
	rm -rf "$tmp/more" && mkdir "$tmp/more"
	cp -R "$1.modules" "$tmp/more/modules"
	{ cat "$tmp/initramfs-$arch" && archive "$tmp/more"; } >"$tmp/initramfs"
	# One CPU of the guest at a time: with a thread for each, qemu 7.2 can go on for ever running a
	# breakpoint that the kernel has long patched away again, which it does at each attaching.
	# shellcheck disable=SC2086 # a list
	timeout -k 10 $boot_seconds $qemu_command -accel tcg,thread=single ${ICOUNT:+-icount $ICOUNT} -smp "$cpus" -m "$memory" \
		-nodefaults -no-user-config -display none -no-reboot \
		-serial "file:$tmp/console" -chardev "file,id=out,path=$tmp/out64" \
		-kernel "$1" -initrd "$tmp/initramfs" \
		-netdev "user,id=net,restrict=on,guestfwd=tcp:10.0.2.9:7-cmd:sh $PWD/kernels/answer.sh" \
		-device e1000,netdev=net,romfile= \
		-append "console=$console out=$out seconds=$test_seconds modules=$(echo $modules | tr " " ,) quiet panic=-1 no_timer_check rdinit=/init ${only:+only=$only} ${POSSIBLE:+possible_cpus=$POSSIBLE}" </dev/null >"$tmp/qemu" 2>&1 &
	qemu=$!
	wait $qemu
	status=$?
	qemu=
	return $status
}

# only_test_of META: the test for a kernel on which no other one can pass.
only_test_of() {
	case $1 in linux-image-amd64@bullseye) echo kernels/guest/refused.sh ;; esac
}

# walked_alike COUNT: walks that many traces of the guest here, where its kernel and its processes are
# not, and compares with what the guest itself made of them.
walked_alike() {
	mkdir -p "$tmp/out" && rm -f "$tmp/out"/*
	base64 -d "$tmp/out64" 2>/dev/null | tar -xzf - -C "$tmp/out" 2>/dev/null
	n=0
	for trace in "$tmp/out"/*.bin; do
		[ -s "$trace" ] || continue
		n=$((n + 1))
		"$O/chainwalk" -q --unit=ns "$trace" | cmp - "${trace%.bin}.folded" || return 1
	done
	[ $n -eq "$1" ] || { echo "expected $1 traces from the guest, got $n"; return 1; }
	[ $n -eq 0 ] || echo "  ok   walked here with the same result: $n traces"
}

for k in $kernels; do
	architecture "$k"
	build || { skip "$k" "$(echo "$why" | head -n 1)"; continue; }
	command -v "${qemu_command%% *}" >/dev/null || { skip "$k" "no ${qemu_command%% *}"; continue; }
	[ -e "$tmp/initramfs-$arch" ] || initramfs || exit 2
	find_kernel "$k" || { skip "$k" "$(echo "$why" | head -n 1)"; continue; }
	echo "$package:"
	only=$(only_test_of "$k")
	begin=$(date +%s)
	rm -f "$tmp/console" "$tmp/out64"
	boot "$vmlinuz"
	status=$?
	took=$(($(date +%s) - begin))
	tr -d '\r' <"$tmp/console" >"$tmp/said"
	sed -n '/^guest: kernel/,$p' "$tmp/said" | sed '/^guest: exit/,$d; s/^/  /'
	traces=0
	case ${only:-$guest} in *kernels/guest/relay.sh*) traces=5 ;; esac
	if grep -qx 'guest: exit 0' "$tmp/said" && walked_alike $traces; then
		passed=$((passed + 1))
		echo "ok   kernel $package ($took s)"
	else
		failed=$((failed + 1))
		cat "$tmp/qemu"
		grep -q '^guest: kernel' "$tmp/said" || tail -n 40 "$tmp/said"
		echo "FAIL kernel $package (qemu's exit $status, $took s)"
	fi
done
sums
