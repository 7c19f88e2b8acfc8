import { createHash } from "node:crypto";
import type { Incident, IncidentKind } from "../monitor/monitor.ts";
import { kindOf, subjectOf } from "../monitor/subjects.ts";

/** Sources of a feed. */
export interface IncidentFeedInput {
  readonly incidents: readonly Incident[];
  /** For titles; an incident may be of an endpoint that has left the catalogue. */
  readonly entries: readonly { readonly id: string; readonly title: string }[];
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** Path at which the feed is served. */
  readonly path: string;
  /** When the feed was begun, in milliseconds: its moment while there are no incidents. */
  readonly updatedMs: number;
}

interface FeedEntry {
  readonly id: string;
  readonly title: string;
  readonly atMs: number;
  readonly summary: string;
  readonly link: string;
}

/** Entries of one feed; readers come often enough. */
const mostEntries = 200;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Characters that XML 1.0 does not have (section 2.2). */
const unfit = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(unfit, "\uFFFD")
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);

const iso = (ms: number): string => new Date(ms).toISOString();

/** A UUID that is the same for the same words (RFC 9562, section 5.8), as no word of them changes in an incident's life. */
function uuidOf(...words: readonly string[]): string {
  const hex = createHash("sha256").update(JSON.stringify(words)).digest("hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join("-")}`;
}

/** Hours and minutes; "under a minute" when there are none. */
function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "under a minute";
  const hours = Math.floor(minutes / 60);
  const rest = `${minutes % 60} min`;
  return hours === 0 ? rest : `${hours} h ${rest}`;
}

const endings: Readonly<Record<NonNullable<Incident["closedBy"]>, string>> = {
  recovered: "It answers again.",
  removed: "It was removed from the catalogue.",
  moved: "Its URL has changed.",
  maintenance: "Its maintenance has begun.",
};

/** Words for an endpoint with an open incident. */
const openWords: Readonly<Record<IncidentKind, string>> = {
  down: "is down",
  degraded: "is degraded",
  flapping: "is flapping",
  network: "cannot reach the network",
  certificate: "has a certificate that ends soon",
  drift: "is not as it was",
};

const closedWords: Readonly<Partial<Record<IncidentKind, string>>> = {
  certificate: "has a new certificate",
  drift: "is as it was again",
};

/** How the feed speaks of what an incident is of. */
function wordsOf(incident: Incident, titleOf: (id: string) => string) {
  const subject = subjectOf(incident);
  const again = { down: openWords[kindOf(incident)], up: closedWords[kindOf(incident)] ?? "is up again" };
  if (subject.kind === "network" && subject.partly) {
    const names = (incident.endpoints ?? []).map(titleOf).join(", ");
    return {
      name: "A part of the hosts",
      down: "cannot be reached",
      up: "can be reached again",
      what: `Its endpoints (${names}) have failed`,
    };
  }
  if (subject.kind === "network") {
    const what = "Most hosts have given no answer, and nothing is known of endpoints beyond the network,";
    return { name: "This service", down: "cannot reach the network", up: "reaches the network again", what };
  }
  if (subject.kind === "endpoint") {
    return { ...again, name: titleOf(incident.endpoint), what: `${incident.url} has failed` };
  }
  const names = (incident.endpoints ?? []).map(titleOf).join(", ");
  return { ...again, name: `The host ${subject.host}`, what: `Its endpoints (${names}) have failed` };
}

/** The entry of its opening, and that of its closing when it is closed. */
function entriesOf(incident: Incident, titleOf: (id: string) => string, publicUrl: string): readonly FeedEntry[] {
  const { closedBy = "recovered", closedMs, endpoint, fault, faults, id, openedMs, startedMs, summary } = incident;
  const { name, down, up, what } = wordsOf(incident, titleOf);
  const link = `${publicUrl}/incidents/${encodeURIComponent(id)}`;
  const opening: FeedEntry = {
    id: uuidOf("incident", id, endpoint, "opened"),
    title: `${name} ${down}${fault === undefined ? "" : ` (${fault})`}`,
    atMs: openedMs,
    summary: summary ?? `${what} since ${iso(startedMs)}. The first fault was: ${fault}.`,
    link,
  };
  if (closedMs === undefined) return [opening];
  const counts = Object.entries(faults).map(([kind, count]) => `${count} ${kind}`);
  const closing: FeedEntry = {
    id: uuidOf("incident", id, endpoint, "closed"),
    title: closedBy === "recovered" ? `${name} ${up}` : `${name}: the incident is closed`,
    atMs: closedMs,
    summary: `${closedBy === "recovered" && fault === undefined ? "It is over." : endings[closedBy]} It lasted ${durationText(closedMs - startedMs)}; faults: ${counts.join(", ") || "none kept"}.`,
    link,
  };
  return [closing, opening];
}

const entryText = ({ atMs, id, link, summary, title }: FeedEntry): string => `  <entry>
    <id>${id}</id>
    <title>${escaped(title)}</title>
    <updated>${iso(atMs)}</updated>
    <published>${iso(atMs)}</published>
    <link rel="alternate" type="text/html" href="${escaped(link)}"/>
    <summary>${escaped(summary)}</summary>
  </entry>
`;

/** Openings and closings of incidents as an Atom feed (RFC 4287), newest first; the latest 200. */
export function incidentFeed({ entries, incidents, path, publicUrl, updatedMs }: IncidentFeedInput): string {
  const titles = new Map(entries.map(({ id, title }) => [id, title]));
  const all = incidents
    .flatMap((incident) => entriesOf(incident, (id) => titles.get(id) ?? id, publicUrl))
    .toSorted((left, right) => right.atMs - left.atMs)
    .slice(0, mostEntries);
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${uuidOf("feed", publicUrl)}</id>
  <title>Incidents of SPARQL endpoints</title>
  <updated>${iso(all[0]?.atMs ?? updatedMs)}</updated>
  <author><name>Fedway</name></author>
  <link rel="self" type="application/atom+xml" href="${escaped(publicUrl + path)}"/>
  <link rel="alternate" type="text/html" href="${escaped(publicUrl)}/status"/>
${all.map(entryText).join("")}</feed>
`;
}
