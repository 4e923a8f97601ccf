# Machine code and DWARF 5 that stay as they are whatever the compiler does:
# load base 0x400000, functions at 0x401000, 0x401040 and 0x401060, a variable
# at 0x404000. GCC 12 made it (-O2 -gdwarf-5 -S, x86-64) of:
#
#   namespace shapes {
#
#   struct point {
#   	int x, y;
#   };
#
#   static inline __attribute__((always_inline)) int dot(const point &a, const point &b)
#   {
#   	return a.x * b.x + a.y * b.y;
#   }
#
#   static inline __attribute__((always_inline)) int length2(const point &a)
#   {
#   	return dot(a, a);
#   }
#
#   __attribute__((noinline)) int weigh(point a, int times)
#   {
#   	volatile int sum = 0;
#
#   	for (int i = 0; i < times; i++)
#   		sum += length2(a) + i;
#   	return sum;
#   }
#
#   template <typename T> struct box {
#   	T value;
#   	__attribute__((noinline)) T get(T more) const volatile { return value + more; }
#   };
#
#   template struct box<long>;
#
#   } // namespace shapes
#
#   int counter = 7;
#
#   extern "C" int start(int times)
#   {
#   	return counter += shapes::weigh({times, 2}, 3);
#   }
#
# recipe: as -o $OUT.o $SRC
# recipe: ld -static -e start -Ttext=0x401000 -Tdata=0x404000 --build-id=0x00112233445566778899aabbccddeeff00112233 -o $OUT $OUT.o
	.file	"shapes.cc"
	.text
.Ltext0:
	.cfi_sections	.debug_frame
	.file 0 "/src" "shapes.cc"
	.p2align 4
	.globl	_ZN6shapes5weighENS_5pointEi
	.type	_ZN6shapes5weighENS_5pointEi, @function
_ZN6shapes5weighENS_5pointEi:
.LVL0:
.LFB2:
	.file 1 "shapes.cc"
	.loc 1 18 1 view -0
	.cfi_startproc
	.loc 1 19 2 view .LVU1
	.loc 1 19 15 is_stmt 0 view .LVU2
	movl	$0, -4(%rsp)
	.loc 1 21 2 is_stmt 1 view .LVU3
.LVL1:
.LBB9:
	.loc 1 21 20 view .LVU4
.LBE9:
	.loc 1 18 1 is_stmt 0 view .LVU5
	movq	%rdi, %rax
.LVL2:
.LBB16:
	.loc 1 21 20 view .LVU6
	testl	%esi, %esi
	jle	.L2
.LVL3:
.LBB10:
.LBB11:
.LBB12:
	.loc 1 9 23 view .LVU7
	movq	%rdi, %rdx
.LVL4:
	.loc 1 9 13 view .LVU8
	imull	%edi, %eax
	.loc 1 9 23 view .LVU9
	sarq	$32, %rdx
	.loc 1 9 25 view .LVU10
	imull	%edx, %edx
	.loc 1 9 29 view .LVU11
	addl	%edx, %eax
	addl	%eax, %esi
.LVL5:
	.p2align 4,,10
	.p2align 3
.L3:
	.loc 1 9 29 view .LVU12
.LBE12:
.LBE11:
.LBE10:
	.loc 1 22 3 is_stmt 1 view .LVU13
.LBB15:
.LBI10:
	.loc 1 12 50 view .LVU14
	.loc 1 14 2 view .LVU15
.LBB14:
.LBI11:
	.loc 1 7 50 view .LVU16
.LBB13:
	.loc 1 9 2 view .LVU17
	.loc 1 9 2 is_stmt 0 view .LVU18
.LBE13:
.LBE14:
.LBE15:
	.loc 1 22 7 view .LVU19
	movl	-4(%rsp), %edx
	addl	%eax, %edx
	.loc 1 21 20 view .LVU20
	addl	$1, %eax
.LVL6:
	.loc 1 22 7 view .LVU21
	movl	%edx, -4(%rsp)
	.loc 1 21 2 is_stmt 1 view .LVU22
.LVL7:
	.loc 1 21 20 view .LVU23
	cmpl	%esi, %eax
	jne	.L3
.LVL8:
.L2:
	.loc 1 21 20 is_stmt 0 view .LVU24
