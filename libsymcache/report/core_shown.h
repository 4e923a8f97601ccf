/* The page that core_test.c expects; for tests only. */
#ifndef MARKUP_REPORT_CORE_SHOWN_H
#define MARKUP_REPORT_CORE_SHOWN_H

#define PAGE \
	"<main>\n" \
	"<div id=log tabindex=-1>\n" \
	"<details class=t id=T7 data-l=T7 open><summary><h2><span><b class=bad>SIGABRT" \
	"</b> thread 7 · <b class=fn>leaf</b> leaf.h:3</span><small>1 frame</small>" \
	"<button data-k=c aria-label=\"Copy the stack as text\">Copy</button></h2></summary>" \
	"<ol class=b><li class=f><details class=r0 open><summary class=\"r o\"><i>#0</i> <b>leaf" \
	"</b> <cite><span>/inc/</span>leaf.h:3<span>:9</span></cite><small>&nbsp;(tiny+0x21) " \
	"<s>0x0000000000400021</s></small></summary><div class=\"src mono\">" \
	"<span class=h>3  &lt;three&gt;\n" \
	"</span></div></details><details class=in><summary>inlined into <b>main" \
	"</b> through 1 more · main.c:11</summary><div class=\"r o\"><b>a::middle<u>()</u></b> " \
	"<cite><span>/inc/</span>leaf.h:7<span>:5</span></cite></div><details class=r0>" \
	"<summary class=\"r o\"><b>main</b> <cite><span>/src/</span>main.c:11<span>:4</span>" \
	"</cite></summary><div class=\"src mono\"><span class=h>11  11\n" \
	"</span></div></details></details><details class=in><summary>registers</summary>" \
	"<div class=\"regs mono\"><span> rax 0000000000000000</span> <span> rdx 0000000000000000" \
	"</span> <span> rcx 0000000000000000</span> <span> rbx 0000000000000000</span> " \
	"<span> rsi 0000000000000000</span> <span> rdi 0000000000000000</span> " \
	"<span> rbp 0000000000000000</span> <span> rsp 0000000000007000</span> " \
	"<span>  r8 0000000000000000</span> <span>  r9 0000000000000000</span> " \
	"<span> r10 0000000000000000</span> <span> r11 0000000000000000</span> " \
	"<span> r12 0000000000000000</span> <span> r13 0000000000000000</span> " \
	"<span> r14 0000000000000000</span> <span> r15 0000000000000000</span> </div></details>\n" \
	"</ol><p class=\"ids dim\">no unwind information of the module: tiny</p></details>\n" \
	"<details class=t id=T8 data-l=T8><summary><h2><span><b>2 threads</b> · <b class=fn>?" "?" \
	"</b> </span><small>1 frame</small><button data-k=c aria-label=\"Copy the stack a" \
	"s text\">Copy</button></h2></summary><p class=\"ids mono\">8 9</p><ol class=b>" \
	"<li class=f><div class=\"r x\"><i>#0</i> <b>tiny+0x31</b> <cite class=bad>no symbols" \
	"</cite><small>&nbsp;<s>0x0000000000400031</s></small></div><details class=in>" \
	"<summary>registers</summary><div class=\"regs mono\"><span> rax 0000000000000000" \
	"</span> <span> rdx 0000000000000000</span> <span> rcx 0000000000000000</span> " \
	"<span> rbx 0000000000000000</span> <span> rsi 0000000000000000</span> " \
	"<span> rdi 0000000000000000</span> <span> rbp 0000000000000000</span> " \
	"<span> rsp 0000000000007000</span> <span>  r8 0000000000000000</span> " \
	"<span>  r9 0000000000000000</span> <span> r10 0000000000000000</span> " \
	"<span> r11 0000000000000000</span> <span> r12 0000000000000000</span> " \
	"<span> r13 0000000000000000</span> <span> r14 0000000000000000</span> " \
	"<span> r15 0000000000000000</span> </div></details>\n" \
	"</ol><p class=\"ids dim\">no unwind information of the module: tiny</p></details>\n" \
	"<details class=t id=T10 data-l=T10><summary><h2><span>thread 10 · <b class=fn>?" "?</b> " \
	"</span><small>1 frame</small><button data-k=c aria-label=\"Copy the stack as tex" \
	"t\">Copy</button></h2></summary><ol class=b><li class=f><div class=\"r x\"><i>#0</i> " \
	"<b>0x0000000000000077</b> <cite class=bad>is not in any module</cite><small>&nbsp;" \
	"<s>0x0000000000000077</s></small></div><details class=in><summary>registers</summary>" \
	"<div class=\"regs mono\"><span> rax 0000000000000000</span> <span> rdx 0000000000000000" \
	"</span> <span> rcx 0000000000000000</span> <span> rbx 0000000000000000</span> " \
	"<span> rsi 0000000000000000</span> <span> rdi 0000000000000000</span> " \
	"<span> rbp 0000000000000000</span> <span> rsp 0000000000007000</span> " \
	"<span>  r8 0000000000000000</span> <span>  r9 0000000000000000</span> " \
	"<span> r10 0000000000000000</span> <span> r11 0000000000000000</span> " \
	"<span> r12 0000000000000000</span> <span> r13 0000000000000000</span> " \
	"<span> r14 0000000000000000</span> <span> r15 0000000000000000</span> </div></details>\n" \
	"</ol><p class=\"ids dim\">the address is in no module</p></details>\n" \
	"</div>\n" \
	"<section class=head id=head aria-label=\"What crashed\">\n" \
	"<p class=why><b class=bad>SIGABRT</b></p>\n" \
	"<h1>leaf</h1>\n" \
	"<p><cite><span>/inc/</span>leaf.h:3<span>:9</span></cite> · <a href=\"#T7\">thread 7" \
	"</a></p>\n" \
	"<dl class=facts>\n" \
	"<div><dt>program<dd>unknown</div>\n" \
	"<div><dt>process<dd>x86-64</div>\n" \
	"<div><dt>threads<dd>4 in 3 stacks</div>\n" \
	"</dl>\n" \
	"<details class=need id=modules><summary><span class=bad>1 of 1 module lacks something" \
	"</span></summary>\n" \
	"<div class=wrap><table><thead><tr><th class=num>frames<th>module<th>build ID" \
	"<th class=wide>start</thead><tbody>\n" \
	"<tr><td class=num>3<td><code>/x/tiny</code> <span class=bad>no unwind information" \
	"</span><td><code>0000000000000000000000000000000000000000</code><td class=wide>" \
	"<code>0x0000000000400000</code>\n" \
	"</table></div>\n" \
	"</details>\n" \
	"</section>\n" \
	"</main>\n" \
	"<nav popover id=o aria-label=Threads><h2>4 threads, 3 stacks</h2><ol>\n" \
	"<li><a href=\"#T7\"><span><b class=bad>SIGABRT</b> thread 7</span><small></small>" \
	"<b class=mono>leaf</b><cite>leaf.h:3</cite></a>\n" \
	"<li><a href=\"#T8\"><span><b>2 threads</b></span><small></small><b class=mono>?" "?</b>" \
	"<cite></cite></a>\n" \
	"<li><a href=\"#T10\"><span>thread 10</span><small></small><b class=mono>?" "?</b><cite>" \
	"</cite></a>\n" \
	"</ol>"

#endif
