/** What the page of a report looks like, and how it is filtered. */

export const htmlStyle = `
:root{--ink:#1b1b1b;--soft:#5f5f5f;--paper:#fff;--line:#ddd;--well:#f4f4f4;--pass:#2a7d2e;--fail:#b3261e;--warn:#8a5a00}
@media (prefers-color-scheme:dark){:root{--ink:#ececec;--soft:#a8a8a8;--paper:#161616;--line:#3a3a3a;--well:#222;--pass:#7ccf80;--fail:#ff8a80;--warn:#e9b949}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{margin:0;font-size:1.6rem;overflow-wrap:anywhere}
h2{margin:1.5rem 0 .5rem;font-size:1.1rem}
h2 span{font-weight:400}
.where{margin:0;color:var(--soft);overflow-wrap:anywhere}
.conclusion{font-size:1.2rem;font-weight:600}
.conclusion.conformant,.pass .verdict{color:var(--pass)}
.conclusion.not-conformant,.fail .verdict,.error .verdict,.fault{color:var(--fail)}
.conclusion.inconclusive,.not-provoked .verdict,.waived .verdict{color:var(--warn)}
.not-applicable .verdict,.meta{color:var(--soft)}
dl{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:.5rem 0}
dt{color:var(--soft);font-size:.85rem}
dd{margin:0;font-size:1.2rem}
form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin-top:1rem}
input[type=search],select{font:inherit;padding:.3rem .5rem;color:inherit;background:var(--well);border:1px solid var(--line);border-radius:4px;min-width:0}
input[type=search]{flex:1 1 14rem}
.row{border-top:1px solid var(--line)}
summary,.head{margin:0;padding:.4rem 0;cursor:pointer}
.head{cursor:default}
summary:focus-visible{outline:2px solid var(--pass)}
.verdict{display:inline-block;min-width:7.5rem;font-weight:600}
.meta{font-size:.85rem}
.more{padding:0 0 1rem}
.more p{margin:.3rem 0;overflow-wrap:anywhere}
pre{margin:.3rem 0;padding:.5rem;background:var(--well);border:1px solid var(--line);border-radius:4px;font-size:.8rem;white-space:pre-wrap;overflow-wrap:anywhere}
pre.answered{margin-left:1rem}
[hidden]{display:none}
@media (max-width:40rem){.verdict{min-width:0}.meta{display:block}pre.answered{margin-left:0}}
`.replaceAll('\n', '')

export const htmlScript = `
const rows=[...document.querySelectorAll('.row')],words=document.getElementById('words'),verdict=document.getElementById('verdict'),changed=document.getElementById('changed'),count=document.getElementById('count');
function apply(){const wanted=words.value.toLowerCase();let shown=0;
for(const row of rows){const fits=(!verdict.value||row.dataset.verdict===verdict.value)&&(!changed||!changed.checked||'changed' in row.dataset)&&row.textContent.toLowerCase().includes(wanted);row.hidden=!fits;if(fits)shown++}
for(const section of document.querySelectorAll('section'))section.hidden=!section.querySelector('.row:not([hidden])');
count.textContent=shown+' of '+rows.length}
for(const one of [words,verdict,changed])one&&one.addEventListener('input',apply);
document.querySelector('form').addEventListener('submit',event=>event.preventDefault());apply();
`.replaceAll('\n', '')
