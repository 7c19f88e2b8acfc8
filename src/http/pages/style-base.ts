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
