<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// A stock list: stock.php FILE [--healthy]. Workers answer from a file, which they lock to read it. Every half second
// the indexer works out all of it anew, and keeps the file locked meanwhile.

const WORKERS = 6;

function work_out(int $article): string
{
    return hash('sha256', str_repeat("article $article ", 200));
}

function rebuild_index(string $file, bool $locked): void
{
    $f = fopen($file, 'c+');
    if ($locked) {
        flock($f, LOCK_EX);
    }
    $lines = '';
    for ($article = 0; $article < 20000; $article++) {
        $lines .= work_out($article) . "\n";
    }
    flock($f, LOCK_EX);
    ftruncate($f, 0);
    rewind($f);
    fwrite($f, $lines);
    flock($f, LOCK_UN);
    fclose($f);
}

function read_stock(string $file, int $article): string
{
    $f = fopen($file, 'r');
    flock($f, LOCK_SH);
    fseek($f, 65 * $article);
    $line = fgets($f);
    flock($f, LOCK_UN);
    fclose($f);
    return (string) $line;
}

function answer($connection, string $file): void
{
    while (($request = fgets($connection)) !== false) {
        while (!in_array(fgets($connection), ["\r\n", false], true));
        preg_match('~/stock/(\d+)~', $request, $found);
        $body = read_stock($file, (int) ($found[1] ?? 0) % 20000);
        fwrite($connection, "HTTP/1.1 200 OK\r\nContent-Length: " . strlen($body) . "\r\n\r\n" . $body);
    }
}

function serve($listening, string $file): void
{
    while ($connection = stream_socket_accept($listening, -1)) {
        answer($connection, $file);
    }
}

$file = $argv[1];
$healthy = ($argv[2] ?? '') === '--healthy';
rebuild_index($file, false);
$listening = stream_socket_server('tcp://127.0.0.1:0');
$workers = [];
for ($i = 0; $i < WORKERS; $i++) {
    $pid = pcntl_fork();
    if (!$pid) {
        serve($listening, $file);
        exit;
    }
    $workers[] = $pid;
}
pcntl_async_signals(true);
pcntl_signal(SIGTERM, function () use ($workers) {
    foreach ($workers as $pid) {
        posix_kill($pid, SIGTERM);
    }
    exit;
});
echo 'port ', substr(strrchr(stream_socket_get_name($listening, false), ':'), 1), "\n";
while (true) {
    usleep(500000);
    rebuild_index($file, !$healthy);
}
