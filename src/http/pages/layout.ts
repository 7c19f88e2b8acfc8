import { assetPaths, emblem } from "./assets.ts";
import { type Html, html } from "../../html.ts";
import { packageVersion } from "../../package-file.ts";

const version = packageVersion();

/** Parts of the site that the navigation leads to. */
export type SitePart = "endpoints" | "federations" | "query" | "status" | "runs" | "help" | "docs";

/** What is put into the frame that all pages share. */
interface PageContent {
  readonly title: string;
  /** The part of the site that this page is the top of. */
  readonly part?: SitePart;
  /** More that the page loads. */
  readonly head?: Html;
  readonly main: Html;
}

const parts: readonly { readonly part: SitePart; readonly path: string; readonly text: string }[] = [
  { part: "endpoints", path: "/", text: "Endpoints" },
  { part: "federations", path: "/federations", text: "Federations" },
  { part: "query", path: "/query", text: "Query" },
  { part: "status", path: "/status", text: "Status" },
  { part: "runs", path: "/runs", text: "Runs" },
  { part: "help", path: "/help", text: "Help" },
  { part: "docs", path: "/docs", text: "API" },
];

const emblemHtml: Html = { html: emblem };

const navigation = (current: SitePart | undefined): Html => html`<nav aria-label="Site"><ul>
${parts.map(
  ({ part, path, text }) =>
    html`<li><a href="${path}"${part === current ? html` aria-current="page"` : ""}>${text}</a></li>\n`,
)}</ul></nav>`;

/** A whole page. */
export function page({ title, part, head: more, main }: PageContent): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${assetPaths.stylesheet}">
${more}<link rel="icon" type="image/svg+xml" href="${assetPaths.icon}">
<link rel="alternate" type="application/atom+xml" title="Incidents" href="/incidents.atom">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="site"><div class="wide">
<a class="brand" href="/"><svg viewBox="0 0 32 32" aria-hidden="true">${emblemHtml}</svg>Fedway</a>
${navigation(part)}
</div></header>
<main class="wide" id="main" tabindex="-1">
${main}
</main>
<footer class="foot"><div class="wide">
<span>Fedway ${version}</span>
<a href="/sparql?format=turtle">Service description</a>
<a href="/.well-known/void">VoID</a>
<a href="/openapi.json">OpenAPI</a>
<a href="/incidents.atom">Incident feed</a>
<a href="/health/ready">Readiness</a>
<a href="/login">Sign in</a>
</div></footer>
</body>
</html>
`.html;
}

/** Where a query opens in the console; `target` is as in `/api/query`. */
export function consolePath(
  query: string | undefined,
  target: { readonly endpoint?: string; readonly federation?: string } = {},
): string {
  const parameters = new URLSearchParams({ ...target, ...(query !== undefined && { query }) });
  return parameters.size === 0 ? "/query" : `/query#${parameters.toString()}`;
}

/** What one state looks like; the text carries the meaning, mark and colour repeat it. */
export const badge = (state: string, text = state): Html => html`<span class="badge ${state}">${text}</span>`;

/** A table that scrolls sideways on its own; a head that begins with `#` is that of a column of numbers. */
export const table = ({ name, caption, heads, rows }: TableContent): Html =>
  html`<div class="scroll" role="group" aria-label="${name}" tabindex="0"><table>
${caption === undefined ? "" : html`<caption>${caption}</caption>\n`}<thead><tr>${heads.map(head)}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`;

interface TableContent {
  /** For screen readers. */
  readonly name: string;
  readonly caption?: string;
  readonly heads: readonly string[];
  readonly rows: readonly Html[];
}

const head = (text: string): Html =>
  text.startsWith("#") ? html`<th scope="col" class="n">${text.slice(1)}</th>` : html`<th scope="col">${text}</th>`;

/** A command that one click selects. */
export const toCopy = (name: string, command: string): Html =>
  html`<pre class="copy" tabindex="0" role="group" aria-label="${name}">${command}</pre>`;

/** One of the choices of a form. */
export const option = (value: string, text: string, isChosen: boolean): Html =>
  html`<option value="${value}"${isChosen ? html` selected` : ""}>${text}</option>`;

/** A name and a value in a list of facts; `long` ones take a line of their own. */
export const fact = (name: string, value: Html | string | undefined, long = false): Html =>
  value === undefined
    ? html``
    : html`<div${long ? html` class="long"` : ""}><dt>${name}</dt><dd>${value}</dd></div>
`;

/** A heading of a section and what is under it. */
export const section = (id: string, heading: string, body: Html): Html =>
  html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
${body}
</section>
`;