.LBE16:
	.loc 1 23 2 is_stmt 1 view .LVU25
	.loc 1 23 9 is_stmt 0 view .LVU26
	movl	-4(%rsp), %eax
	.loc 1 24 1 view .LVU27
	ret
	.cfi_endproc
.LFE2:
	.size	_ZN6shapes5weighENS_5pointEi, .-_ZN6shapes5weighENS_5pointEi
	.section	.text._ZNVK6shapes3boxIlE3getEl,"axG",@progbits,_ZNVK6shapes3boxIlE3getEl,comdat
	.align 2
	.p2align 4
	.weak	_ZNVK6shapes3boxIlE3getEl
	.type	_ZNVK6shapes3boxIlE3getEl, @function
_ZNVK6shapes3boxIlE3getEl:
.LVL9:
.LFB5:
	.loc 1 28 30 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 28 66 is_stmt 0 view .LVU29
	movq	(%rdi), %rax
	.loc 1 28 74 view .LVU30
	addq	%rsi, %rax
	.loc 1 28 80 view .LVU31
	ret
	.cfi_endproc
.LFE5:
	.size	_ZNVK6shapes3boxIlE3getEl, .-_ZNVK6shapes3boxIlE3getEl
	.text
	.p2align 4
	.globl	start
	.type	start, @function
start:
.LVL10:
.LFB4:
	.loc 1 38 1 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 39 2 view .LVU33
	.loc 1 39 33 is_stmt 0 view .LVU34
	movl	%edi, %edi
	.loc 1 39 33 view .LVU35
	movl	$3, %esi
	btsq	$33, %rdi
.LVL11:
	.loc 1 39 33 view .LVU36
	call	_ZN6shapes5weighENS_5pointEi
.LVL12:
	.loc 1 39 17 view .LVU37
	addl	counter(%rip), %eax
	movl	%eax, counter(%rip)
	.loc 1 40 1 view .LVU38
	ret
	.cfi_endproc
.LFE4:
	.size	start, .-start
	.globl	counter
	.data
	.align 4
	.type	counter, @object
	.size	counter, 4
counter:
	.long	7
	.text
