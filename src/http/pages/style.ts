/** Colours, text and the frame of every page. */
export const baseStyle = `
:root {
  color-scheme: light dark;
  --bg: #f6f7f9; --surface: #fff; --text: #1a2027; --muted: #53606c; --line: #d9dee4; --soft: #eef1f4;
  --accent: #0a589a; --on-accent: #fff; --up: #17733f; --warn: #855600; --down: #b3261e; --none: #5f6b77;
  --up-fill: #2f9e69; --warn-fill: #c98a00; --down-fill: #d03a30; --none-fill: #a3adb8;
  --loud: #fdecea; --mild: #fdf5e2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #11151a; --surface: #181d24; --text: #e7ebf0; --muted: #a3afbb; --line: #323b46; --soft: #222932;
    --accent: #8fc4ff; --on-accent: #0c1a29; --up: #6bd3a2; --warn: #eac05c; --down: #ff978e; --none: #a3afbb;
    --up-fill: #3fb37d; --warn-fill: #e0ac36; --down-fill: #ff6f64; --none-fill: #5b6672;
    --loud: #3a1d1c; --mild: #332a15;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--bg); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word;
}
.wide { width: 100%; max-width: 74rem; margin-inline: auto; padding-inline: clamp(1rem, 3vw, 2rem); }
main { flex: 1; padding-block: 1.5rem 3rem; }
a { color: var(--accent); text-underline-offset: .15em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
main:focus { outline: none; }
.skip { position: absolute; left: 1rem; top: -4rem; padding: .5rem 1rem; background: var(--accent); color: var(--on-accent); z-index: 1; }
.skip:focus { top: .5rem; }
.site { background: var(--surface); border-bottom: 1px solid var(--line); }
.site .wide { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.75rem; min-height: 3.5rem; }
.brand { display: flex; align-items: center; gap: .55rem; font-weight: 700; font-size: 1.1rem; color: var(--text); text-decoration: none; }
.brand svg { width: 1.5rem; height: 1.5rem; }
.site ul { display: flex; flex-wrap: wrap; gap: 0 1.4rem; margin: 0; padding: 0; list-style: none; }
.site li a { display: block; padding: .95rem 0 .8rem; border-bottom: .2rem solid transparent; color: var(--text); text-decoration: none; }
.site li a:hover, .site a[aria-current] { border-bottom-color: var(--accent); }
.site a[aria-current] { font-weight: 600; }
.foot { border-top: 1px solid var(--line); color: var(--muted); font-size: .9rem; }
.foot .wide { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding-block: 1rem; }
.foot a { color: inherit; }
h1 { font-size: clamp(1.5rem, 1.2rem + 1.4vw, 2rem); line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .75rem; }
h3 { font-size: 1.02rem; line-height: 1.4; margin: 1.25rem 0 .4rem; }
p { margin: 0 0 .75rem; }
.lead { color: var(--muted); max-width: 46rem; }
.muted, .meta { color: var(--muted); }
.meta, .small { font-size: .9rem; }
code, pre, kbd { font: .9em/1.5 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace; }
pre { margin: 0 0 .75rem; padding: .75rem .9rem; background: var(--soft); border: 1px solid var(--line); border-radius: .45rem; overflow-x: auto; font-size: .85rem; }
pre.copy { user-select: all; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: .6rem; padding: 1.1rem 1.25rem; margin: 0 0 1.25rem; min-width: 0; }
.card > :last-child, .card > section > :last-child { margin-bottom: 0; }
h2 + h3, .card > h3:first-child, .card > ul { margin-top: 0; }
.scroll + pre { margin-top: .9rem; }
details { margin: 0 0 .75rem; }
summary { cursor: pointer; color: var(--accent); padding: .2rem 0; width: fit-content; }
dl { margin: 0; }
dt { font-weight: 600; }
dd { margin: 0 0 .5rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.banner { border: 1px solid var(--warn); border-left-width: .4rem; border-radius: .45rem; padding: .8rem 1rem; margin: 0 0 1.25rem; background: var(--mild); }
.banner.down { border-color: var(--down); background: var(--loud); }
.banner strong { font-size: 1.05rem; }
.banner p { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--muted); font-size: .9rem; padding: 0 0 .4rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { font-size: .85rem; color: var(--muted); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 500; }
tbody tr:last-child > * { border-bottom: 0; }
td time, th time { white-space: nowrap; }
.n, .whole { white-space: nowrap; }
.n { text-align: right; }
.method { display: inline-block; min-width: 3.6em; font-weight: 700; color: var(--accent); }
.anchors { columns: 18rem; padding-left: 1.2rem; }
@media print { .site, .foot, form { display: none; } .card { break-inside: avoid; } }
`;

