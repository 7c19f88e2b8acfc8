import { assetPaths, emblem } from "./assets.ts";
import { type Html, html } from "../../html.ts";
import { packageVersion } from "../../package-file.ts";

export { badge, type Column, fact, table } from "../../views/view-html.ts";

const version = packageVersion();

/** Parts of the site that the navigation leads to. */
export type SitePart = "endpoints" | "federations" | "query" | "ask" | "status" | "runs" | "help" | "docs";

/** Content of the frame that all pages share. */
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
  { part: "ask", path: "/ask", text: "Ask" },
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

/** The way to the page of questions, which only services with a model show. */
export const askItem = '<li><a href="/ask">Ask</a></li>\n';

/** A whole page. */
export function page({ title, part, head: more, main }: PageContent): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - Fedway</title>
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

/** A link to the page of an endpoint. */
export const endpointLink = (id: string, text = id): Html => html`<a href="/endpoints/${id}">${text}</a>`;

/** A command that one click selects. */
export const toCopy = (name: string, command: string): Html =>
  html`<pre class="copy" tabindex="0" role="group" aria-label="${name}">${command}</pre>`;

/** Values of a choice, each with its text. */
export type Choices = Readonly<Record<string, string>>;

/** Choices that are shown as they are sent, after one for any. */
export const choicesOf = (names: readonly string[]): Choices => ({
  "": "Any",
  ...Object.fromEntries(names.map((name) => [name, name])),
});

/** A parameter of a form with its choices; one that is not set has the first. */
interface ChoiceField {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: Choices;
}

/** A select with its label. */
export const choiceField = ({ name, label, value = "", choices }: ChoiceField): Html =>
  html`<label for="${name}">${label}</label><select id="${name}" name="${name}">${Object.entries(choices).map(
    ([each, text]) => html`<option value="${each}"${each === value ? html` selected` : ""}>${text}</option>`,
  )}</select>`;

/** A heading of a section and what is under it. */
export const section = (id: string, heading: string, body: Html): Html =>
  html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
${body}
</section>
`;
