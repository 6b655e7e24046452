-- The tables of `chainwalk --format=rows` in ClickHouse (tried with 18.16). For each shard; {cluster} is the cluster's
-- name in the servers' configuration:
--   sed 's/{cluster}/fleet/; s/{database}/fleet/' schema.sql | clickhouse-client --host SHARD --database fleet --multiquery
-- NAME_shard is what a shard has, NAME all shards. A trace is on the shard of its host, so that load.sh can ask one
-- server what is there. Rows are kept by day: load.sh inserts a day of a trace at once, which is all there or not at
-- all; `load.sh --keep DAYS` drops the oldest days.

CREATE TABLE IF NOT EXISTS traces_shard (
	time UInt32,           -- start, seconds since 1970
	trace UUID,
	host String,
	started_ns UInt64,     -- since 1970
	duration_ns UInt64,
	cpus UInt64,
	kernel String,
	arch String,
	recorder String,
	events UInt64,
	lost UInt64,
	bytes UInt64
) ENGINE = MergeTree PARTITION BY intDiv(time, 86400) ORDER BY (host, time);

CREATE TABLE IF NOT EXISTS modules_shard (
	time UInt32,
	trace UUID,
	host String,
	path String,
	build_id String
) ENGINE = MergeTree PARTITION BY intDiv(time, 86400) ORDER BY (path, host, time);

-- Each shard has a chain once a day at most, when its parts are merged.
CREATE TABLE IF NOT EXISTS chains_shard (
	time UInt32,
	chain UUID,
	frames String          -- below the thread's name, root first, joined by ';'
) ENGINE = ReplacingMergeTree PARTITION BY intDiv(time, 86400) ORDER BY chain;

CREATE TABLE IF NOT EXISTS waits_shard (
	time UInt32,           -- start of the bucket
	trace UUID,
	host String,
	cgroup String,
	process String,
	thread String,
	endpoint String,       -- of requests; '': threads' waits
	waited_for String,     -- '[futex]'
	ended String,          -- how the chain ends: '[running]'
	had_cpu String,        -- of '[runnable]' and '[preempted]': who had the CPU
	chain UUID,
	ran UUID,              -- of samples: where the last thread of the chain ran
	latency_ns UInt64,     -- length of the waits, rounded up by less than an eighth
	waits UInt64,          -- that began in this bucket
	blocked_ns UInt64,
	runnable_ns UInt64,
	preempted_ns UInt64,
	running_ns UInt64,
	samples UInt64,
	route String,          -- of requests: 'GET /users/*'; the endpoint has it, too
	over_ns UInt64         -- of requests: time beyond the median of the route, rounded as latency_ns
) ENGINE = MergeTree PARTITION BY intDiv(time, 86400) ORDER BY (process, thread, host, time);

CREATE TABLE IF NOT EXISTS traces AS traces_shard ENGINE = Distributed({cluster}, {database}, traces_shard);
CREATE TABLE IF NOT EXISTS modules AS modules_shard ENGINE = Distributed({cluster}, {database}, modules_shard);
CREATE TABLE IF NOT EXISTS chains AS chains_shard ENGINE = Distributed({cluster}, {database}, chains_shard);
CREATE TABLE IF NOT EXISTS waits AS waits_shard ENGINE = Distributed({cluster}, {database}, waits_shard);
