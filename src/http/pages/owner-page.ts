import { type Html, html } from "../../html.ts";
import type { EndpointHealth } from "../../monitor/monitor.ts";
import { type Capabilities, deviationsIn } from "../../registry/capabilities.ts";
import { packageVersion } from "../../package-file.ts";
import type { HttpSettings, HttpShell, TypedApp } from "../http-deps.ts";
import { IdPath } from "../schemas.ts";
import { hasAccess } from "../write-access.ts";
import { dataBody } from "./endpoint-data.ts";
import { windowTable } from "./endpoint-health.ts";
import { incidentsBody, readSection, type ShownEndpoint, shownEndpoint, stateLine } from "./endpoint-page.ts";
import { numberText } from "../../figures.ts";
import { faultList, latencyOf, moment } from "./figures.ts";
import { maintenanceBody } from "./maintenance-forms.ts";
import { fact, page, section, table, toCopy } from "./layout.ts";
import { sendPage } from "./page-reply.ts";

const slowest = 5;

/** The hours of the last day whose good probes took longest. */
function slowHours({ hours }: EndpointHealth): Html {
  const measured = hours.filter(({ p50Ms }) => p50Ms !== undefined);
  if (measured.length === 0) return html`<p class="muted">No latency is known of the last 24 hours.</p>`;
  const rows = measured.toSorted((a, b) => (b.p50Ms ?? 0) - (a.p50Ms ?? 0)).slice(0, slowest);
  return table({
    name: "Slowest hours",
    columns: [
      ["Hour (UTC)", ({ fromMs }) => moment(fromMs, false)],
      ["#Median", ({ p50Ms }) => latencyOf(p50Ms)],
      ["#Probes", ({ probes }) => numberText(probes)],
      ["Faults", ({ faults }) => faultList(faults)],
    ],
    rows,
  });
}

/** Constructs that were answered otherwise than SPARQL 1.1 says, with the request and what came. */
function deviations(found: Capabilities | undefined): Html {
  if (found === undefined) return html`<p class="muted">Nothing has been probed yet.</p>`;
  const wrong = deviationsIn(found);
  const probed = html`<p class="muted">Probed ${moment(Date.parse(found.probedAt))}${found.unfinished ? "; the probing ended early" : ""}.</p>`;
  if (wrong.length === 0)
    return html`${probed}<p>${found.reachable ? "No deviation was found." : "The endpoint did not answer."}</p>`;
  return html`${probed}${wrong.map(
    ({ construct, query, verdict, detail }) => html`<h3>${construct}: ${verdict}</h3>
${toCopy(`Request for ${construct}`, query)}<p>Came: ${detail ?? "nothing that says why"}</p>\n`,
  )}`;
}

function howAsked({ contact, limits }: HttpSettings, id: string): Html {
  const { hostRate, endpointConcurrency } = limits;
  const stop =
    contact === undefined
      ? "This service names no contact (FEDWAY_CONTACT); refuse its User-Agent, or answer 429 with Retry-After, which it obeys."
      : html`Write to <strong>${contact}</strong> and name <code>${id}</code>. Until then, 429 with Retry-After is obeyed.`;
  return html`<dl class="facts">
${fact("User-Agent", html`<code>Fedway/${packageVersion()}${contact === undefined ? "" : ` (${contact})`}</code>`, true)}${fact("Requests a second", hostRate === 0 ? "no limit" : `at most ${hostRate} to one public host`)}${fact("At once", `at most ${endpointConcurrency}`)}${fact("To ask us to stop", stop, true)}</dl>`;
}

function badgeCode(publicUrl: string, id: string): Html {
  const url = `${publicUrl}/endpoints/${id}`;
  return html`<p><img src="/endpoints/${id}/badge.svg" alt="State and uptime"></p>
${toCopy("Badge for Markdown", `[![SPARQL endpoint](${url}/badge.svg)](${url})`)}
${toCopy("Badge for HTML", `<a href="${url}"><img src="${url}/badge.svg" alt="SPARQL endpoint"></a>`)}
${toCopy("Badge of shields.io", `https://img.shields.io/endpoint?url=${encodeURIComponent(`${url}/badge.json`)}`)}`;
}

/** The page for the owner of an endpoint: what Fedway sees of it, how it asks, and what other clients ask stays out. */
function ownerPage(shown: ShownEndpoint, settings: HttpSettings): string {
  const { entry, availability, incidents, maintenance, capabilities, data, nowMs, asker, publicUrl } = shown;
  return page({
    title: `${entry.title}, for its owner`,
    main: html`<p class="crumbs"><a href="/">Endpoints</a> / <a href="/endpoints/${entry.id}">${entry.id}</a> / owner</p>
<h1>${entry.title}, for its owner</h1>
${stateLine(shown)}
${readSection("Uptime", availability, ({ windows }) => windowTable(windows))}
${readSection("Incidents", incidents, (value) => incidentsBody(value, nowMs))}
${readSection("Slowest hours", availability, ({ health }) => slowHours(health))}
${readSection("Deviations", capabilities, deviations)}
${readSection("Description", data, (value) => dataBody(value, asker))}
${section("asking", "How this service asks", howAsked(settings, entry.id))}
${readSection("Maintenance", maintenance, (value) => maintenanceBody(value, nowMs, asker))}
${section("badge", "Badge", badgeCode(publicUrl, entry.id))}`,
  });
}

/** `/endpoints/{id}/owner`. */
export const addOwnerPage = (app: TypedApp, shell: HttpShell): void =>
  void app.get("/endpoints/:id/owner", {
    schema: { tags: ["Pages"], summary: "One endpoint for its owner, as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const shown = await shownEndpoint(shell, request.params.id, hasAccess(request));
      return sendPage(request, reply, ownerPage(shown, shell.config));
    },
  });
