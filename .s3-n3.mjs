import { Parser } from "n3";
import { createReadStream } from "node:fs";
const t=performance.now(); let n=0;
await new Promise((ok,no)=>new Parser({format:"N-Triples"}).parse(createReadStream(process.argv[2]),(e,q)=>{ if(e) no(e); else if(q) n++; else ok(); }));
const c=process.cpuUsage();console.log("n3",n,(performance.now()-t)/1000,(c.user+c.system)/1e6);
