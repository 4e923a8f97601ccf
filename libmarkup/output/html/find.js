/* What is searched, in text: its words are marked. */
const wanted=()=>q.value&&new RegExp(q.value.replace(/[\\^$.*+?()[\]{}|]/g,"\\$&"),"gi");
const hl=window.Highlight?(k,r)=>CSS.highlights.set(k,Object.assign(new Highlight(...r),{priority:+(k==="cur")})):()=>{};
