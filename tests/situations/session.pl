# SPDX-License-Identifier: GPL-2.0-or-later
# A shop whose processes keep each user's session in a file, which a request has locked. For a quote a carrier is asked
# (argument: its port) while the session is locked; not with --healthy.
use strict;
use warnings;
use Fcntl qw(:flock);
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($carrier_port, $folder, $healthy) = @ARGV;
my $server = IO::Socket::INET->new(Listen => 64, LocalAddr => '127.0.0.1') or die $!;
my $carrier;

sub connect_to {
	my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$_[0]") or die $!;
	setsockopt($s, IPPROTO_TCP, TCP_NODELAY, 1);
	return $s;
}

# The session, locked, and how long that took.
sub open_session {
	my $begin = clock_gettime(CLOCK_MONOTONIC);
	open(my $file, '+>>', "$folder/sess_$_[0]") or die $!;
	flock($file, LOCK_EX) or die $!;
	return ($file, clock_gettime(CLOCK_MONOTONIC) - $begin);
}

sub ask_carrier {
	$carrier //= connect_to($carrier_port);
	syswrite($carrier, "120\n");
	sysread($carrier, my $price, 100);
	return $price;
}

sub serve {
	my ($client) = @_;
	while (sysread($client, my $request, 4096)) {
		my ($what, $user) = $request =~ m{^GET /(\w+)/(\d+)} or last;
		my ($session, $waited) = open_session($user);
		close($session) if $healthy;
		ask_carrier() if $what eq 'quote';
		close($session) unless $healthy;
		syswrite($client, sprintf("HTTP/1.1 200 OK\r\nX-Waited: %d\r\nContent-Length: 3\r\n\r\nok\n", 1e6 * $waited));
	}
}

my @children;
for (1 .. 9) {
	my $pid = fork();
	if (!$pid) {
		while (my $client = $server->accept()) {
			setsockopt($client, IPPROTO_TCP, TCP_NODELAY, 1);
			serve($client);
		}
		exit;
	}
	push @children, $pid;
}
$SIG{TERM} = sub { kill 'TERM', @children; exit };
$| = 1;
print 'port ', $server->sockport(), "\n";
wait;
