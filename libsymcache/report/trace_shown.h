/* What trace_forms_test.c expects; for tests only. */
#ifndef MARKUP_REPORT_TRACE_SHOWN_H
#define MARKUP_REPORT_TRACE_SHOWN_H

#define DEFINITIONS \
	"FILE\n" \
	"Trace stopped by tracepoint 2.\n" \
	"Buffer contains 6 trace frames (of 9 created total).\n" \
	"Trace buffer has 100 bytes of 200 bytes free (50% full).\n" \
	"Trace will continue if GDB disconnects.\n" \
	"Trace buffer is circular.\n" \
	"Trace user is me.\n" \
	"Trace notes: hi\\x0a.\n" \
	"Trace started at 1.001000 secs, stopped 0.999000 secs later.\n" \
	"Tracepoint 1 at 0x400020, enabled, hit 1 time, 30 bytes of the buffer\n" \
	"  leaf at /inc/leaf.h:3:9 (inlined)\n" \
	"  a::middle() at /inc/leaf.h:7:5 (inlined)\n" \
	"  main at /src/main.c:11:4\n" \
	"  set at:\n" \
	"    file 11\n" \
	"  condition:\n" \
	"    a > 1\n" \
	"  collects:\n" \
	"    registers, mask 3\n" \
	"    0x401010..0x401014 4 bytes field\n" \
	"    0x401000..0x401010 16 bytes table\n" \
	"    16 bytes at register 7 + 0x8\n" \
	"    expression, bytecode 0102\n" \
	"    static tracepoint data\n" \
	"Tracepoint 2 at 0x400028, fast, disabled, steps 2 times, pass count 5\n" \
	"  main at /src/main.c:12:2\n" \
	"  condition's bytecode:\n" \
	"    010203\n" \
	"  commands:\n" \
	"    collect\n" \
	"  collects while stepping:\n" \
	"    0x401018..0x40101a 2 bytes table+24\n" \
	"Tracepoint 3 at 0x400010, static, enabled\n" \
	"  main at /src/main.c:10:1\n" \
	"Tracepoint 3 at 0x400028, enabled, hit 2 times, 40 bytes of the buffer\n" \
	"  main at /src/main.c:12:2\n" \
	"Tracepoint 4 at 0x400030, its definition is missing\n" \
	"  ?? in exe\n" \
	"  collects:\n" \
	"    registers, mask 1\n" \
	"Variable $hits (1), initially 2\n" \
	"Variable $time (2), initially -1, built in\n"

