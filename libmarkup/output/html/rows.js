/* Logs and stacks: search by blocks of lines, steps, links, copies, places that open. */
const log=$("#log"),bar=$(".bar"),blocks=all(".b",log),seen=new Set();
let hits=[],now=-1,at,place=0;
const watch=new IntersectionObserver(es=>{
	for(const e of es){seen[e.isIntersecting?"add":"delete"](e.target);if(e.isIntersecting)mark(e.target)}
	paint()},{rootMargin:"100%"});
for(const b of blocks)watch.observe(b);
function mark(b){
	if(b.ranges)return;
	for(const l of all(".hit",b))l.classList.remove("hit");
	const walk=document.createTreeWalker(b,4);
	let node=walk.nextNode(),base=0;
	const skip=p=>{while(p>base+node.length){base+=node.length;node=walk.nextNode()}};
	b.ranges=(b.hits||[]).map(p=>{
		const r=new Range();
		skip(p+1);r.setStart(node,p-base);
		skip(p+q.value.length);r.setEnd(node,p+q.value.length-base);
		r.startContainer.parentNode.closest("li").classList.add("hit");
		return r});
}
const range=i=>{const[b,k]=hits[i];mark(b);return b.ranges[k]};
function paint(){
	hl("hit",[...seen].flatMap(b=>b.ranges||[]));
	hl("cur",now<0?[]:[range(now)]);
	$("#n").textContent=!q.value?"":hits.length?now+1+" of "+hits.length:"not found";
}
function search(){
	const re=wanted(),only=$("[data-k=o]").ariaPressed==="true";
	hits=[];now=-1;
	for(const b of blocks){
		b.hits=re?Array.from((b.text??=b.textContent).matchAll(re),m=>m.index):[];
		b.ranges=null;
		b.classList.toggle("some",b.hits[0]>=0);
		b.hits.forEach((_,k)=>hits.push([b,k]))}
	seen.forEach(mark);
	log.classList.toggle("only",!!re&&only);
	const from=e=>e.getBoundingClientRect().bottom>bar.offsetHeight;
	go(0,Math.max(0,hits.findIndex(([b],i)=>from(b)&&from(range(i).startContainer.parentNode))));
}
function go(d,i=(now+d+hits.length)%hits.length){
	if(hits[i]){
		now=i;
		const e=range(i).startContainer.parentNode;
		line(e.closest("li"));
		for(let d=e;d=d.closest("details:not([open])");)d.open=true;
		if(e.closest("u"))e.closest(".r").classList.add("long");
		if(e.closest("s"))flag("addr",true);
		e.scrollIntoView({block:"nearest"})}
	paint();
}
function line(l,focus){
	at?.classList.remove("now");
	(at=l).classList.add("now");
	if(!focus)return;
	for(let d=l;d=d.closest("details:not([open])");)d.open=true;
	l.tabIndex=-1;l.focus({preventScroll:true});l.scrollIntoView({block:"nearest"});
}
function step(s,d){
	const p=at||blocks.find(b=>b.getBoundingClientRect().bottom>bar.offsetHeight);
	const can=l=>l!==at&&(d>0)!==!!(p.compareDocumentPosition(l)&2)&&(s[0]==="."||!l.closest("details:not([open])"));
	const l=all(s,log)[d>0?"find":"findLast"](can);
	if(l)line(l,true);
}
const first=b=>b.children[0].value;
/* #L48, #L2.48 in the second input, #T25761 of a thread. */
function named(){
	const[,i=1,n]=/^#L(?:(\d+)\.)?(\d+)$/.exec(location.hash)||[],t=!n&&location.hash[1]==="T"&&$(location.hash);
	const b=n&&blocks.findLast(b=>(b.dataset.i||1)==i&&first(b)<=n),l=b?b.children[n-first(b)]:t&&$(location.hash+" li");
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
	u:()=>{const d=all(".in,.r0,details.t",log),o=d.some(x=>!x.open);for(const x of d)x.open=o},
	a:()=>flag("addr"),s:()=>flag("long"),
	c:e=>{const t=(e||at||log).closest(".t")||$(".t");copy(text(t),t)},
	l:()=>{link(at);copy(location.href,at||log)},
	e:()=>open((document.activeElement.closest(".r")||at||log).querySelector("cite")),
	o:()=>{const b=$("[data-k=o]");b.ariaPressed=b.ariaPressed!=="true";search()},
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
let seenLink;
const spy=new IntersectionObserver(es=>{
	for(const e of es){
		const a=e.isIntersecting&&$(`#o a[href="#${e.target.dataset.l}"]`);
		if(!a)continue;
		if(seenLink)seenLink.ariaCurrent=null;
		(seenLink=a).ariaCurrent="true"}
},{rootMargin:"-10% 0px -80%"});
for(const t of all(".t"))spy.observe(t);
$("#link").value=pattern();
$("#link").onchange=e=>put("link",e.target.value);
onhashchange=named;named();
const why=$(".why");
if(why)document.title+=": "+why.textContent+" in "+$("h1").textContent;
