# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# ClickHouse servers on loopback, each a shard of the cluster "fleet"; to be sourced in the project's folder.
#   make_servers DIR N   their configuration below DIR; sets $shards to HOST:PORT,... of their HTTP interfaces
#   start_server DIR I   from 1; waits until it answers. Sets $server to its process id
#   make_tables DIR      docs/fleet/schema.sql on all of them, as new
#   ask_server I SQL     what it answers

port=$((20000 + $$ % 12000))
# next_port: sets $port to the next one on which nobody listens
next_port() {
	port=$((port + 1))
	while awk -v "end=:$(printf %04X $port)" 'substr($2, length($2) - 4) == end { found = 1 } END { exit !found }' /proc/net/tcp; do
		port=$((port + 1))
	done
}

make_servers() {
	shards=
	cluster=
	for i in $(seq "$2"); do
		mkdir -p "$1/$i/data" "$1/$i/tmp"
		next_port
		tcp=$port
		next_port
		echo "$tcp $port" >"$1/$i/ports"
		shards=$shards${shards:+,}127.0.0.1:$port
		cluster="$cluster<shard><replica><host>127.0.0.1</host><port>$tcp</port></replica></shard>"
	done
	for i in $(seq "$2"); do
		read -r tcp http <"$1/$i/ports"
		cat >"$1/$i/config.xml" <<END
<yandex>
	<logger><level>warning</level><log>$1/$i/log</log><errorlog>$1/$i/errors</errorlog></logger>
	<tcp_port>$tcp</tcp_port><http_port>$http</http_port><listen_host>127.0.0.1</listen_host>
	<path>$1/$i/data/</path><tmp_path>$1/$i/tmp/</tmp_path>
	<users_config>users.xml</users_config><default_profile>default</default_profile>
	<default_database>default</default_database><mark_cache_size>268435456</mark_cache_size>
	<remote_servers><fleet>$cluster</fleet></remote_servers>
</yandex>
END
		cat >"$1/$i/users.xml" <<'END'
<yandex>
	<profiles><default><max_memory_usage>8000000000</max_memory_usage></default></profiles>
	<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile><quota>default</quota></default></users>
	<quotas><default></default></quotas>
</yandex>
END
	done
}

start_server() {
	(cd "$1/$2" && exec clickhouse-server --config-file="$1/$2/config.xml" >"$1/$2/out" 2>&1) &
	server=$!
	read -r tcp http <"$1/$2/ports"
	for _ in $(seq 300); do
		! curl -s "http://127.0.0.1:$http/" >/dev/null || return 0
		kill -0 $server 2>/dev/null || break
		sleep 0.1
	done
	cat "$1/$2/out" "$1/$2/errors" 2>/dev/null >&2
	return 1
}

ask_server() { curl -sS --fail-with-body --data-binary "$2" "http://$(echo "$shards" | cut -d , -f "$1")/?database=${3:-fleet}"; }

make_tables() {
	# HTTP takes one statement at a time.
	sed 's/{cluster}/fleet/; s/{database}/fleet/; s/-- .*//' docs/fleet/schema.sql | tr '\n' ' ' | tr ';' '\n' >"$1/schema"
	for i in $(seq "$(echo "$shards" | tr , '\n' | wc -l)"); do
		ask_server "$i" "DROP DATABASE IF EXISTS fleet" default && ask_server "$i" "CREATE DATABASE fleet" default || return 1
		while IFS= read -r statement; do
			case $statement in
			*CREATE*) ask_server "$i" "$statement" || return 1 ;;
			esac
		done <"$1/schema"
	done
}
