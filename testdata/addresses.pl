# perl addresses.pl NM [BIAS] < LOG: replaces @TERM@, @TERM+TERM@ and @TERM-TERM@ by the value plus
# BIAS, as 0x…. A TERM is a number or the name of a symbol in the output of nm, which is its
# address. @~…@ has no 0x, @^…@ digits in upper case.
use strict;
use warnings;

my ($nm, $bias) = @ARGV;
$bias = hex($bias // 0);
my %address;
open(my $symbols, '<', $nm) or die "$nm: $!\n";
while (<$symbols>) {
	$address{$2} = hex($1) if /^([0-9a-f]+) . (\S+)$/;
}

sub value {
	my ($term) = @_;
	return $term =~ /^\d/ ? $term : $address{$term} // die "no symbol $term\n";
}

my %format = ('' => '0x%x', '~' => '%x', '^' => '%X');
while (<STDIN>) {
	s{@([~^]?)(\w+)(?:([+-])(\w+))?@}{sprintf($format{$1}, $bias + value($2) +
		(defined $3 ? ($3 eq '-' ? -1 : 1) * value($4) : 0))}ge;
	print;
}
