# Take the agent's connections in at 127.0.0.1, and keep their bytes for whoever comes to fetch them by exec.
#
# @ARGV: NAME, PORT, WINDOW, LEASE. Returns when the port is listened on; the mailbox lives on in the background until it
# is killed, or has heard nothing for LEASE seconds. Needs no module beyond those of Debian's perl-base.
#
# Bytes for outside, and bytes from there, are each one stream of frames: connection (u32), kind, length (u32), payload.
# Kinds: O opened, D data, E end of data in this direction, R reset, W so many more bytes (u32) may be sent.
# A side sends no more than WINDOW bytes of data in a connection beyond what the other has let it.
#
# Lines are said at the abstract socket NAME, one a connection, by the same user alone:
#   take FROM MOST WAIT   what is there from offset FROM on, as "OFFSET LENGTH BASE64"; waits for it up to WAIT seconds.
#                         All before FROM has arrived outside and is forgotten.
#   give AT BASE64        the bytes from outside at offset AT, in any order, any number of times; answered by "kept".
# The answer stands between "<NAME:" and ":NAME>": what runs commands may print things of its own.
use strict;
use warnings;
use Errno qw(EAGAIN EINTR);
use Fcntl;
use IO::Handle;
use POSIX ();
use Socket qw(:DEFAULT IPPROTO_TCP TCP_NODELAY SO_PEERCRED);

use constant PIECE      => 1 << 16;
use constant HEADER     => 9;
use constant MOST_KEPT  => 1 << 24;    # bytes that wait to be fetched, beyond which no agent is read from
use constant MOST_PEERS => 512;
use constant LINGER     => 0.002;      # seconds in which more may come that goes out with the first
use constant LINGERS    => 10;

my ($name, $port, $window, $lease) = @ARGV;

my %peer;                             # the agent's connections, by number
my $peers = 0;
my ($kept, $fetched) = ('', 0);       # frames for outside, and the offset at which they begin
my ($unread, $given, %early) = ('', 0);
my %asker;                            # those that said, or are about to say, a line; by file number
my $waiting;                          # the one of them who waits for bytes
my $lingered = 0;
my $heard = time;

sub answer {
    my ($asker, $text) = @_;
    $asker->{answer} = "<$name:$text:$name>\n";
}

