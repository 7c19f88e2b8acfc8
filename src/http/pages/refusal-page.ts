import type { FedwayError } from "../../errors/fedway-error.ts";
import { type Html, html } from "../../html.ts";
import { page } from "./layout.ts";

const suggestions = (ids: readonly string[]): Html => html`<p>Did you mean one of these?</p>
<ul>
${ids.map((id) => html`<li><a href="/endpoints/${id}"><code>${id}</code></a></li>\n`)}</ul>
`;

/** What a person sees instead of a problem document. */
export function refusalPage(error: FedwayError, version: string): string {
  const { title, status } = error.kind;
  const { endpoints = [], next } = error.details;
  const advice = next === undefined || error.code === "ENDPOINT_UNKNOWN" ? "" : html`<p>${next}</p>`;
  return page({
    title: `${title} - Fedway`,
    version,
    main: html`<h1>${title}</h1>
<div class="card"><p>${error.message}</p>
${endpoints.length > 0 ? suggestions(endpoints) : advice}
<p class="meta">Status ${status}, code <code>${error.code}</code></p></div>
<p><a href="/">Go to the catalogue</a></p>`,
  });
}
