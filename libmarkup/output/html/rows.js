/* Logs and stacks: search by blocks of lines, steps, links, copies, places that open. */
const log=$("#log"),bar=$(".bar"),blocks=all(".b,.c",log),seen=new Set();
let hits=0,now=-1,at,place=0,folds,only=false;
const first=b=>b.dataset.f||b.children[0].value,inert=b=>b.firstChild.tagName==="NOSCRIPT";
const below=e=>e.getBoundingClientRect().bottom>bar.offsetHeight;
const shut=e=>e.closest("details:not([open])");
const show=e=>{for(let d;d=shut(e);)d.open=true;e.scrollIntoView({block:"nearest"})};
const watch=new IntersectionObserver(es=>{
	for(const e of es){seen[e.isIntersecting?"add":"delete"](e.target);if(e.isIntersecting)mark(e.target)}
	paint()},{rootMargin:"100%"});
let seenLink={};
const spy=new IntersectionObserver(es=>{
	for(const e of es){
		const a=e.isIntersecting&&$(`#o a[href="#${e.target.dataset.l}"]`);
		if(a){seenLink.ariaCurrent=null;(seenLink=a).ariaCurrent="true"}}
},{rootMargin:"-10% 0px -80%"});
/* A part of a large page is text until it is needed; what it says is known before. */
const said=b=>b.text??=inert(b)?b.textContent.match(/<ol.*?<\/ol>/gs).join("").replace(/<[^>]*>/g,"")
	.replace(/&(\w+);/g,(_,e)=>({lt:"<",gt:">",amp:"&",quot:'"'})[e]||"\xa0"):b.textContent;
