#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# service.pl PORT: a line is answered with the line turned round, one for each connection, by one of four processes.
use strict;
use warnings;
use IO::Socket::INET;

my $listens = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], Listen => 16, ReuseAddr => 1)
    or die "$!";
fork // die "$!" for 1 .. 2; # four of them
while (my $client = $listens->accept) {
	my $line = <$client>;
	if (defined $line) {
		chomp $line;
		print $client scalar(reverse $line), "\n";
	}
	close $client;
}