/** What single pages are made of: forms, badges, strips, charts, lists. */
export const partsStyle = `
form { display: grid; gap: .75rem 1rem; align-items: end; }
form label { display: block; font-size: .85rem; font-weight: 600; margin-bottom: .2rem; }
input, select, button, .button { font: inherit; color: inherit; width: 100%; min-height: 2.6rem; padding: .4rem .7rem; background: var(--surface); border: 1px solid var(--none); border-radius: .4rem; }
button, .button { width: auto; padding-inline: 1.2rem; background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer; }
button:hover { filter: brightness(1.1); }
.filters { display: grid; gap: .75rem 1rem; grid-template-columns: minmax(0, 1fr); }
details .filters { margin-top: .5rem; }
form details { margin: 0; }
.sorting { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.act { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; }
@media (min-width: 40rem) {
  .filters { grid-template-columns: repeat(6, minmax(0, 1fr)); }
  .filters .long { grid-column: span 6; } .filters .half { grid-column: span 3; } .filters .third { grid-column: span 2; }
  .sorting { grid-template-columns: repeat(4, minmax(0, 10.5rem)) auto; justify-content: start; }
}
@media (min-width: 64rem) { .columns { display: grid; grid-template-columns: minmax(0, 1fr) 23rem; gap: 0 1.75rem; align-items: start; } }
.badge { display: inline-block; padding: 0 .55rem; border: 1px solid; border-radius: 1rem; font-size: .82rem; font-weight: 600; line-height: 1.55; white-space: nowrap; color: var(--none); }
.badge::before { content: "\\25CB"; content: "\\25CB" / ""; margin-right: .35em; }
.badge.up { color: var(--up); } .badge.up::before { content: "\\25CF"; content: "\\25CF" / ""; }
.badge.work { color: var(--warn); } .badge.work::before { content: "\\25B2"; content: "\\25B2" / ""; }
.badge.down { color: var(--down); } .badge.down::before { content: "\\2716"; content: "\\2716" / ""; }
.titled { margin-bottom: .4rem; display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem .75rem; }
.titled > * { margin-bottom: 0; }
.hits { list-style: none; margin: 0; padding: 0; }
.hit { background: var(--surface); border: 1px solid var(--line); border-radius: .6rem; padding: .95rem 1.25rem; margin: 0 0 .75rem; }
.hit h3 { margin: 0; font-size: 1.08rem; }
.hit p { margin: .3rem 0 0; }
.hit p + .tags { margin-top: .45rem; }
.tags { display: flex; flex-wrap: wrap; gap: .35rem; list-style: none; margin: 0; padding: 0; font-size: .85rem; }
.tags li { max-width: 100%; }
.tags a { display: block; overflow-wrap: anywhere; padding: .05rem .55rem; background: var(--soft); border-radius: 1rem; text-decoration: none; }
.tags a:hover { text-decoration: underline; }
.why { font-size: .88rem; color: var(--muted); }
.why mark, .made { background: var(--mild); color: inherit; border-radius: .2rem; padding: 0 .25em; }
.made { font-size: .8rem; white-space: nowrap; }
.pages { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: .5rem 1rem; margin: 1rem 0; }
.found { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem 1rem; align-items: baseline; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 9rem), 1fr)); gap: .7rem 1.5rem; }
.facts dt { font-size: .82rem; color: var(--muted); font-weight: 600; }
.facts .long { grid-column: 1 / -1; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.scroll + .facts { margin-top: 1rem; } .facts + h3 { margin-top: 1.25rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .75rem; margin: 0 0 1.25rem; padding: 0; list-style: none; }
.tiles a { display: block; height: 100%; padding: .7rem 1rem; background: var(--surface); border: 1px solid var(--line); border-left: .3rem solid var(--none-fill); border-radius: .5rem; color: var(--text); text-decoration: none; }
.tiles a:hover { border-color: var(--accent); } .tiles a[aria-current] { background: var(--soft); }
.tiles .up { border-left-color: var(--up-fill); } .tiles .down { border-left-color: var(--down-fill); }
.tiles b { display: block; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.strip { display: block; width: 100%; height: 1.6rem; }
.s25 { -webkit-mask: repeating-linear-gradient(90deg, #000 0 calc(4% - 1px), transparent 0 4%); mask: repeating-linear-gradient(90deg, #000 0 calc(4% - 1px), transparent 0 4%); }
.s90 { -webkit-mask: repeating-linear-gradient(90deg, #000 0 calc(100% / 90 - 1px), transparent 0 calc(100% / 90)); mask: repeating-linear-gradient(90deg, #000 0 calc(100% / 90 - 1px), transparent 0 calc(100% / 90)); }
.g { fill: var(--up-fill); } .m { fill: var(--warn-fill); } .b { fill: var(--down-fill); } .o { fill: var(--none-fill); }
.large { height: 2.6rem; }
.ends { display: flex; justify-content: space-between; color: var(--muted); font-size: .8rem; margin: .15rem 0 .9rem; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; margin: 0 0 .9rem; padding: 0; font-size: .85rem; color: var(--muted); }
.key svg { display: inline-block; width: .8rem; height: 1.1rem; margin-right: .4rem; vertical-align: -.2rem; }
.fleet { background: var(--surface); border: 1px solid var(--line); border-radius: .6rem; padding: .6rem 1.25rem; margin-bottom: 1.25rem; }
.fleet th, .fleet td { vertical-align: middle; padding-block: .35rem; }
.fleet thead a { color: inherit; text-decoration: none; } .fleet thead a:hover { text-decoration: underline; }
.fleet [aria-sort] a { color: var(--text); font-weight: 700; }
.fleet [aria-sort=ascending] a::after { content: " \\2191"; content: " \\2191" / ""; } .fleet [aria-sort=descending] a::after { content: " \\2193"; content: " \\2193" / ""; }
.fleet th:last-child, .fleet td:last-child { width: 11rem; }
.fleet .strip { height: 1.35rem; }
.fleet tbody tr:hover { background: var(--soft); }
@media (max-width: 40rem) {
  .site .wide { padding-block: .5rem 0; }
  .site li a { padding: .35rem 0 .45rem; }
  .card, .hit { padding: .9rem 1rem; }
  .fleet { padding: .4rem .75rem; }
  .fleet table { table-layout: fixed; }
  .fleet th, .fleet td { padding-right: .5rem; font-size: .88rem; }
  .fleet th { overflow-wrap: anywhere; }
  .fleet th:nth-child(2) { width: 5.3rem; } .fleet th:nth-child(3), .fleet th:nth-child(4) { width: 4.1rem; } .fleet th:nth-child(5) { width: 6rem; }
  .fleet td time { white-space: normal; }
  .fleet thead th { white-space: normal; overflow-wrap: normal; }
  .fleet .badge { padding-inline: .4rem; font-size: .75rem; }
  .fleet .badge.work { padding-inline: .3rem; } .fleet .badge.work::before { display: none; }
  .fleet .rest { display: none; }
  .fleet th:last-child, .fleet td:last-child { width: 4rem; padding-right: 0; }
}
.chart { margin: 0 0 1rem; }
.plot { margin-top: .6rem; display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 .6rem; }
.plot svg { display: block; width: 100%; height: 9rem; }
.scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right; font-size: .78rem; line-height: 1; color: var(--muted); font-variant-numeric: tabular-nums; margin: -.4rem 0; }
.plot .ends { grid-column: 2; margin-bottom: 0; }
.chart figcaption { color: var(--muted); font-size: .88rem; margin-top: .3rem; }
.grid { stroke: var(--line); } .line { stroke: var(--accent); stroke-width: 2; fill: none; stroke-linejoin: round; stroke-linecap: round; }
.grid, .line { vector-effect: non-scaling-stroke; }
.dot { stroke: var(--accent); stroke-width: 6; stroke-linecap: round; vector-effect: non-scaling-stroke; }
.score { font-size: 2rem; font-weight: 700; line-height: 1.1; font-variant-numeric: tabular-nums; }
.verdict { font-weight: 600; white-space: nowrap; } .verdict.right { color: var(--up); } .verdict.wrong, .verdict.failed { color: var(--down); } .verdict.refused { color: var(--warn); } .verdict.none { color: var(--muted); font-weight: 400; }
.pair { display: grid; gap: 0 2rem; } .pair > * { min-width: 0; }
@media (min-width: 56rem) { .pair { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.happening { list-style: none; margin: 0 0 .75rem; padding: 0; } .happening li { padding: .5rem 0; border-bottom: 1px solid var(--line); } .happening li:last-child { border-bottom: 0; }
.open { border-left: .4rem solid var(--down); }
.plain { list-style: none; margin: 0; padding: 0; } .plain li { padding: .2rem 0; }
.steps th { width: 38%; } .steps td:nth-child(2) { min-width: 9rem; } .steps svg { display: block; width: 100%; height: 1.1rem; }
.axis { display: flex; justify-content: space-between; color: var(--muted); font-size: .8rem; }
.bar { fill: var(--accent); } .track { fill: var(--soft); }
.crumbs { font-size: .9rem; margin-bottom: .4rem; }
`;
