# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # what is set by who sources it, and what it makes use of
# Guests of qemu with the distribution's kernels: what run.sh and two_guests.sh share. To be sourced in tests/, with
#   $O        the folder of the build
#   $kernels  meta packages of the kernels that are wanted, to be skipped by name if nothing can be booted
#   $guest    paths of the tests below tests/ that go into the initramfs
#   $tools    programs of this machine that do, too
#   $modules  what these need of what kernels have as modules, in this order
#   $cpus, $memory, $boot_seconds, $test_seconds  of a guest
# Makes $tmp, a folder of its own, which goes in the end, with guests that run.
passed=0 failed=0 skipped=0 guests=''
store=$O/kernels

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
trap '[ -z "$guests" ] || kill $guests 2>/dev/null; rm -rf "$tmp"' EXIT
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
	for test in kernel_stack_size kernel_stack_slots kernel_forgetting kallsyms_changes unwind_sleeping_threads unwind_stacks; do
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

# start_guest NAME IMAGE ARGUMENT...: boots it; the arguments are its network. The console goes to $tmp/NAME.console, the
# second serial line to $tmp/NAME.out64; $only is the only test that it runs, if not empty. $! is its id, also in $guests.
start_guest() {
	name=$1 image=$2
	shift 2
	rm -rf "$tmp/more" && mkdir "$tmp/more"
	[ ! -d "$image.modules" ] || cp -R "$image.modules" "$tmp/more/modules"
	{ cat "$tmp/initramfs-$arch" && archive "$tmp/more"; } >"$tmp/$name.initramfs"
	rm -f "$tmp/$name.console" "$tmp/$name.out64"
	# One CPU of the guest at a time: with a thread for each, qemu 7.2 can go on for ever running a
	# breakpoint that the kernel has long patched away again, which it does at each attaching.
	# shellcheck disable=SC2086 # a list
	timeout -k 10 $boot_seconds $qemu_command -accel tcg,thread=single ${ICOUNT:+-icount $ICOUNT} -smp "$cpus" -m "$memory" \
		-nodefaults -no-user-config -display none -no-reboot \
		-serial "file:$tmp/$name.console" -chardev "file,id=out,path=$tmp/$name.out64" \
		-kernel "$image" -initrd "$tmp/$name.initramfs" "$@" \
		-append "console=$console out=$out seconds=$test_seconds modules=$(echo $modules | tr " " ,) quiet panic=-1 no_timer_check rdinit=/init ${only:+only=$only} ${POSSIBLE:+possible_cpus=$POSSIBLE}" </dev/null >"$tmp/$name.qemu" 2>&1 &
	guests="$guests $!"
}

# guest_passed NAME: says what the guest said, and whether it is done and all its tests passed.
guest_passed() {
	tr -d '\r' <"$tmp/$1.console" >"$tmp/said"
	sed -n '/^guest: kernel/,$p' "$tmp/said" | sed '/^guest: exit/,$d; s/^/  /'
	grep -qx 'guest: exit 0' "$tmp/said"
}

# guest_failed NAME: says why it may be that it did not come as far as its tests.
guest_failed() {
	cat "$tmp/$1.qemu"
	grep -q '^guest: kernel' "$tmp/said" || tail -n 40 "$tmp/said"
}

# what_it_left NAME: $tmp/out is what the guest left in its /tmp/out.
what_it_left() {
	rm -rf "$tmp/out" && mkdir "$tmp/out"
	base64 -d "$tmp/$1.out64" 2>/dev/null | tar -xzf - -C "$tmp/out" 2>/dev/null
}
