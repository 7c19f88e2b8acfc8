import { createHash } from "node:crypto";
import { plainHeaders } from "./common-headers.ts";

/** HTML that needs no more escaping. */
export interface Html {
  readonly html: string;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);

/** Text or HTML, or several of them, put into a template. */
export type Piece = string | number | Html | readonly Piece[] | undefined;

const render = (piece: Piece): string => {
  if (piece === undefined) return "";
  if (typeof piece === "string") return escape(piece);
  if (typeof piece === "number") return String(piece);
  return "html" in piece ? piece.html : piece.map(render).join("");
};

/** Template tag: what is put in is escaped unless it is `Html` itself. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return { html: strings.map((text, index) => text + render(pieces[index])).join("") };
}

/** Only http and https links; anything else in a catalogue file becomes no link. */
export const link = (url: string, text: string): Html =>
  /^https?:\/\//i.test(url) ? html`<a href="${url}" rel="noopener">${text}</a>` : html`${text}`;

const style = `
:root { color-scheme: light dark; --line: #8885; --soft: #8881; --accent: light-dark(#0b57a4, #8ec2ff); }
* { box-sizing: border-box; }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 54rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
a { color: var(--accent); }
a:focus-visible, pre:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
h3 { margin: 1.6rem 0 .4rem; font-size: 1.05rem; }
code, pre { font: .9em/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem; overflow-x: auto; user-select: all; }
.method { display: inline-block; min-width: 3.6em; font-weight: 700; color: var(--accent); }
dt { font-weight: 600; margin-top: .8rem; }
dd { margin: 0 0 .2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
nav ul { padding-left: 1.2rem; }
footer { margin-top: 3rem; opacity: .75; font-size: .9em; }
`;

const styleHash = createHash("sha256").update(style).digest("base64");

/** Headers of every page: nothing is loaded from anywhere, nothing runs, nobody frames it. */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...plainHeaders,
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

/** A whole page. */
export function page(title: string, body: Html): string {
  const styled: Html = { html: style };
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${styled}</style>
</head>
<body>
${body}
</body>
</html>
`.html;
}
