/* The table of groups: search, sorting, steps. */
const body=$("tbody"),rows=[...body.rows],total=rows.length;
let at=-1;
function search(){
const re=wanted(),ranges=[];
let shown=0,crashes=0;
for(const r of rows){
const ok=!re||r.textContent.search(re)>=0;
re&&(re.lastIndex=0);
r.hidden=!ok;
if(!ok)continue;
shown++;crashes+=+r.dataset.n;
const d=r.querySelector("details");
if(re){
d.open=r.querySelector(".fn").textContent.search(re)<0;
for(const l of all("li",d))l.classList.toggle("hit",l.textContent.search(re)>=0);
const w=document.createTreeWalker(r,4);
for(let t;t=w.nextNode();)for(const m of t.data.matchAll(re)){const g=new Range();g.setStart(t,m.index);g.setEnd(t,m.index+m[0].length);ranges.push(g)}
}else d.open=false;
}
hl("hit",ranges);
body.classList.toggle("found",!!re);
$("#n").textContent=re?shown?`${shown} of ${total} groups, ${crashes} stacks`:"not found":"";
}
const value=(r,k)=>k==="fn"?r.querySelector(".fn").textContent:k==="n"?+r.dataset.n:r.cells[k].title.replace(/\d+$/,n=>n.padStart(20,0));
function sort(th){
const k=th.dataset.s,up=th.ariaSort==="descending"||(k!=="n"&&!th.ariaSort);
for(const t of all("th"))t.ariaSort=null;
th.ariaSort=up?"ascending":"descending";
rows.sort((a,b)=>{const x=value(a,k),y=value(b,k);return(x<y?-1:x>y)*(th.ariaSort==="ascending"?1:-1)});
body.append(...rows);
}
function step(d){
const list=rows.filter(r=>!r.hidden);
if(!list.length)return;
const i=list.indexOf(rows[at]);
rows[at]?.classList.remove("now");
const r=list[Math.min(list.length-1,Math.max(0,i<0?0:i+d))];
at=rows.indexOf(r);r.classList.add("now");
r.querySelector("summary").focus({preventScroll:true});r.scrollIntoView({block:"nearest"});
}
Object.assign(keys,{
j:()=>step(1),k:()=>step(-1),
u:()=>{body.classList.remove("found");const d=all("tbody details"),o=d.some(x=>!x.open);for(const x of d)x.open=o},
1:()=>sort(all("th")[0]),2:()=>sort(all("th")[1]),3:()=>sort(all("th")[2]),4:()=>sort(all("th")[3])});
const enter=()=>{at=-1;step(0)};
const leave=()=>{};
onclick=e=>{
const th=e.target.closest("th"),b=e.target.closest("[data-k]");
if(th?.dataset.s)sort(th);
if(b)keys[b.dataset.k]()};