.Letext0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x292
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0xa
	.long	.LASF8
	.byte	0x21
	.long	.LASF0
	.long	.LASF1
	.long	.LLRL9
	.quad	0
	.long	.Ldebug_line0
	.uleb128 0xb
	.long	.LASF9
	.byte	0x1
	.byte	0x1
	.byte	0xb
	.long	0xf3
	.uleb128 0x5
	.long	.LASF2
	.byte	0x3
	.byte	0x8
	.long	0x54
	.uleb128 0x6
	.string	"x"
	.byte	0x6
	.long	0xf3
	.byte	0
	.uleb128 0x6
	.string	"y"
	.byte	0x9
	.long	0xf3
	.byte	0x4
	.byte	0
	.uleb128 0x2
	.long	0x36
	.uleb128 0x5
	.long	.LASF3
	.byte	0x1a
	.byte	0x1e
	.long	0x9c
	.uleb128 0xc
	.long	.LASF4
	.byte	0x1
	.byte	0x1b
	.byte	0x4
	.long	0xff
	.byte	0
	.uleb128 0xd
	.string	"get"
	.byte	0x1
	.byte	0x1c
	.byte	0x1e
	.long	.LASF10
	.long	0xff
	.long	0x89
	.long	0x94
	.uleb128 0xe
	.long	0x106
	.uleb128 0x1
	.long	0xff
	.byte	0
	.uleb128 0xf
	.string	"T"
	.long	0xff
	.byte	0
	.uleb128 0x2
	.long	0x59
	.uleb128 0x7
	.long	0x9c
	.uleb128 0x10
	.long	.LASF11
	.byte	0x1
	.byte	0x11
	.byte	0x1f
	.long	.LASF12
	.long	0xf3
	.long	0xc5
	.uleb128 0x1
	.long	0x36
	.uleb128 0x1
	.long	0xf3
	.byte	0
	.uleb128 0x11
	.long	.LASF13
	.byte	0x1
	.byte	0xc
	.byte	0x32
	.long	0xf3
	.long	0xdb
	.uleb128 0x1
	.long	0x262
	.byte	0
	.uleb128 0x12
	.string	"dot"
	.byte	0x1
	.byte	0x7
	.byte	0x32
	.long	0xf3
	.uleb128 0x1
	.long	0x262
	.uleb128 0x1
	.long	0x262
	.byte	0
	.byte	0
	.uleb128 0x13
	.byte	0x4
	.byte	0x5
	.string	"int"
	.uleb128 0x7
	.long	0xf3
	.uleb128 0x14
	.byte	0x8
	.byte	0x5
	.long	.LASF5
	.uleb128 0x15
	.byte	0x8
	.long	0xa1
	.uleb128 0x2
	.long	0x106
	.uleb128 0x16
	.long	.LASF7
	.byte	0x1
	.byte	0x23
	.byte	0x5
	.long	0xf3
	.uleb128 0x9
	.byte	0x3
	.quad	counter
	.uleb128 0x17
	.long	.LASF14
	.byte	0x1
	.byte	0x25
	.byte	0x10
	.long	0xf3
	.quad	.LFB4
	.quad	.LFE4-.LFB4
	.uleb128 0x1
	.byte	0x9c
	.long	0x170
	.uleb128 0x8
	.long	.LASF6
	.byte	0x25
	.byte	0x1a
	.long	0xf3
	.long	.LLST8
	.long	.LVUS8
	.uleb128 0x18
	.quad	.LVL12
	.long	0x1a9
	.uleb128 0x19
	.uleb128 0x1
	.byte	0x54
	.uleb128 0x1
	.byte	0x33
	.byte	0
	.byte	0
	.uleb128 0x1a
	.long	0x71
	.long	0x18f
	.quad	.LFB5
	.quad	.LFE5-.LFB5
	.uleb128 0x1
	.byte	0x9c
	.long	0x1a9
	.uleb128 0x1b
	.long	.LASF15
	.long	0x10c
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x1c
	.long	.LASF16
	.byte	0x1
	.byte	0x1c
	.byte	0x24
	.long	0xff
	.uleb128 0x1
	.byte	0x54
	.byte	0
	.uleb128 0x1d
	.long	0xa6
	.quad	.LFB2
	.quad	.LFE2-.LFB2
	.uleb128 0x1
	.byte	0x9c
	.long	0x262
	.uleb128 0x1e
	.string	"a"
	.byte	0x1
	.byte	0x11
	.byte	0x2b
	.long	0x36
	.long	.LLST0
	.long	.LVUS0
	.uleb128 0x8
	.long	.LASF6
	.byte	0x11
	.byte	0x32
	.long	0xf3
	.long	.LLST1
	.long	.LVUS1
	.uleb128 0x1f
	.string	"sum"
	.byte	0x1
	.byte	0x13
	.byte	0xf
	.long	0xfa
	.uleb128 0x2
	.byte	0x91
	.sleb128 -12
	.uleb128 0x20
	.long	.LLRL2
	.uleb128 0x21
	.string	"i"
	.byte	0x1
	.byte	0x15
	.byte	0xb
	.long	0xf3
	.long	.LLST3
	.long	.LVUS3
	.uleb128 0x9
	.long	0x268
	.quad	.LBI10
	.byte	.LVU14
	.long	.LLRL4
	.byte	0x16
	.byte	0x11
	.uleb128 0x3
	.long	0x272
	.long	.LLST5
	.long	.LVUS5
	.uleb128 0x9
	.long	0x27c
	.quad	.LBI11
	.byte	.LVU16
	.long	.LLRL4
	.byte	0xe
	.byte	0xc
	.uleb128 0x3
	.long	0x28b
	.long	.LLST6
	.long	.LVUS6
	.uleb128 0x3
	.long	0x282
	.long	.LLST6
	.long	.LVUS6
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.uleb128 0x22
	.byte	0x8
	.long	0x54
	.uleb128 0x23
	.long	0xc5
	.byte	0x3
	.long	0x27c
	.uleb128 0x4
	.string	"a"
	.byte	0xc
	.byte	0x47
	.long	0x262
	.byte	0
	.uleb128 0x24
	.long	0xdb
	.byte	0x3
	.uleb128 0x4
	.string	"a"
	.byte	0x7
	.byte	0x43
	.long	0x262
	.uleb128 0x4
	.string	"b"
	.byte	0x7
	.byte	0x53
	.long	0x262
	.byte	0
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x5
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x26
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x5
	.byte	0
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0x13
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0xb
	.uleb128 0x21
	.sleb128 8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x6
	.uleb128 0xd
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0x21
	.sleb128 4
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x38
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x7
	.uleb128 0x35
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x8
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x9
	.uleb128 0x1d
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x52
	.uleb128 0x1
	.uleb128 0x2138
	.uleb128 0xb
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x58
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0xa
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1f
	.uleb128 0x1b
	.uleb128 0x1f
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0xb
	.uleb128 0x39
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xc
	.uleb128 0xd
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x38
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0xd
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x6e
	.uleb128 0xe
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3c
	.uleb128 0x19
	.uleb128 0x64
	.uleb128 0x13
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xe
	.uleb128 0x5
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x34
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0xf
	.uleb128 0x2f
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x10
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x6e
	.uleb128 0xe
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3c
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x11
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3c
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x12
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3c
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x13
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x8
	.byte	0
	.byte	0
	.uleb128 0x14
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0xe
	.byte	0
	.byte	0
	.uleb128 0x15
	.uleb128 0xf
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x16
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x17
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x18
	.uleb128 0x48
	.byte	0x1
	.uleb128 0x7d
	.uleb128 0x1
	.uleb128 0x7f
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x19
	.uleb128 0x49
	.byte	0
	.uleb128 0x2
	.uleb128 0x18
	.uleb128 0x7e
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x1a
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x47
	.uleb128 0x13
	.uleb128 0x64
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x1b
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x34
	.uleb128 0x19
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x1c
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x1d
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x47
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x1e
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x1f
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x20
	.uleb128 0xb
	.byte	0x1
	.uleb128 0x55
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x21
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x22
	.uleb128 0x10
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x23
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x47
	.uleb128 0x13
	.uleb128 0x20
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x24
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x47
	.uleb128 0x13
	.uleb128 0x20
	.uleb128 0xb
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_loclists,"",@progbits
	.long	.Ldebug_loc3-.Ldebug_loc2
