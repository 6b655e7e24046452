# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks: what the figures in docs/ rest on. Each prints its own.
$(O)/bench/generate: $(O)/bench/generate.o $(O)/bench/server.o $(COMMON)
	$(LINK)
$(O)/bench/cost: $(O)/bench/cost.o
	$(LINK)
$(O)/bench/many: $(O)/bench/many.o $(COMMON)
	$(LINK)

bench: bench-overhead
bench-check: deps-test # the tests that judge how quick something is; make test judges what is right
	@$(SUBMAKE) WERROR=1 all unit
	@SPEED=1 sh tests/run.sh $(O)
bench-overhead: deps-test
	@$(SUBMAKE) all
	bash bench/overhead.sh $(O)
bench-alternate: all # what a busy MariaDB (WORKLOAD=redis, pgbench, nginx) loses to recorders that are switched on and off in turn
	@bash bench/alternate.sh $(O)
bench-import: deps-test
	@$(SUBMAKE) all $(O)/bench/cost
	bash bench/import.sh $(O)
bench-render: deps-test # needs flamegraph.pl on PATH or in FLAMEGRAPH_PL
	@$(SUBMAKE) all $(O)/bench/cost
	sh bench/render.sh $(O)
bench-engine: all $(O)/bench/generate $(O)/bench/cost # FULL=1: a trace of 100 million events, too
	@bash bench/engine.sh $(O)
bench-smoke: deps-test # whether all of these still run and print figures
	@$(SUBMAKE) all unit $(O)/bench/generate $(O)/bench/cost $(O)/bench/many $(O)/chainload-nofp
	bash bench/smoke.sh $(O)
bench-tables: # the hash table against those of uthash-dev and libstb-dev, which nothing else needs
	@mkdir -p $(O)/bench
	$(CC) -O2 -D_GNU_SOURCE -Iinclude -Iengine -o $(O)/bench/tables bench/tables.c engine/base/pairs.c include/common/id_index.c
	@$(O)/bench/tables
bench-every: all # one trace each minute for two hours: memory, start times, cost
	@bash bench/every.sh $(O)
bench-light: all # what a light recording costs beside a whole one
	@bash bench/light.sh $(O)
bench-many: all $(O)/bench/many $(O)/bench/cost # each format over traces with a million threads, endpoints, groups and the like
	@sh bench/many.sh $(O)
bench-exports: all $(O)/bench/generate $(O)/bench/cost
	@bash bench/exports.sh $(O)
bench-flight: all
	@bash bench/flight.sh $(O)
bench-hours: all # memory, descriptors and loss over an hour, beside a load that forks, maps and compiles
	@bash bench/hours.sh $(O)
bench-programs: all # how long the BPF programs run
	@bash bench/programs.sh 5 $(O)
bench-interpreted: all unit # what frames of interpreted code cost, and whether they are right
	@bash bench/interpreted.sh $(O)
	@bash bench/changing.sh $(O)
	@bash bench/paths.sh $(O) 25
bench-picture: all $(O)/bench/cost # from the command line to the picture of a busy database, beside perf
	@bash bench/picture.sh $(O)
bench-requests: all # what recording requests at sockets costs redis, nginx and MariaDB
	@bash bench/requests.sh $(O)
bench-sizes: all # bytes an event of servers, with what was waited for and without
	@bash bench/sizes.sh $(O)
bench-stacks: all $(O)/chainload-nofp # user stacks of real programs, by this and by other recorders
	@bash bench/stacks.sh $(O)
bench-languages: deps-test # what the options cost that docs/languages.md asks Node.js and Java for
	@bash bench/languages.sh
bench-sources: all # what samples, objects, disk requests, interrupts and user stacks cost
	@bash bench/sources.sh $(O)
bench-start: all # how long recorders take to begin and to end
	@bash bench/start.sh $(O)
bench-streams: all # what it costs to record how far connections between machines are
	@bash bench/streams.sh $(O)
bench-tls: all # what it costs to record what requests ask for within TLS
	@bash bench/tls.sh $(O)
bench-verify: all # compares stacks known without a walk with walked ones; takes some minutes
	@bash bench/verify.sh $(O)

.PHONY: bench bench-check bench-alternate bench-overhead bench-import bench-render bench-engine bench-every bench-exports bench-flight bench-light \
	bench-hours bench-interpreted bench-languages bench-picture bench-programs bench-requests bench-sizes bench-smoke bench-sources bench-stacks bench-start bench-streams bench-tables bench-tls bench-verify
