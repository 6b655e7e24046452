# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# All of a build waits for one file that takes long to compile.
service_start() {
	! lacks make cc || return 77
	mkdir -p "$dir/src"
	for i in 1 2 3 4 5 6; do
		echo "int part_$i(int x) { return x + $i; }" >"$dir/src/part_$i.c"
	done
	awk -v count="${service_healthy:+3}" 'BEGIN {
		if (!count) count = 600
		for (i = 0; i < count; i++)
			printf "int table_%.0f(int x) { int s = 0; for (int i = 0; i < x; i++) { s += i * %.0f; if (s %% 7 == %.0f) s ^= x; else s += x / (i + 1); } return s; }\n", i, i, i % 7
		print "int part_1(int x), main_sum;\nint main(void) { return part_1(1) > 9; }"
	}' >"$dir/src/tables.c"
	printf 'OBJECTS = tables.o $(patsubst %%,part_%%.o,1 2 3 4 5 6)\nprogram: $(OBJECTS)\n\tgcc -o $@ $(OBJECTS)\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' >"$dir/src/Makefile"
}
service_load() { service_until_done make -C "$dir/src" -j2 >"$dir/figures"; }
