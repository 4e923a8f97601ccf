# A heap text of the program "inlines", as if it were mapped at 0x700000000000: main() called
# something that allocated. For golden cases.
at=$(nm "$PROGRAMS/inlines" | awk '$3 == "main" { print $1; exit }')
printf 'heap_v2/512\n  t*: 1: 4000 [0: 0]\n@ 0x%x 0x700000000001\n  t*: 1: 4000 [0: 0]\n\nMAPPED_LIBRARIES:\n' \
	$((0x$at + 0x700000000001))
readelf -lW "$PROGRAMS/inlines" | awk '/ R E / { print $2, $3, $5 }' | while read -r offset vaddr size; do
	printf '%x-%x r-xp %08x 08:01 42 /opt/inlines\n' $((vaddr + 0x700000000000)) \
		$((vaddr + size + 0x700000000000)) $((offset))
done
