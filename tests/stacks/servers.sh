# shellcheck shell=bash disable=SC2154 # dir is the sourcing script's
# SPDX-License-Identifier: GPL-2.0-or-later
# Real servers from the distribution's packages, each lightly used so that its threads go to sleep again
# and again; to be sourced. Wants $dir, a folder that any user may enter.
#
#   servers_all             their names
#   server_unused=yes       they are only started: nobody uses them
#   server_start NAME       0: it runs: $server_pids are its processes, $server_kept what to kill in the
#                           end (server_stop does); 77: not installed, $server_lacks says what
#   servers_start           all that are installed, into $servers; the processes of each are in $dir/NAME/pids,
#                           those of all in $server_pids and $server_kept; or not 0, $server is who does not start
#   server_stop             all of $server_pids and $server_kept
# shellcheck disable=SC2034 # for who sources this
servers_all="mariadb postgresql redis nginx apache node java python"
server_pids='' server_kept='' server_lacks='' servers=''
server_port=${APACHE_PORT:-$((18000 + $$ % 1900))}

# lacks PROGRAM...: true, with $server_lacks set, if one of them is not there.
lacks() {
	for server_lacks; do
		command -v "$server_lacks" >/dev/null || return 0
	done
	server_lacks=''
	return 1
}

# until_there SECONDS COMMAND...
until_there() {
	server_tenths=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		server_tenths=$((server_tenths - 1))
		[ $server_tenths -gt 0 ] || return 1
		sleep 0.1
	done
}

# used COMMAND...: again and again, in the background.
used() {
	[ -z "${server_unused:-}" ] || return 0
	while sleep 0.05; do
		"$@" >/dev/null 2>&1
	done &
	server_kept="$server_kept $!"
}

children_of() {
	echo "$1"
	for server_child in $(pgrep -P "$1"); do
		children_of "$server_child"
	done
}

