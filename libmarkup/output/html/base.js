/* All pages: settings that are kept, the search field, keys. A page defines search(), enter() and
   leave(), and adds to `keys`. */
const $=s=>document.querySelector(s),all=(s,e=document)=>[...e.querySelectorAll(s)];
const root=document.documentElement.classList,q=$("#q");
const get=k=>{try{return localStorage["symcache."+k]}catch{}},put=(k,v)=>{try{localStorage["symcache."+k]=v}catch{}};
const keys={"/":()=>q.select(),"?":()=>$("#h").togglePopover(),
	cmd:e=>copy(e.previousElementSibling.textContent,e.previousElementSibling)};
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
	else if(!/INPUT|SELECT/.test(o.tagName)&&Object.hasOwn(keys,k)&&(k==="?"||root.contains("keys")))keys[k]();
	else return;
	e.preventDefault()};
/* Opens the file of a place, by the page's pattern or the reader's. */
const pattern=()=>get("link")??document.body.dataset.link??"";
function open(c){
	const p=pattern(),[,path,line=1,column=1]=/^(.+?)(?::(\d+))?(?::(\d+))?$/.exec(c?.textContent||"")||[];
	if(!path||!/^(https?|vscod(e|ium)|idea|clion|zed|cursor|emacs):/.test(p))return;
	const m=(document.body.dataset.maps||"").split("\n").map(m=>/^(.+?)\/?=(.*?)\/?$/.exec(m)).find(m=>m&&(path+"/").startsWith(m[1]+"/"));
	const v={path:encodeURI(m?m[2]+path.slice(m[1].length):path).replace(/[#?]/g,encodeURIComponent),line,column};
	window.open(p.replace(/\{(path|line|column)\}/g,(_,k)=>v[k]),"_self");
}
async function copy(s,e){
	const say=$("#say");
	try{await navigator.clipboard.writeText(s);say.textContent="copied"}
	catch{getSelection().selectAllChildren(e);say.textContent="selected: Ctrl+C"}
	setTimeout(()=>say.textContent="",2e3);
}
