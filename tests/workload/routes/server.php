<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// As server.py, but for each request a line in the file COUNTED of its environment.
$path = preg_replace('/[0-9]+/', '*', strtok($_SERVER['REQUEST_URI'], '?'));
file_put_contents($_SERVER['COUNTED'], $_SERVER['REQUEST_METHOD'] . " $path\n", FILE_APPEND | LOCK_EX);
if (strpos($path, '/report') === 0)
	usleep(random_int(30000, 60000));
header('Content-Length: 2');
echo 'ok';