.Ldebug_loc2:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	0
.Ldebug_loc0:
.LVUS8:
	.uleb128 0
	.uleb128 .LVU36
	.uleb128 .LVU36
	.uleb128 0
.LLST8:
	.byte	0x6
	.quad	.LVL10
	.byte	0x4
	.uleb128 .LVL10-.LVL10
	.uleb128 .LVL11-.LVL10
	.uleb128 0x1
	.byte	0x55
	.byte	0x4
	.uleb128 .LVL11-.LVL10
	.uleb128 .LFE4-.LVL10
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x55
	.byte	0x9f
	.byte	0
.LVUS0:
	.uleb128 0
	.uleb128 .LVU6
	.uleb128 .LVU6
	.uleb128 .LVU7
	.uleb128 .LVU7
	.uleb128 .LVU8
.LLST0:
	.byte	0x6
	.quad	.LVL0
	.byte	0x4
	.uleb128 .LVL0-.LVL0
	.uleb128 .LVL2-.LVL0
	.uleb128 0x1
	.byte	0x55
	.byte	0x4
	.uleb128 .LVL2-.LVL0
	.uleb128 .LVL3-.LVL0
	.uleb128 0x1
	.byte	0x50
	.byte	0x4
	.uleb128 .LVL3-.LVL0
	.uleb128 .LVL4-.LVL0
	.uleb128 0x2
	.byte	0x55
	.byte	0xf0
	.byte	0
.LVUS1:
	.uleb128 0
	.uleb128 .LVU12
	.uleb128 .LVU12
	.uleb128 0
.LLST1:
	.byte	0x6
	.quad	.LVL0
	.byte	0x4
	.uleb128 .LVL0-.LVL0
	.uleb128 .LVL5-.LVL0
	.uleb128 0x1
	.byte	0x54
	.byte	0x4
	.uleb128 .LVL5-.LVL0
	.uleb128 .LFE2-.LVL0
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x54
	.byte	0x9f
	.byte	0
.LVUS3:
	.uleb128 .LVU4
	.uleb128 .LVU12
	.uleb128 .LVU12
	.uleb128 .LVU21
	.uleb128 .LVU21
	.uleb128 .LVU23
