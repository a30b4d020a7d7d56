/** What the page looks like, on screens and on paper. */

export const pageStyle = `
:root{color-scheme:light dark;--ink:#1f1f1e;--soft:#5b5a57;--paper:#fdfdfc;--line:#d8d6d0;--well:#f2f0ea;--ask:#2563a8;--tell:#b2560d}
@media (prefers-color-scheme:dark){:root{--ink:#ecebe8;--soft:#aaa8a2;--paper:#171716;--line:#3c3b38;--well:#252421;--ask:#82b4f0;--tell:#efa35c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:52rem;padding:2rem 1rem 4rem;font:17px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{margin:0 0 .75rem;font-size:1.9rem;line-height:1.2;text-wrap:balance}
h2{margin:2.75rem 0 .5rem;font-size:1.3rem}
p,ul{margin:.5rem 0;max-width:44rem}
li{margin:.3rem 0}
.lead{font-size:1.15rem}
.soft{color:var(--soft)}
figure{margin:1rem 0 1.5rem;break-inside:avoid}
figcaption{font-weight:600}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;font-size:.85rem;color:var(--soft)}
.entry{display:inline-flex;align-items:center;gap:.4rem}
.scroll{overflow-x:auto}
.scroll:focus-visible{outline:2px solid var(--ask);outline-offset:2px}
.scroll>svg{display:block;width:100%;min-width:38rem;height:auto;font-size:13px}
svg text{fill:var(--ink)}
svg .soft{fill:var(--soft)}
svg .middle{text-anchor:middle}
svg .end-aligned{text-anchor:end}
svg .strong{font-weight:600}
.well{fill:var(--well)}
.wait{stroke:var(--line);stroke-width:1.5}
.late{stroke:var(--ink);stroke-width:4}
.end{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:4 3}
.base{stroke:var(--line)}
.ask{stroke:var(--ask);stroke-width:1.6}
.tell{fill:var(--tell);stroke:var(--paper);stroke-width:1}
.knew{fill:var(--ink);stroke:var(--paper);stroke-width:1.5}
.cut{stroke:var(--ink);stroke-width:2}
.bar{fill:var(--ask)}
.model{stroke:var(--ink);stroke-width:2.5}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{padding:.4rem 0;text-align:left;font-weight:600}
th,td{padding:.3rem .6rem;text-align:right;font-weight:400;white-space:nowrap}
td{vertical-align:top}
thead th{white-space:normal;vertical-align:bottom;font-weight:600;border-bottom:1.5px solid var(--soft)}
tbody th,th:first-child{padding-left:0;text-align:left;vertical-align:top}
thead th:first-child{vertical-align:bottom}
td:last-child,th:last-child{padding-right:0}
tbody tr+tr>*{border-top:1px solid var(--line)}
tbody+tbody{border-top:1.5px solid var(--soft)}
.differs{font-weight:700}
code{font:.92em ui-monospace,monospace}
@media print{
:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--line:#bbb;--well:#eee;--ask:#2563a8;--tell:#b2560d}
body{max-width:none;padding:0;font-size:11pt}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
h2{break-after:avoid}
tr{break-inside:avoid}
.scroll{overflow:visible}
.scroll>svg{min-width:0}
}
`.replaceAll('\n', '')