#define FRAMES_WITH_REGISTERS \
	"Frame 0: tracepoint 1, pc 0x400020 from registers\n" \
	"  leaf at /inc/leaf.h:3:9 (inlined)\n" \
	"  a::middle() at /inc/leaf.h:7:5 (inlined)\n" \
	"  main at /src/main.c:11:4\n" \
	"  registers 42 bytes\n" \
	"    rip 0x400020\n" \
	"    rsp 0x7ff0\n" \
	"    xmm0 0x0099aabbccddeeff1122334455667788\n" \
	"    eflags 0x246\n" \
	"    gs 0x0\n" \
	"    last unavailable\n" \
	"    more, bytes of the block from 40 on:\n" \
	"    0x28: 41 42                                            AB\n" \
	"  0x401010..0x401014 4 bytes field = 0x4030201\n" \
	"    0x401010: 01 02 03 04                                      ....\n" \
	"  0x401000..0x401014 20 bytes table\n" \
	"    0x401000: 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 01  ABCDEFGHIJKLMNO.\n" \
	"    0x401010: 7f ff 7a 7a                                      ..zz\n" \
	"  0x401018..0x40101a 2 bytes table+24\n" \
	"    0x401018: 61 62                                            ab\n" \
	"  0x7000..0x7001 1 bytes\n" \
	"    0x7000: 00                                               .\n" \
	"  $hits = -5\n" \
	"  variable 9 (not defined) = 7\n" \
	"  static tracepoint data 3 bytes\n" \
	"    0x0: 73 00 74                                         s.t\n" \
	"Frame 1: tracepoint 2, stepping, pc 0x400029 from registers\n" \
	"  main at /src/main.c:12:2\n" \
	"  registers 42 bytes\n" \
	"    rip 0x400029\n" \
	"    rsp 0x7ff0\n" \
	"    xmm0 0x0099aabbccddeeff1122334455667788\n" \
	"    eflags 0x246\n" \
	"    gs 0x0\n" \
	"    last unavailable\n" \
	"    more, bytes of the block from 40 on:\n" \
	"    0x28: 41 42                                            AB\n" \
	"Frame 2: tracepoint 2, pc unavailable: the tracepoint does while-stepping\n" \
	"Frame 3: tracepoint 1, pc 0x400020 from the tracepoint\n" \
	"  leaf at /inc/leaf.h:3:9 (inlined)\n" \
	"  a::middle() at /inc/leaf.h:7:5 (inlined)\n" \
	"  main at /src/main.c:11:4\n" \
	"Frame 4: tracepoint 3, pc unavailable: the tracepoint has multiple locations\n" \
	"Frame 5: tracepoint 77, pc 0x10 from registers\n" \
	"  ??\n" \
	"  registers 42 bytes\n" \
	"    rip 0x10\n" \
	"    rsp 0x7ff0\n" \
	"    xmm0 0x0099aabbccddeeff1122334455667788\n" \
	"    eflags 0x246\n" \
	"    gs 0x0\n" \
	"    last unavailable\n" \
	"    more, bytes of the block from 40 on:\n" \
	"    0x28: 41 42                                            AB\n" \
	"  0x7ff0..0x7ff8 8 bytes\n" \
	"    0x7ff0: 29 00 40 00 00 00 00 00                          ).@.....\n" \
	"Frame 6: tracepoint 1, pc 0x400031 from registers\n" \
	"  ?? in exe\n" \
	"  registers 42 bytes\n" \
	"    rip 0x400031\n" \
	"    rsp 0x7ff0\n" \
	"    xmm0 0x0099aabbccddeeff1122334455667788\n" \
	"    eflags 0x246\n" \
	"    gs 0x0\n" \
	"    last unavailable\n" \
	"    more, bytes of the block from 40 on:\n" \
	"    0x28: 41 42                                            AB\n"

#define FRAMES_WITH_STACKS \
	"Frame 0: tracepoint 1, pc 0x400020 from registers\n" \
	"  leaf at /inc/leaf.h:3:9 (inlined)\n" \
	"  a::middle() at /inc/leaf.h:7:5 (inlined)\n" \
	"  main at /src/main.c:11:4\n" \
	"  no unwind information of the module: exe\n" \
	"  registers 42 bytes\n" \
	"  0x401010..0x401014 4 bytes field = 0x4030201\n" \
	"  0x401000..0x401014 20 bytes table\n" \
	"  0x401018..0x40101a 2 bytes table+24\n" \
	"  0x7000..0x7001 1 bytes\n" \
	"  $hits = -5\n" \
	"  variable 9 (not defined) = 7\n" \
	"  static tracepoint data 3 bytes\n" \
	"Frame 1: tracepoint 2, stepping, pc 0x400029 from registers\n" \
	"  main at /src/main.c:12:2\n" \
	"  no unwind information of the module: exe\n" \
	"  registers 42 bytes\n" \
	"Frame 2: tracepoint 2, pc unavailable: the tracepoint does while-stepping\n" \
	"Frame 3: tracepoint 1, pc 0x400020 from the tracepoint\n" \
	"  leaf at /inc/leaf.h:3:9 (inlined)\n" \
	"  a::middle() at /inc/leaf.h:7:5 (inlined)\n" \
	"  main at /src/main.c:11:4\n" \
	"  no stack: no registers were collected\n" \
	"Frame 4: tracepoint 3, pc unavailable: the tracepoint has multiple locations\n" \
	"Frame 5: tracepoint 77, pc 0x10 from registers\n" \
	"  ??\n" \
	"  #1     ? 0x0000000000400029  main at /src/main.c:12:2 (exe+0x400029) [call]\n" \
	"  no unwind information of the module: exe\n" \
	"  registers 42 bytes\n" \
	"  0x7ff0..0x7ff8 8 bytes\n" \
	"Frame 6: tracepoint 1, pc 0x400031 from registers\n" \
	"  ?? in exe\n" \
	"  the address is in no module: name it with --module\n" \
	"  registers 42 bytes\n"

