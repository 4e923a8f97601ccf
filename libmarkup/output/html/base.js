/* All pages: settings that are kept, the search field, keys. A page defines search(), enter() and
   leave(), and adds to `keys`. */
const $=s=>document.querySelector(s),all=(s,e=document)=>[...e.querySelectorAll(s)];
const root=document.documentElement.classList,q=$("#q");
const get=k=>{try{return localStorage["symcache."+k]}catch{}},put=(k,v)=>{try{localStorage["symcache."+k]=v}catch{}};
const wanted=()=>q.value&&new RegExp(q.value.replace(/[\\^$.*+?()[\]{}|]/g,"\\$&"),"gi");
const hl=window.Highlight?(k,r)=>CSS.highlights.set(k,Object.assign(new Highlight(...r),{priority:+(k==="cur")})):()=>{};
const keys={"/":()=>q.select(),"?":()=>$("#h").togglePopover()};
let timer;
function flag(k,c=!root.contains(k)){root.toggle(k,c);put(k,+c);$("#f-"+k).checked=c}
for(const b of all("[id^=f-]")){
	const k=b.id.slice(2);
	flag(k,(get(k)??+(k==="keys"))>0);
	b.onchange=()=>flag(k)}
q.oninput=()=>{clearTimeout(timer);timer=setTimeout(search,120)};
onkeydown=e=>{
	const k=e.key,o=e.target;
	if(e.ctrlKey||e.metaKey||e.altKey)return;
	if(o===q&&k==="Enter"){clearTimeout(timer);enter(e.shiftKey?-1:1)}
	else if(o===q&&k==="Escape"){q.value="";search();q.blur();leave()}
	else if(o.tagName!=="INPUT"&&Object.hasOwn(keys,k)&&(k==="?"||root.contains("keys")))keys[k]();
	else return;
	e.preventDefault()};