server_start() {
	server_pids='' server_kept=''
	mkdir -p "$dir/$1"
	case $1 in
	mariadb)
		lacks mariadbd mariadb-install-db mariadb && return 77
		mariadb-install-db --no-defaults --user=root --datadir="$dir/$1/data" \
			--auth-root-authentication-method=normal >"$dir/$1/log" 2>&1
		mariadbd --no-defaults --user=root --datadir="$dir/$1/data" --socket="$dir/$1/socket" \
			--skip-networking --pid-file="$dir/$1/pid" >>"$dir/$1/log" 2>&1 &
		server_kept=$!
		until_there 30 test -S "$dir/$1/socket" || return 1
		used mariadb --no-defaults -u root -S "$dir/$1/socket" -e 'select count(*) from mysql.user'
		server_pids=${server_kept%% *}
		;;
	postgresql)
		server_bin=$(echo /usr/lib/postgresql/*/bin)
		PATH=$PATH:$server_bin lacks initdb postgres psql && return 77
		chown postgres "$dir/$1"
		su postgres -c "$server_bin/initdb -D $dir/$1/data" >"$dir/$1/log" 2>&1
		# exec: the process that is killed in the end is the server
		su postgres -c "exec $server_bin/postgres -D $dir/$1/data -k $dir/$1 -h ''" >>"$dir/$1/log" 2>&1 &
		server_kept=$!
		until_there 30 test -S "$dir/$1/.s.PGSQL.5432" || return 1
		used su postgres -c "psql -h $dir/$1 -c 'create table if not exists t as select 1; select * from t'"
		server_pids=$(children_of "$(head -n 1 "$dir/$1/data/postmaster.pid")")
		;;
	redis)
		lacks redis-server redis-cli && return 77
		redis-server --port 0 --unixsocket "$dir/$1/socket" --dir "$dir/$1" >"$dir/$1/log" 2>&1 &
		server_kept=$!
		until_there 10 test -S "$dir/$1/socket" || return 1
		used redis-cli -s "$dir/$1/socket" incr x
		server_pids=${server_kept%% *}
		;;
	nginx)
		lacks nginx curl && return 77
		cat >"$dir/$1/conf" <<-END
			daemon off; pid $dir/$1/pid; worker_processes 2; error_log $dir/$1/error;
			events { worker_connections 100; }
			http { access_log off; server { listen unix:$dir/$1/socket; location / { return 200 "there"; } } }
		END
		nginx -c "$dir/$1/conf" >"$dir/$1/log" 2>&1 &
		server_kept=$!
		until_there 10 test -S "$dir/$1/socket" || return 1
		used curl -s --unix-socket "$dir/$1/socket" http://localhost/
		server_pids=$(children_of "${server_kept%% *}")
		;;
	apache)
		lacks apache2 curl && return 77
		server_modules=/usr/lib/apache2/modules
		cat >"$dir/$1/conf" <<-END
			ServerName localhost
			ServerRoot $dir/$1
			PidFile $dir/$1/pid
			ErrorLog $dir/$1/error
			Listen 127.0.0.1:$server_port
			LoadModule mpm_event_module $server_modules/mod_mpm_event.so
			LoadModule authz_core_module $server_modules/mod_authz_core.so
			StartServers 1
			ThreadsPerChild 5
			DocumentRoot $dir/$1
		END
		echo there >"$dir/$1/index.html"
		apache2 -f "$dir/$1/conf" -DFOREGROUND >"$dir/$1/log" 2>&1 &
		server_kept=$!
		until_there 10 curl -sf "http://127.0.0.1:$server_port/index.html" || return 1
		used curl -s "http://127.0.0.1:$server_port/index.html"
		server_pids=$(children_of "${server_kept%% *}")
		;;
	node)
		lacks node && return 77
		cat >"$dir/$1/run.js" <<-'END'
			const fs = require("fs"), crypto = require("crypto");
			function tick() { fs.readFile(__filename, () => crypto.pbkdf2("a", "b", 100, 16, "sha1", () => {})); }
			setInterval(tick, 50);
		END
		node "$dir/$1/run.js" &
		server_kept=$!
		server_pids=$!
		sleep 0.5
		;;
	java)
		lacks java && return 77
		cat >"$dir/$1/Naps.java" <<-'END'
			import java.util.concurrent.*;
			public class Naps {
				public static void main(String[] a) throws Exception {
					ScheduledExecutorService pool = Executors.newScheduledThreadPool(2);
					BlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
					pool.scheduleAtFixedRate(() -> queue.add(1), 0, 50, TimeUnit.MILLISECONDS);
					while (true) { queue.take(); Thread.sleep(10); }
				}
			}
		END
		if command -v javac >/dev/null && javac -d "$dir/$1" "$dir/$1/Naps.java" 2>/dev/null; then
			java -Xshare:auto -XX:TieredStopAtLevel=1 -cp "$dir/$1" Naps &
		else
			server_lacks=javac
			return 77
		fi
		server_kept=$!
		server_pids=$!
		sleep 1.5
		;;
	python)
		lacks python3 && return 77
		cat >"$dir/$1/naps.py" <<-'END'
			import queue, threading, time
			q = queue.Queue()
			def produce():
			    while True:
			        time.sleep(0.05)
			        q.put(1)
			def poll():
			    e = threading.Event()
			    while True:
			        e.wait(0.03)
			for f in produce, poll:
			    threading.Thread(target=f, daemon=True).start()
			while True:
			    sorted([3, 1, 2], key=lambda x: x)
			    q.get()
		END
		# Not a python of one's own, which may be built in another way than the distribution's.
		/usr/bin/python3 "$dir/$1/naps.py" &
		server_kept=$!
		server_pids=$!
		sleep 0.3
		;;
	*) return 1 ;;
	esac
	until_there 5 test -d "/proc/${server_pids%%[!0-9]*}"
}

servers_start() {
	servers='' server_pids_of_all='' server_kept_of_all=''
	for server in $servers_all; do
		server_start "$server"
		server_status=$?
		server_pids_of_all="$server_pids_of_all $server_pids" server_kept_of_all="$server_kept_of_all $server_kept"
		case $server_status in
		0) echo "$server_pids" >"$dir/$server/pids"; servers="$servers $server" ;;
		77) echo "note: without $server: $server_lacks is not installed" ;;
		*) break ;;
		esac
	done
	server_pids=$server_pids_of_all server_kept=$server_kept_of_all
	[ "$server_status" = 0 ] || [ "$server_status" = 77 ]
}

server_stop() {
	# Not all of them end for SIGTERM while a client is there, or while they are stopped.
	for server_pid in $server_kept $server_pids; do
		kill "$server_pid" 2>/dev/null
		kill -INT "$server_pid" 2>/dev/null
		kill -CONT "$server_pid" 2>/dev/null
	done
	for server_pid in $server_kept; do
		wait "$server_pid" 2>/dev/null
	done
	server_pids='' server_kept=''
}