.LLST3:
	.byte	0x6
	.quad	.LVL1
	.byte	0x4
	.uleb128 .LVL1-.LVL1
	.uleb128 .LVL5-.LVL1
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL5-.LVL1
	.uleb128 .LVL6-.LVL1
	.uleb128 0x10
	.byte	0x70
	.sleb128 0
	.byte	0x75
	.sleb128 0
	.byte	0x8
	.byte	0x20
	.byte	0x26
	.byte	0x12
	.byte	0x1e
	.byte	0x1c
	.byte	0x75
	.sleb128 0
	.byte	0x12
	.byte	0x1e
	.byte	0x1c
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL6-.LVL1
	.uleb128 .LVL7-.LVL1
	.uleb128 0x11
	.byte	0x75
	.sleb128 0
	.byte	0x8
	.byte	0x20
	.byte	0x26
	.byte	0x12
	.byte	0x1e
	.byte	0x20
	.byte	0x75
	.sleb128 0
	.byte	0x12
	.byte	0x1e
	.byte	0x1c
	.byte	0x70
	.sleb128 0
	.byte	0x22
	.byte	0x9f
	.byte	0
.LVUS5:
	.uleb128 .LVU14
	.uleb128 .LVU18
.LLST5:
	.byte	0x8
	.quad	.LVL5
	.uleb128 .LVL5-.LVL5
	.uleb128 0x6
	.byte	0xa0
	.long	.Ldebug_info0+452
	.sleb128 0
	.byte	0
.LVUS6:
	.uleb128 .LVU16
	.uleb128 .LVU18
.LLST6:
	.byte	0x8
	.quad	.LVL5
	.uleb128 .LVL5-.LVL5
	.uleb128 0x6
	.byte	0xa0
	.long	.Ldebug_info0+452
	.sleb128 0
	.byte	0
.Ldebug_loc3:
	.section	.debug_aranges,"",@progbits
	.long	0x3c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	.LFB5
	.quad	.LFE5-.LFB5
	.quad	0
	.quad	0
	.section	.debug_rnglists,"",@progbits
.Ldebug_ranges0:
	.long	.Ldebug_ranges3-.Ldebug_ranges2
.Ldebug_ranges2:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	0
.LLRL2:
	.byte	0x5
	.quad	.LBB9
	.byte	0x4
	.uleb128 .LBB9-.LBB9
	.uleb128 .LBE9-.LBB9
	.byte	0x4
	.uleb128 .LBB16-.LBB9
	.uleb128 .LBE16-.LBB9
	.byte	0
.LLRL4:
	.byte	0x5
	.quad	.LBB10
	.byte	0x4
	.uleb128 .LBB10-.LBB10
	.uleb128 .LBE10-.LBB10
	.byte	0x4
	.uleb128 .LBB15-.LBB10
	.uleb128 .LBE15-.LBB10
	.byte	0
.LLRL9:
	.byte	0x7
	.quad	.Ltext0
	.uleb128 .Letext0-.Ltext0
	.byte	0x7
	.quad	.LFB5
	.uleb128 .LFE5-.LFB5
	.byte	0
.Ldebug_ranges3:
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF10:
	.string	"_ZNVK6shapes3boxIlE3getEl"
.LASF14:
	.string	"start"
.LASF8:
	.string	"GNU C++17 12.2.0 -mtune=generic -march=x86-64 -g -gdwarf-5 -O2 -fno-asynchronous-unwind-tables -fno-exceptions -fcf-protection=none"
.LASF12:
	.string	"_ZN6shapes5weighENS_5pointEi"
.LASF9:
	.string	"shapes"
.LASF11:
	.string	"weigh"
.LASF3:
	.string	"box<long int>"
.LASF16:
	.string	"more"
.LASF13:
	.string	"length2"
.LASF5:
	.string	"long int"
.LASF15:
	.string	"this"
.LASF2:
	.string	"point"
.LASF7:
	.string	"counter"
.LASF6:
	.string	"times"
.LASF4:
	.string	"value"
	.section	.debug_line_str,"MS",@progbits,1
.LASF0:
	.string	"shapes.cc"
.LASF1:
	.string	"/src"
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
