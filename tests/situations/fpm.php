<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Badges and quotes behind nginx and PHP-FPM. Each user's session is in a file, which PHP keeps locked: also while a
// carrier is asked for a quote, unless the session is closed before (HEALTHY).
class Carrier
{
	public function price(): string
	{
		$socket = fsockopen('127.0.0.1', (int)$_SERVER['CARRIER']);
		fwrite($socket, "300\n");
		return trim(fgets($socket));
	}
}

[, $what, $user] = explode('/', $_SERVER['REQUEST_URI']);
session_save_path($_SERVER['SESSIONS']);
session_id("user$user");
$begin = hrtime(true);
session_start();
header('X-Waited: ' . intdiv(hrtime(true) - $begin, 1000));
if ($_SERVER['HEALTHY'])
	session_write_close();
$text = $what == 'quote' ? (new Carrier)->price() : 'badge';
header('Content-Length: ' . strlen($text));
echo $text;