# MIME::Base64 is not in perl-base; uuencode is in the language, and differs in its alphabet and its lines.
sub to_base64 {
    my ($data) = @_;
    my $text = pack 'u', $data;
    $text =~ s/^.//mg;
    $text =~ tr/\n//d;
    $text =~ tr{` -_}{AA-Za-z0-9+/};
    my $padding = (3 - length($data) % 3) % 3;
    substr($text, -$padding) = '=' x $padding if $padding;
    return $text;
}

sub from_base64 {
    my ($text) = @_;
    $text =~ tr{A-Za-z0-9+/}{}cd;
    $text =~ tr{A-Za-z0-9+/}{ -_};
    my $data = '';
    $data .= unpack 'u', chr(32 + int(length($1) * 3 / 4)) . $1 while $text =~ /(.{1,60})/gs;
    return $data;
}

sub keep {
    my ($number, $kind, $payload) = @_;
    $kept .= pack('NaN', $number, $kind, length $payload) . $payload;
}

sub reset_peer {
    my ($number) = @_;
    my $peer = delete $peer{$number} or return;
    setsockopt($peer->{socket}, SOL_SOCKET, SO_LINGER, pack 'II', 1, 0);    # its end is told by RST, not by FIN
    close $peer->{socket};
}

sub lose_peer {
    my ($number) = @_;
    reset_peer($number);
    keep($number, 'R', '');
}

sub close_if_done {
    my ($number) = @_;
    my $peer = $peer{$number};
    return if length $peer->{unsent} or not $peer->{ending};
    shutdown($peer->{socket}, 1) unless $peer->{shut}++;
    return unless $peer->{ended};
    close $peer->{socket};
    delete $peer{$number};
}

sub welcome {
    my ($listener) = @_;
    accept(my $socket, $listener) or return;
    $socket->blocking(0);
    setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);
    my $number = ++$peers;
    $peer{$number} = { socket => $socket, unsent => '', credit => $window, owed => 0 };
    keep($number, 'O', '');
}

sub read_peer {
    my ($number) = @_;
    my $peer = $peer{$number};
    my $most = $peer->{credit} < PIECE ? $peer->{credit} : PIECE;
    my $size = sysread($peer->{socket}, my $data, $most);
    if (not defined $size) {
        lose_peer($number) unless $! == EAGAIN or $! == EINTR;
    }
    elsif ($size) {
        $peer->{credit} -= $size;
        keep($number, 'D', $data);
    }
    else {
        $peer->{ended} = 1;
        keep($number, 'E', '');
        close_if_done($number);
    }
}

sub write_peer {
    my ($number) = @_;
    my $peer = $peer{$number};
    my $size = syswrite($peer->{socket}, $peer->{unsent}, PIECE);
    if (not defined $size) {
        lose_peer($number) unless $! == EAGAIN or $! == EINTR;
        return;
    }
    substr($peer->{unsent}, 0, $size, '');
    $peer->{owed} += $size;
    if ($peer->{owed} >= $window / 4) {
        keep($number, 'W', pack 'N', $peer->{owed});
        $peer->{owed} = 0;
    }
    close_if_done($number);
}

sub obey {
    my ($number, $kind, $payload) = @_;
    my $peer = $peer{$number} or return;    # lost meanwhile
    if ($kind eq 'D') {
        $peer->{unsent} .= $payload;
    }
    elsif ($kind eq 'E') {
        $peer->{ending} = 1;
        close_if_done($number);
    }
    elsif ($kind eq 'W') {
        $peer->{credit} += unpack 'N', $payload;
    }
    else {
        reset_peer($number);
    }
}

sub give {
    my ($at, $data) = @_;
    $early{$at} = $data if $at >= $given;
    while (defined(my $next = delete $early{$given})) {
        $given += length $next;
        $unread .= $next;
    }
    while (length $unread >= HEADER) {
        my ($number, $kind, $length) = unpack 'NaN', $unread;
        last if length $unread < HEADER + $length;
        my $payload = substr($unread, HEADER, $length);
        substr($unread, 0, HEADER + $length, '');
        obey($number, $kind, $payload);
    }
}

sub hand_out {
    my $asker = $waiting;
    ($waiting, $lingered) = (undef, 0);
    my $data = substr($kept, 0, $asker->{most});
    answer($asker, join ' ', $fetched, length $data, to_base64($data));
}

sub take {
    my ($asker, $from, $most, $wait) = @_;
    if ($from > $fetched) {
        substr($kept, 0, $from - $fetched, '');
        $fetched = $from;
    }
    hand_out() if $waiting;    # whoever sent that one has given it up
    @$asker{qw(most until)} = ($most, time + $wait);
    $waiting = $asker;
}

sub hear {
    my ($listener) = @_;
    accept(my $socket, $listener) or return;
    my (undef, $user) = unpack 'iII', getsockopt($socket, SOL_SOCKET, SO_PEERCRED);
    return close $socket if $user != $>;
    $socket->blocking(0);
    $asker{ fileno $socket } = { socket => $socket, line => '', answer => '' };
}

sub forget {
    my ($number) = @_;
    my $asker = delete $asker{$number};
    $waiting = undef if $waiting and $waiting == $asker;
    close $asker->{socket};
}

sub read_asker {
    my ($number) = @_;
    my $asker = $asker{$number};
    my $size = sysread($asker->{socket}, $asker->{line}, PIECE, length $asker->{line});
    return if not defined $size and ($! == EAGAIN or $! == EINTR);
    return forget($number) unless $size;
    return unless $asker->{line} =~ s/^(.*)\n//;
    $heard = time;
    my ($word, @rest) = split / /, $1;
    return take($asker, @rest) if $word eq 'take';
    give($rest[0], from_base64($rest[1]));
    answer($asker, 'kept');
}

sub write_asker {
    my ($number) = @_;
    my $asker = $asker{$number};
    my $size = syswrite($asker->{socket}, $asker->{answer});
    return if not defined $size and ($! == EAGAIN or $! == EINTR);
    return forget($number) unless defined $size;
    substr($asker->{answer}, 0, $size, '');
    forget($number) unless length $asker->{answer};
}

sub serve {
    my ($agents, $mouth) = @_;
    while (time - $heard <= $lease) {
        my ($readable, $writable) = ('', '');
        vec($readable, fileno $mouth, 1) = 1;
        vec($readable, fileno $agents, 1) = 1 if keys %peer < MOST_PEERS;
        for my $peer (values %peer) {
            my $descriptor = fileno $peer->{socket};
            vec($readable, $descriptor, 1) = 1
              if $peer->{credit} and not $peer->{ended} and length $kept < MOST_KEPT;
            vec($writable, $descriptor, 1) = 1 if length $peer->{unsent};
        }
        for my $asker (values %asker) {
            vec(length $asker->{answer} ? $writable : $readable, fileno $asker->{socket}, 1) = 1;
        }
        my $news = $waiting && length $kept;
        my $ready = select($readable, $writable, undef, $news ? LINGER : 1);
        next if $ready < 0;
        if ($ready) {
            for my $number (keys %peer) {
                my $descriptor = fileno $peer{$number}{socket};
                write_peer($number) if vec($writable, $descriptor, 1);
                read_peer($number) if $peer{$number} and vec($readable, $descriptor, 1);
            }
            for my $number (keys %asker) {
                if    (vec($writable, $number, 1)) { write_asker($number) }
                elsif (vec($readable, $number, 1)) { read_asker($number) }
            }
            welcome($agents) if vec($readable, fileno $agents, 1);
            hear($mouth) if vec($readable, fileno $mouth, 1);
        }
        next unless $waiting;
        my $enough = length $kept >= $waiting->{most} || ++$lingered > LINGERS || !$ready;
        hand_out() if $news && $enough or time >= $waiting->{until};
        $lingered = 0 unless $news;
    }
}

sub open_port {
    socket(my $agents, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
    setsockopt($agents, SOL_SOCKET, SO_REUSEADDR, 1);
    bind($agents, pack_sockaddr_in($port, INADDR_LOOPBACK)) && listen($agents, SOMAXCONN) or return;
    $agents->blocking(0);
    return $agents;
}

sub open_mouth {
    socket(my $mouth, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
    bind($mouth, pack_sockaddr_un("\0$name")) && listen($mouth, SOMAXCONN) or die "bind: $!";
    $mouth->blocking(0);
    return $mouth;
}

my $agents = open_port();
if (not $agents) {
    print "<$name:taken $!:$name>\n";
    exit;
}
my $mouth = open_mouth();
$SIG{PIPE} = 'IGNORE';
my $child = fork // die "fork: $!";
if ($child) {
    print "<$name:open:$name>\n";
    exit;
}
POSIX::setsid();
chdir '/';
open STDIN,  '<', '/dev/null';
open STDOUT, '>', '/dev/null';
open STDERR, '>', '/dev/null';
$0 = 'mailbox';
serve($agents, $mouth);
reset_peer($_) for keys %peer;    # no agent may take what it has for a whole answer
