# perl addresses.pl NM [BIAS] < LOG: replaces @name@ and @name+offset@ (or @name-offset@) by the
# address of the symbol in the output of nm, plus BIAS, as 0x….
use strict;
use warnings;

my ($nm, $bias) = @ARGV;
$bias = hex($bias // 0);
my %address;
open(my $symbols, '<', $nm) or die "$nm: $!\n";
while (<$symbols>) {
	$address{$2} = hex($1) if /^([0-9a-f]+) . (\S+)$/;
}
while (<STDIN>) {
	s{@(\w+)([+-]\d+)?@}{sprintf('0x%x', $bias + ($address{$1} // die "no symbol $1\n") + ($2 // 0))}ge;
	print;
}
