<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// innocent.php LOG: as innocent.c, in PHP.
function innocent_naps($log) {
	$begin = microtime(true);
	usleep(10000);
	fwrite($log, sprintf("%.0f %.0f\n", $begin * 1e9, microtime(true) * 1e9));
}
$log = fopen($argv[1], "w");
while (true)
	innocent_naps($log);
