/* Functions in assembler: one in .text, one in a section of its own, labels inside. */
	.text
	.globl	count_bits
	.type	count_bits, @function
count_bits:
	xorl	%eax, %eax
again:	testl	%edi, %edi
	je	done
	movl	%edi, %edx
	andl	$1, %edx
	addl	%edx, %eax
	shrl	%edi
	jmp	again
done:	ret
	.size	count_bits, . - count_bits

	.section .text.rare, "ax", @progbits
	.globl	rare
	.type	rare, @function
rare:
	movl	%edi, %eax
	negl	%eax
	nop
	nop
	ret
	.size	rare, . - rare
	.section .note.GNU-stack, "", @progbits
