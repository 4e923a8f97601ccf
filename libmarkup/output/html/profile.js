/* The flame graph: a tree in preorder (depth, function·2 + inlined, own value of each type), drawn
   on a canvas; what is narrower than a pixel is one line with its neighbours. */
const P=JSON.parse($("#profile").textContent),F=P.functions,M=P.modules,RH=19,STEP=2+P.types.length;
const g=$("#g"),cv=$("canvas"),cx=cv.getContext("2d"),panel=$("#d"),top=$("#top tbody"),select=$("select");
const esc=s=>s.replace(/[&<>"]/g,c=>"&#"+c.charCodeAt()+";"),label=f=>F[f][5]||F[f][0];
let type=P.chosen,T,own,total,down=get("icicle")!=="0",view,sel=[0,0],match,W,ink={},bySelf=true,frame;
const scales={nanoseconds:["ns",1,"µs",1e3,"ms",1e6,"s",1e9],bytes:["B",1,"KiB",1024,"MiB",1048576,"GiB",1073741824]};
function num(v){
	const s=scales[P.types[type][1]];
	if(!s)return v.toLocaleString("en");
	let i=s.length-2;
	while(i&&v<s[i+1])i-=2;
	v/=s[i+1];
	return v.toFixed(!i||v>=100?0:v<10?2:1)+" "+s[i];
}
const pct=(v,of=T.tot[0])=>(of?100*v/of:0).toFixed(1)+" %";
const much=v=>num(v)+" · "+pct(v),cell=v=>`<td class=num>${num(v)} <span class=p>${pct(v)}</span>`;
function tree(a,step,at){
	const n=a.length/step,of=()=>new Float64Array(n),t={n,max:0,depth:of(),fn:new Uint32Array(n),self:of(),tot:of(),x:of(),end:of(),up:of()},from=of(),path=[];
	for(let i=0;i<n;i++){
		const d=a[step*i];
		while(path.length>d)t.end[path.pop()]=i;
		t.up[i]=path.at(-1)??-1;path.push(i);
		t.depth[i]=d;t.fn[i]=a[step*i+1];t.tot[i]=t.self[i]=a[step*i+at];
		t.max=Math.max(t.max,d)}
	for(const i of path)t.end[i]=n;
	for(let i=n;--i>0;)t.tot[t.up[i]]+=t.tot[i];
	for(let i=0;i<n;i++){const u=t.up[i];t.x[i]=u<0?0:from[u];if(u>=0)from[u]+=t.tot[i];from[i]=t.x[i]}
	return t;
}
function load(){
	const of=()=>new Float64Array(F.length),until=of();
	T=tree(P.tree,STEP,2+type);own=of();total=of();
	for(let i=1;i<T.n;i++){const f=T.fn[i]>>1;own[f]+=T.self[i];if(i>=until[f]){total[f]+=T.tot[i];until[f]=T.end[i]}}
	whole();search();
}
function whole(){
	view=[{t:T,dir:down?1:-1,base:down?0:T.max,z:0}];sel=[0,0];
	$("[data-k=i]").textContent=down?"Flame":"Icicle";
	size();g.scrollTop=down?0:1e9;tell(sel);crumbs();
}
/* Callers and callees of a function, of all places where it is. */
function both(f){
	const node=k=>({k,v:0,c:new Map()}),up=node(f<<1),dn=node(f<<1);
	const into=(n,k,v)=>{let c=n.c.get(k);if(!c)n.c.set(k,c=node(k));c.v+=v;return c};
	for(let i=1;i<T.n;)if(T.fn[i]>>1!==f)i++;else{
		const s=[dn];
		dn.v+=T.self[i];
		for(let j=i+1;j<T.end[i];j++){const d=T.depth[j]-T.depth[i];s[d]=into(s[d-1],T.fn[j],T.self[j])}
		let n=up;
		for(let j=T.up[i];j>0;j=T.up[j])n=into(n,T.fn[j],0);
		n.v+=T.tot[i];i=T.end[i]}
	const flat=r=>{const a=[],s=[[r,0]];while(s.length){const[n,d]=s.pop();a.push(d,n.k,n.v);for(const c of n.c.values())s.push([c,d+1])}return tree(a,3,2)};
	const a=flat(up),b=flat(dn);
	view=[{t:a,dir:-1,base:a.max,z:0},{t:b,dir:1,base:a.max,z:0}];sel=[1,0];
	size();g.scrollTop=(a.max+2)*RH-g.clientHeight/2;tell(sel);crumbs();
}
const lies=(l,i)=>(l.base+l.dir*l.t.depth[i])*RH;
const rows=()=>Math.max(...view.map(l=>l.base+(l.dir>0?l.t.max:0)))+1;
function size(){
	const r=devicePixelRatio,s=getComputedStyle(document.documentElement),h=Math.min(rows()*RH,Math.max(innerHeight*.62,6*RH))|0;
	for(const k of"k0 k1 k3 ink bg mark on fg f".split(" "))ink[k]=s.getPropertyValue("--"+k);
	W=g.clientWidth;
	cv.style.height=h+"px";cv.width=W*r;cv.height=h*r;cv.H=h;
	cv.parentNode.style.height=rows()*RH+"px";
	cx.setTransform(r,0,0,r,0,0);
	draw();
}
const place=(l,i)=>{const s=W/(l.t.tot[l.z]||1);return l.t.depth[i]<l.t.depth[l.z]?[0,W]:[(l.t.x[i]-l.t.x[l.z])*s,l.t.tot[i]*s]};
const fill=(c,...r)=>{cx.fillStyle=c;cx.fillRect(...r)};
function box(l,i,x,w,y){
	const t=l.t,k=t.fn[i],f=k>>1,hit=match&&match[f];
	cx.globalAlpha=match&&!hit||t.depth[i]<t.depth[l.z]?.4:k&1?.7:1;
	fill(hit?ink.mark:ink["k"+F[f][4]],x,y,w-(w>3),RH-1);
	cx.globalAlpha=1;
	if(k&1&&w>5){fill(ink.bg,x,y+3,2,4);fill(ink.bg,x,y+11,2,4)}
	if(w>28){
		cx.fillStyle=hit?ink.on:ink.ink;
		cx.font=(k&1?"italic ":"")+"12px "+ink.f;
		const s=label(f),n=(w-10)/7.3|0;
		cx.fillText(s.length>n?s.slice(0,n-1)+"…":s,x+6,y+13)}
}
function draw(){
	const y0=g.scrollTop;
	fill(ink.bg,0,0,W,cv.H);
	for(const l of view){
		const t=l.t,s=W/(t.tot[l.z]||1),xz=t.x[l.z],y=i=>lies(l,i)-y0;
		for(let i=t.up[l.z];i>=0;i=t.up[i])box(l,i,0,W,y(i));
		for(let i=l.z,rest=0;i<t.end[l.z];){
			const w=t.tot[i]*s,yi=y(i);
			if(w<1||(l.dir>0?yi>cv.H:yi<-RH)){
				const x=(t.x[i]-xz)*s;
				if(w>0&&w<1&&x>=rest){fill(ink.k1,x,yi,1,RH-1);rest=x+1}
				i=t.end[i];continue}
			if(yi>-RH&&yi<cv.H)box(l,i,(t.x[i]-xz)*s,w,yi);
			rest=0;i++}
	}
	const[n,i]=sel,l=view[n],[x,w]=place(l,i);
	cx.strokeStyle=ink.fg;cx.lineWidth=2;cx.strokeRect(x+1,lies(l,i)-y0+1,Math.max(w-3,1),RH-3);
}
const later=()=>{frame??=requestAnimationFrame(()=>{frame=null;draw()})};
/* The box at a point. */
function at(e){
	const r=cv.getBoundingClientRect(),px=e.clientX-r.left,row=(e.clientY-r.top+g.scrollTop)/RH|0;
	for(const[n,l]of view.entries()){
		const t=l.t,d=(row-l.base)*l.dir;
		if(d<0)continue;
		if(d<t.depth[l.z]){let i=l.z;while(t.depth[i]>d)i=t.up[i];return[n,i]}
		for(let i=l.z;i<t.end[l.z];){const[x,w]=place(l,i);if(px<x||px>=x+w)i=t.end[i];else if(t.depth[i]===d)return[n,i];else i++}
	}
}
function tell([n,i]){
	const t=view[n].t,k=t.fn[i],f=k>>1,[name,file,line,m]=F[f],r=!i&&!view[1];
	panel.innerHTML=`<h2>${esc(name)}</h2>${file?`<cite>${esc(file)}${line?":"+line:""}</cite>`:""}<dl>`+
	[["total",much(t.tot[i])],["self",much(t.self[i])],t.up[i]>=0&&["of caller",pct(t.tot[i],t.tot[t.up[i]])],
	!r&&["function",much(total[f])+", self "+pct(own[f])],m>=0&&["module",esc(M[m])],k&1&&["inlined","into its caller"]].filter(Boolean).map(([a,b])=>`<dt>${a}<dd>${b}`).join("")+
	`</dl>${r?"":`<button data-k=s data-f=${f}>Callers and callees</button>`}`;
}
function pick(p){sel=p;tell(p);const y=lies(view[p[0]],p[1]);if(y<g.scrollTop)g.scrollTop=y;else if(y+RH>g.scrollTop+g.clientHeight)g.scrollTop=y+RH-g.clientHeight;later()}
function zoom(p){view[p[0]].z=p[1];pick(p);crumbs()}
function crumbs(){
	const t=view.at(-1).t,c=[];
	for(let i=view.at(-1).z;i>=0;i=t.up[i])c.unshift(i);
	if(c.length>4)c.splice(1,c.length-4);
	$("#crumbs").innerHTML=(view[1]?"<button data-k=w>all functions</button> › ":"")+c.map(i=>`<button class=cut data-z=${i}>${esc(label(t.fn[i]>>1))}</button>`).join(" › ");
}
function search(){
	const s=q.value.toLowerCase();
	match=s?Uint8Array.from(F,f=>f[0].toLowerCase().includes(s)||f[1].toLowerCase().includes(s)):null;
	let sum=0;
	if(s)for(let i=1;i<T.n;)if(match[T.fn[i]>>1]){sum+=T.tot[i];i=T.end[i]}else i++;
	$("#n").textContent=!s?"":sum?pct(sum):"not found";
	table();later();
}
function next(d){
	const[m,i]=sel,l=view[m],t=l.t;
	for(let k=t.n,j=i;match&&k--;){
		j=(j+d+t.n)%t.n;
		if(match[t.fn[j]>>1]){
			if(j<l.z||j>=t.end[l.z])l.z=0;
			if(place(l,j)[1]<24)l.z=j;
			crumbs();return pick([m,j])}}
}
const enter=d=>{search();next(d)},leave=()=>{};
function table(){
	const v=bySelf?own:total,o=[...F.keys()].filter(f=>f&&v[f]&&(!match||match[f])).sort((a,b)=>v[b]-v[a]).slice(0,match?200:30);
	top.innerHTML=o.map(f=>`<tr>${cell(own[f])}${cell(total[f])}<td><button data-k=s data-f=${f}>${esc(label(f))}</button><td>${F[f][3]<0?"":esc(M[F[f][3]].replace(/.*\//,""))}`).join("");
}
function move(d){
	const[n,i]=sel,t=view[n].t;
	let j=-1;
	if(d===-1)j=t.up[i];
	else if(d===1){for(let k=i+1;k<t.end[i];k=t.end[k])if(j<0||t.tot[k]>t.tot[j])j=k}
	else for(let k=t.up[i]+1,p=-1;t.up[i]>=0&&k<t.end[t.up[i]];p=k,k=t.end[k])if(d==="<"?k===i&&(j=p,1):p===i&&(j=k,1))break;
	if(j<0&&view[1]&&d===-1&&n)return pick([0,0]);
	if(j>=0)pick([n,j]);
}
Object.assign(keys,{
	n:()=>next(1),N:()=>next(-1),
	i:()=>{put("icicle",+(down=!down));whole()},
	w:()=>whole(),
	s:b=>{const f=b?.dataset.f??view[sel[0]].t.fn[sel[1]]>>1;if(+f)both(+f)},
	g:()=>cv.focus(),
	e:()=>open($("#d cite")),
	sort:b=>{bySelf=b.id==="bs";for(const x of["bs","bt"])$("#"+x).parentNode.ariaSort=x===b.id?"descending":null;table()}});
const graph={ArrowLeft:()=>move("<"),ArrowRight:()=>move(">"),ArrowUp:()=>move(-view[sel[0]].dir),ArrowDown:()=>move(view[sel[0]].dir),Enter:()=>zoom(sel),
	Escape:()=>{const l=view[sel[0]];zoom([sel[0],Math.max(0,l.t.up[l.z])])}};
cv.onkeydown=e=>{
	if(e.ctrlKey||e.metaKey||e.altKey||!graph[e.key])return;
	graph[e.key]();e.preventDefault();e.stopPropagation()};
onclick=e=>{
	const b=e.target.closest("button");
	if(b?.dataset.k)keys[b.dataset.k](b);
	else if(b?.dataset.z)zoom([view.length-1,+b.dataset.z]);
	else if(e.target===cv){const p=at(e);if(p)zoom(p)}
	else if(e.target.closest("#d cite"))open(e.target)};
cv.onmousemove=e=>tell(at(e)||sel);
cv.onmouseleave=()=>tell(sel);
g.onscroll=later;
if(select)select.onchange=()=>{type=+select.value;load()};
onresize=size;matchMedia("(prefers-color-scheme:dark)").onchange=size;
load();