const turn=e=>all(".in,.r0,details.t",e).forEach(d=>d.open=folds);
function fill(b){
	if(!inert(b))return;
	said(b);
	b.innerHTML=b.textContent;
	all(".t",b).forEach(t=>spy.observe(t));
	if(folds!=null)turn(b);
}
function mark(b){
	fill(b);
	if(b.ranges)return;
	for(const l of all(".hit,.some",b))l.classList.remove("hit","some");
	const walk=document.createTreeWalker(b,4,n=>n.parentNode.closest("li")?1:2);
	let node=walk.nextNode(),base=0;
	const skip=p=>{while(p>base+node.length){base+=node.length;node=walk.nextNode()}};
	b.ranges=(b.hits||[]).map(p=>{
		const r=new Range();
		skip(p+1);r.setStart(node,p-base);
		skip(p+q.value.length);r.setEnd(node,p+q.value.length-base);
		const l=r.startContainer.parentNode.closest("li");
		l.classList.add("hit");l.parentNode.classList.add("some");
		return r});
}
const range=i=>{const b=blocks.findLast(b=>b.from<=i);mark(b);return b.ranges[i-b.from]};
const node=i=>range(i).startContainer.parentNode;
function paint(){
	hl("hit",[...seen].flatMap(b=>b.ranges||[]));
	hl("cur",now<0?[]:[range(now)]);
	$("#n").textContent=!q.value?"":hits?now+1+" of "+hits:"not found";
}
function search(){
	const re=wanted();
	hits=0;now=-1;
	for(const b of blocks){
		b.from=hits;
		b.hits=re?Array.from(said(b).matchAll(re),m=>m.index):[];
		b.ranges=null;
		hits+=b.hits.length;
		b.classList.toggle("some",b.hits[0]>=0)}
	seen.forEach(mark);
	log.classList.toggle("only",!!re&&only);
	const b=blocks.find(b=>b.hits[0]>=0&&below(b));
	let i=b?.from;
	while(b?.hits[i-b.from]>=0&&!below(node(i)))i++;
	go(0,i%hits||0);
}
function go(d,i=(now+d+hits)%hits){
	if(hits>i){
		now=i;
		const e=node(i);
		line(e.closest("li"));
		if(e.closest("u"))e.closest(".r").classList.add("long");
		if(e.closest("s"))flag("addr",true);
		show(e)}
	paint();
}
function line(l,focus){
	at?.classList.remove("now");
	(at=l).classList.add("now");
	if(!focus)return;
	show(l);l.tabIndex=-1;l.focus({preventScroll:true});
}
function step(s,d){
	const p=at||blocks.find(below)||log,can=l=>l!==at&&(d>0)!==!!(p.compareDocumentPosition(l)&2)&&(s[0]==="."||!shut(l));
	for(let i=blocks.findIndex(b=>b.contains(p));blocks[i];i+=d){
		const b=blocks[i];
		if(s[0]==="."&&inert(b)&&!b.textContent.includes("<section"))continue;
		fill(b);
		const l=all(s,b)[d>0?"find":"findLast"](can);
		if(l)return line(l,true)}
}
/* #L48, #L2.48 in the second input, #T25761 of a thread. */
function named(){
	const h=location.hash,[,i=1,n]=/^#L(?:(\d+)\.)?(\d+)$/.exec(h)||[];
	const holds=(b,bs)=>bs.findLast(b=>(b.dataset.i||1)==i&&first(b)<=n)||b;
	let b=n&&holds(0,blocks);
	if(b){fill(b);b=holds(b,all(".b",b))}
	const l=b?b.children[n-first(b)]:/^#T\d+$/.test(h)&&$(h+" li");
	if(l)line(l,true);
}
function link(l){
	if(!l)return;
	line(l);
	const b=l.parentNode,i=b.dataset.i;
	history.replaceState(0,"","#"+(l.closest("[id^=T]")?.id||"L"+(i?i+".":"")+(first(b)+[...b.children].indexOf(l))));
}
const part=(r,s)=>r.querySelector(s)?.textContent.trim();
const row=(r,i,[f])=>"    "+[i?"in":part(r,"i"),part(f,"small s"),part(r,"b"),part(r,"cite"),r.querySelector("small")?.firstChild.data.trim()].filter(Boolean).join(" ");
const text=t=>all("li",t).map(l=>all(".r",l).map(row).join("\n")||l.textContent.trimEnd()).join("\n")+"\n";
Object.assign(keys,{
	n:()=>go(1),N:()=>go(-1),
	j:()=>step("li",1),k:()=>step("li",-1),b:()=>step(".t li:first-child",1),B:()=>step(".t li:first-child",-1),
	u:()=>{folds=!!$(":is(.in,.r0,details.t):not([open])");turn(log)},
	a:()=>flag("addr"),s:()=>flag("long"),
	c:e=>{const t=(e||at||log).closest(".t")||$(".t");copy(text(t),t)},
	l:()=>{link(at);copy(location.href,at||log)},
	e:()=>open((document.activeElement.closest(".r")||at||log).querySelector("cite")),
	o:()=>{$("[data-k=o]").ariaPressed=only=!only;search()},
	m:()=>{const d=$(".need");if(d){d.open=!d.open;d.firstChild.focus()}}});
const enter=d=>now<0?search():go(d);
const leave=()=>scrollTo(0,place);
onclick=e=>{
	const t=e.target,b=t.closest("[data-k]"),l=t.closest(".b>li"),c=t.closest("li cite");
	if(b){e.preventDefault();keys[b.dataset.k](b)}
	else if(t.closest("#o a"))$("#o").hidePopover();
	else if(l&&c&&pattern()){e.preventDefault();open(c)}
	else if(l&&!String(getSelection()))(t===l&&e.offsetX<parseFloat(getComputedStyle(l).paddingLeft)-8?link:line)(l)};
q.onfocus=()=>{if(!q.value)place=scrollY};
all(".t").forEach(t=>spy.observe(t));
blocks.forEach(b=>watch.observe(b));
onbeforeprint=()=>blocks.forEach(fill);
/* So that the browser's own search finds all of a page of some 50,000 lines. */
const parts=blocks.filter(inert).slice(0,90),later=()=>{
	const b=parts.shift();
	if(b){fill(b);setTimeout(later,20)}};
$("#link").value=pattern();
$("#link").onchange=e=>put("link",e.target.value);
onhashchange=named;named();setTimeout(later,99);
const why=$(".why");
if(why)document.title+=": "+why.textContent+" in "+$("h1").textContent;
