# Say one line to the mailbox, and print its answer. @ARGV: its name, the line. Without one that listens: "gone".
use strict;
use warnings;
use Socket;

my ($name, $line) = @ARGV;
socket(my $mailbox, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
unless (connect($mailbox, pack_sockaddr_un("\0$name"))) {
    print "<$name:gone:$name>\n";
    exit;
}
$line .= "\n";
while (length $line) {
    my $written = syswrite($mailbox, $line) // last;
    substr($line, 0, $written, '');
}
while (sysread($mailbox, my $answer, 1 << 16)) {
    print $answer;
}