#define COUNTED \
	"7 frames\n" \
	"         3  tracepoint 1 at 0x400020\n" \
	"         2  tracepoint 2 at 0x400028\n" \
	"         1  tracepoint 3, 2 locations\n" \
	"         1  tracepoint 77, not defined\n" \
	"         2  leaf at /inc/leaf.h:3\n" \
	"         1  ??\n" \
	"         1  ?? in exe\n" \
	"         1  main at /src/main.c:12\n" \
	"         1  pc unavailable: the tracepoint has multiple locations\n" \
	"         1  pc unavailable: the tracepoint does while-stepping\n"

#define AS_JSON \
	"{\"type\":\"trace\",\"file\":\"FILE\",\"byte_order\":\"little\"," \
	"\"register_block_size\":42,\"architecture\":\"i386:x86-64\",\"status\":{\"known\":true," \
	"\"running\":false,\"stop_reason\":\"pass-count\",\"stop_tracepoint\":2,\"frames\":6," \
	"\"frames_created\":9,\"buffer_free\":100,\"buffer_size\":200," \
	"\"disconnected_tracing\":true,\"circular\":true,\"start_us\":1001000," \
	"\"stop_us\":2000000,\"user\":\"me\",\"notes\":\"hi\\n\"}}\n" \
	"{\"type\":\"tracepoint\",\"number\":1,\"address\":\"0x400020\",\"defined\":true," \
	"\"enabled\":true,\"kind\":\"trap\",\"steps\":0,\"pass_count\":0,\"hits\":1," \
	"\"buffer_usage\":30,\"module\":\"exe\",\"module_address\":\"0x400020\"," \
	"\"functions\":[{\"function\":\"leaf\",\"file\":\"/inc/leaf.h\",\"line\":3,\"column\":9," \
	"\"inlined\":true},{\"function\":\"a::middle()\",\"file\":\"/inc/leaf.h\",\"line\":7," \
	"\"column\":5,\"inlined\":true},{\"function\":\"main\",\"file\":\"/src/main.c\"," \
	"\"line\":11,\"column\":4,\"inlined\":false}],\"at\":[\"file 11\"]," \
	"\"condition\":[\"a > 1\"],\"collects\":[{\"registers\":\"3\"},{\"memory\":\"0x401010\"," \
	"\"size\":4,\"symbol\":\"field\",\"offset\":0},{\"memory\":\"0x401000\",\"size\":16," \
	"\"symbol\":\"table\",\"offset\":0},{\"base_register\":7,\"displacement\":8,\"size\":16}," \
	"{\"bytecode\":\"0102\"},{\"static_data\":true}]}\n" \
	"{\"type\":\"tracepoint\",\"number\":2,\"address\":\"0x400028\",\"defined\":true," \
	"\"enabled\":false,\"kind\":\"fast\",\"steps\":2,\"pass_count\":5,\"module\":\"exe\"," \
	"\"module_address\":\"0x400028\",\"functions\":[{\"function\":\"main\"," \
	"\"file\":\"/src/main.c\",\"line\":12,\"column\":2,\"inlined\":false}]," \
	"\"condition_bytecode\":\"010203\",\"commands\":[\"collect\"]," \
	"\"collects_stepping\":[{\"memory\":\"0x401018\",\"size\":2,\"symbol\":\"table\"," \
	"\"offset\":24}]}\n" \
	"{\"type\":\"tracepoint\",\"number\":3,\"address\":\"0x400010\",\"defined\":true," \
	"\"enabled\":true,\"kind\":\"static\",\"steps\":0,\"pass_count\":0,\"module\":\"exe\"," \
	"\"module_address\":\"0x400010\",\"functions\":[{\"function\":\"main\"," \
	"\"file\":\"/src/main.c\",\"line\":10,\"column\":1,\"inlined\":false}]}\n" \
	"{\"type\":\"tracepoint\",\"number\":3,\"address\":\"0x400028\",\"defined\":true," \
	"\"enabled\":true,\"kind\":\"trap\",\"steps\":0,\"pass_count\":0,\"hits\":2," \
	"\"buffer_usage\":40,\"module\":\"exe\",\"module_address\":\"0x400028\"," \
	"\"functions\":[{\"function\":\"main\",\"file\":\"/src/main.c\",\"line\":12,\"column\":2," \
	"\"inlined\":false}]}\n" \
	"{\"type\":\"tracepoint\",\"number\":4,\"address\":\"0x400030\",\"defined\":false," \
	"\"kind\":\"trap\",\"steps\":0,\"pass_count\":0,\"module\":\"exe\"," \
	"\"module_address\":\"0x400030\",\"functions\":[],\"collects\":[{\"registers\":\"1\"}]}\n" \
	"{\"type\":\"variable\",\"name\":\"hits\",\"number\":1,\"initial\":2,\"builtin\":false}\n" \
	"{\"type\":\"variable\",\"name\":\"time\",\"number\":2,\"initial\":-1,\"builtin\":true}\n" \
	"{\"type\":\"frame\",\"number\":0,\"tracepoint\":1,\"stepping\":false," \
	"\"pc\":\"0x400020\",\"pc_from\":\"registers\",\"module\":\"exe\"," \
	"\"module_address\":\"0x400020\",\"functions\":[{\"function\":\"leaf\"," \
	"\"file\":\"/inc/leaf.h\",\"line\":3,\"column\":9,\"inlined\":true}," \
	"{\"function\":\"a::middle()\",\"file\":\"/inc/leaf.h\",\"line\":7,\"column\":5," \
	"\"inlined\":true},{\"function\":\"main\",\"file\":\"/src/main.c\",\"line\":11," \
	"\"column\":4,\"inlined\":false}],\"stack\":[],\"stopped\":\"no_unwind\"," \
	"\"blocks\":[{\"register_bytes\":42,\"registers\":{\"rip\":\"0x400020\"," \
	"\"rsp\":\"0x7ff0\",\"xmm0\":\"8877665544332211ffeeddccbbaa9900\",\"eflags\":\"0x246\"," \
	"\"gs\":\"0x0\"},\"bytes\":\"2000400000000000f07f0000000000008877665544332211ffee" \
	"ddccbbaa990046020000000000004142\"},{\"memory\":\"0x401010\",\"size\":4," \
	"\"symbol\":\"field\",\"offset\":0,\"value\":\"0x4030201\",\"bytes\":\"01020304\"}," \
	"{\"memory\":\"0x401000\",\"size\":20,\"symbol\":\"table\",\"offset\":0," \
	"\"bytes\":\"4142434445464748494a4b4c4d4e4f017fff7a7a\"},{\"memory\":\"0x401018\"," \
	"\"size\":2,\"symbol\":\"table\",\"offset\":24,\"bytes\":\"6162\"}," \
	"{\"memory\":\"0x7000\",\"size\":1,\"bytes\":\"00\"},{\"variable\":\"hits\",\"number\":1," \
	"\"value\":-5},{\"number\":9,\"value\":7},{\"static_data_size\":3," \
	"\"bytes\":\"730074\"}]}\n" \
	"{\"type\":\"frame\",\"number\":1,\"tracepoint\":2,\"stepping\":true,\"pc\":\"0x400029\"," \
	"\"pc_from\":\"registers\",\"module\":\"exe\",\"module_address\":\"0x400029\"," \
	"\"functions\":[{\"function\":\"main\",\"file\":\"/src/main.c\",\"line\":12,\"column\":2," \
	"\"inlined\":false}],\"stack\":[],\"stopped\":\"no_unwind\"," \
	"\"blocks\":[{\"register_bytes\":42,\"registers\":{\"rip\":\"0x400029\"," \
	"\"rsp\":\"0x7ff0\",\"xmm0\":\"8877665544332211ffeeddccbbaa9900\",\"eflags\":\"0x246\"," \
	"\"gs\":\"0x0\"},\"bytes\":\"2900400000000000f07f0000000000008877665544332211ffee" \
	"ddccbbaa990046020000000000004142\"}]}\n" \
	"{\"type\":\"frame\",\"number\":2,\"tracepoint\":2,\"stepping\":false," \
	"\"pc_unavailable\":\"the tracepoint does while-stepping\",\"blocks\":[]}\n" \
	"{\"type\":\"frame\",\"number\":3,\"tracepoint\":1,\"stepping\":false," \
	"\"pc\":\"0x400020\",\"pc_from\":\"tracepoint\",\"module\":\"exe\"," \
	"\"module_address\":\"0x400020\",\"functions\":[{\"function\":\"leaf\"," \
	"\"file\":\"/inc/leaf.h\",\"line\":3,\"column\":9,\"inlined\":true}," \
	"{\"function\":\"a::middle()\",\"file\":\"/inc/leaf.h\",\"line\":7,\"column\":5," \
	"\"inlined\":true},{\"function\":\"main\",\"file\":\"/src/main.c\",\"line\":11," \
	"\"column\":4,\"inlined\":false}],\"stack_unavailable\":\"no registers were collected\"," \
	"\"blocks\":[]}\n" \
	"{\"type\":\"frame\",\"number\":4,\"tracepoint\":3,\"stepping\":false," \
	"\"pc_unavailable\":\"the tracepoint has multiple locations\",\"blocks\":[]}\n" \
	"{\"type\":\"frame\",\"number\":5,\"tracepoint\":77,\"stepping\":false,\"pc\":\"0x10\"," \
	"\"pc_from\":\"registers\",\"functions\":[],\"stack\":[{\"frame\":1,\"pc\":\"0x400029\"," \
	"\"trust\":\"call\",\"module\":\"exe\",\"module_address\":\"0x400028\"," \
	"\"functions\":[{\"function\":\"main\",\"file\":\"/src/main.c\",\"line\":12,\"column\":2," \
	"\"inlined\":false}]}],\"stopped\":\"no_unwind\",\"blocks\":[{\"register_bytes\":42," \
	"\"registers\":{\"rip\":\"0x10\",\"rsp\":\"0x7ff0\"," \
	"\"xmm0\":\"8877665544332211ffeeddccbbaa9900\",\"eflags\":\"0x246\",\"gs\":\"0x0\"}," \
	"\"bytes\":\"1000000000000000f07f0000000000008877665544332211ffeeddccbbaa99004602" \
	"0000000000004142\"},{\"memory\":\"0x7ff0\",\"size\":8," \
	"\"bytes\":\"2900400000000000\"}]}\n" \
	"{\"type\":\"frame\",\"number\":6,\"tracepoint\":1,\"stepping\":false," \
	"\"pc\":\"0x400031\",\"pc_from\":\"registers\",\"module\":\"exe\"," \
	"\"module_address\":\"0x400031\",\"functions\":[],\"stack\":[],\"stopped\":\"no_module\"," \
	"\"blocks\":[{\"register_bytes\":42,\"registers\":{\"rip\":\"0x400031\"," \
	"\"rsp\":\"0x7ff0\",\"xmm0\":\"8877665544332211ffeeddccbbaa9900\",\"eflags\":\"0x246\"," \
	"\"gs\":\"0x0\"},\"bytes\":\"3100400000000000f07f0000000000008877665544332211ffee" \
	"ddccbbaa990046020000000000004142\"}]}\n"

#define COUNTED_AS_JSON \
	"{\"type\":\"summary\",\"file\":\"FILE\",\"frames\":7,\"tracepoints\":[{\"tracepoint\":1," \
	"\"frames\":3},{\"tracepoint\":2,\"frames\":2},{\"tracepoint\":3,\"frames\":1}," \
	"{\"tracepoint\":77,\"frames\":1}],\"lines\":[{\"function\":\"leaf\"," \
	"\"file\":\"/inc/leaf.h\",\"line\":3,\"frames\":2},{\"function\":\"??\",\"frames\":1}," \
	"{\"function\":\"?? in exe\",\"frames\":1},{\"function\":\"main\"," \
	"\"file\":\"/src/main.c\",\"line\":12,\"frames\":1}]," \
	"\"pc_unavailable\":[{\"reason\":\"the tracepoint has multiple locations\",\"frames\":1}," \
	"{\"reason\":\"the tracepoint does while-stepping\",\"frames\":1}]}\n"

#endif
