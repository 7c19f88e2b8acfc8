import { createHash } from "node:crypto";

/** The whole stylesheet of a report; no style stands anywhere else. */
export const reportStyle = `
:root {
  color-scheme: light dark;
  --bg: #f6f7f9; --surface: #fff; --text: #1a2027; --muted: #53606c; --line: #d9dee4; --soft: #eef1f4; --accent: #0a589a;
  --warn: #855600; --mild: #fdf5e2; --grid: #a3adb8;
  --vertical: #3a6fc4; --class: #1f8a5b; --horizontal: #b8651b; --base: #6b7783;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #11151a; --surface: #181d24; --text: #e7ebf0; --muted: #a3afbb; --line: #323b46; --soft: #222932; --accent: #8fc4ff;
    --warn: #eac05c; --mild: #332a15; --grid: #5b6672;
    --vertical: #7aa7f0; --class: #4fc48f; --horizontal: #e79a4f; --base: #93a0ad;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--bg); color: var(--text); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
header, main, footer { width: 100%; max-width: 74rem; margin-inline: auto; padding-inline: clamp(1rem, 3vw, 2rem); }
header { padding-top: 1.75rem; } footer { padding-block: 1rem 2rem; color: var(--muted); font-size: .9rem; }
h1 { font-size: clamp(1.5rem, 1.2rem + 1.4vw, 2rem); line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .6rem; }
p { margin: 0 0 .75rem; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.lead, .muted { color: var(--muted); } .lead { max-width: 48rem; } .small { font-size: .88rem; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: .6rem; padding: 1.1rem 1.25rem; margin: 0 0 1.25rem; min-width: 0; }
.card > :last-child { margin-bottom: 0; }
.banner { border: 1px solid var(--warn); border-left-width: .4rem; border-radius: .45rem; padding: .8rem 1rem; margin: 0 0 1.25rem; background: var(--mild); }
.banner p { margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; margin: 0 0 1.25rem; }
.tiles div { background: var(--surface); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem 1rem; }
.tiles dt { color: var(--muted); font-size: .85rem; } .tiles dd { margin: 0; font-size: 1.45rem; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); }
thead th { font-size: .85rem; color: var(--muted); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 500; } th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child > * { border-bottom: 0; }
.n { text-align: right; white-space: nowrap; width: 1%; } .w { white-space: nowrap; }
.long { min-width: 14rem; overflow-wrap: anywhere; } .bar { width: 45%; min-width: 8rem; vertical-align: middle; } .fans .bar { width: 90%; }
.fans { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem 2.5rem; } .fans h3 { font-size: 1rem; margin: 0 0 .3rem; } .figure { min-width: 8.5rem; }
.bar svg { display: block; width: 100%; height: .9rem; }
code, pre { font: .88em/1.5 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
pre { margin: .3rem 0 0; padding: .6rem .8rem; background: var(--soft); border-radius: .4rem; white-space: pre-wrap; }
summary { cursor: pointer; color: var(--accent); width: fit-content; font-size: .88rem; }
.vertical { fill: var(--vertical); } .class { fill: var(--class); } .horizontal { fill: var(--horizontal); } .base { fill: var(--base); }
.fan { fill: var(--vertical); } .track { fill: var(--soft); }
.stack > svg { display: block; width: 100%; height: 1.7rem; } .stack .gap { stroke: var(--surface); stroke-width: .4; }
.stack p { margin: .6rem 0 .2rem; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: .7rem 0; padding: 0; font-size: .88rem; color: var(--muted); }
.key svg { width: .85rem; height: .85rem; margin-right: .4rem; vertical-align: -.08rem; }
.panels { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
.panels svg { display: block; } .panels text { fill: var(--muted); font: 10px system-ui, sans-serif; } .panels .few { fill: var(--warn); font-weight: 700; }
.both { fill: var(--vertical); } .more { fill: var(--horizontal); } .missed { fill: none; stroke: var(--muted); stroke-width: 1.5; } .nothing { fill: var(--grid); }
figure { margin: 0; } figcaption { color: var(--muted); font-size: .9rem; margin: 0 0 .6rem; max-width: 52rem; }
@media (max-width: 40rem) { .card { padding: .9rem 1rem; } th, td { padding-right: .6rem; font-size: .92rem; } .bar { min-width: 5rem; } .long { min-width: 8rem; } .figure { min-width: 4.4rem; } }
@media print {
  body { background: #fff; } .card, .banner, tr { break-inside: avoid; } .card.tall { break-inside: auto; } .scroll { overflow: visible; }
  svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; } summary { display: none; }
}
`;

const hash = createHash("sha256").update(reportStyle).digest("base64");

/** The Content-Security-Policy of a report: its own stylesheet and nothing else. Whoever serves one sends it as a header too. */
export const reportPolicy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
