import type { HttpDeps } from "../../src/http/http-deps.ts";
import { describedModels } from "./described-models.ts";
import { catalogEntry, createCatalog } from "./catalog-entry.ts";
import { createFakeMonitor, type FakeMonitorOptions, fates } from "./fake-monitor.ts";
import { fakeSettings } from "./fake-query-service.ts";
import { fakeNowMs } from "./http-deps.ts";
import { sampleDescription } from "./sample-description.ts";
import { syntheticEntries } from "./synthetic-catalog.ts";
import type { Capabilities } from "../../src/registry/capabilities.ts";
import type { CatalogEntry, EditableCatalog, Federation } from "../../src/registry/catalog.ts";

/** A catalogue in memory that nobody changes. */
export function readOnlyCatalog(
  entries: readonly CatalogEntry[],
  federations: readonly Federation[] = [],
): EditableCatalog {
  const refused = async () => Promise.reject(new Error("this catalogue is not changed"));
  return {
    ...createCatalog(entries, [], { publicUrl: fakeSettings.publicUrl, federations }),
    document: () => undefined,
    authorship: () => undefined,
    documents: () => [],
    drift: [],
    write: refused,
    change: refused,
    remove: refused,
    refresh: async () => undefined,
    fileUrl: () => undefined,
    operatorUrl: () => undefined,
    setArgument: () => {},
    onChange: () => () => undefined,
  };
}

/** What was found of `people`: something of everything. */
const capabilities: Capabilities = {
  endpoint: "people",
  probedAt: "2026-03-01T04:05:06.000Z",
  reachable: true,
  constructs: {
    values: { verdict: "right", durationMs: 40 },
    aggregates: { verdict: "right", durationMs: 51 },
    minus: { verdict: "wrong", detail: "3 rows instead of 2 <script>alert(1)</script>", durationMs: 45 },
    zeroLengthPath: { verdict: "refused", detail: "HTTP 400", durationMs: 31 },
    construct: { verdict: "failed", detail: "no answer in time", durationMs: 10_000 },
  },
  methods: ["post-form", "get"],
  formats: ["application/sparql-results+json", "text/csv"],
  rowCap: 10_000,
  rowCapSilent: true,
  maxValuesRows: 1000,
  unfinished: true,
};

/** Entries with everything that pages show, hostile ones among them, then made-up ones. */
export const pageEntries = (count: number): readonly CatalogEntry[] => [
  catalogEntry("people", {
    title: "People of the north",
    description: "Persons with their birthplaces, occupations and authority numbers.",
    homepage: "https://people.example/about",
    license: "http://creativecommons.org/licenses/by/4.0/",
    keywords: ["persons", "authority files"],
    engine: "virtuoso",
    notes: ["Cuts answers after 10,000 rows.", "Is slow on Sunday mornings."],
    rowCap: 10_000,
    blocksService: true,
    method: "post-form",
  }),
  catalogEntry("undescribed", { title: "Proteins without words", keywords: ["proteins"] }),
  catalogEntry("gone", { title: "Museums, once", interface: "tpf" }),
  catalogEntry("dark", { title: "Coins that nobody has probed", interface: "file" }),
  catalogEntry("hostile", {
    title: `<script>alert("title")</script><img src=//evil.example/x onerror=alert(1)>`,
    description: `</p><style>*{display:none}</style>" onmouseover="alert(1) ${"endless".repeat(40)}`,
    homepage: "javascript:alert(1)",
    license: "data:text/html,<script>alert(1)</script>",
    keywords: [`"><script>alert("keyword")</script>`, "k".repeat(200)],
    engine: "<b>engine",
    notes: [`</ul><h1>A note</h1> ${"wide".repeat(100)}`],
  }),
  ...syntheticEntries(count),
];

const pageFederations: readonly Federation[] = [
  {
    id: "north",
    title: "The <b>north</b> and what is said of it",
    description: `</p><script>alert("description")</script> ${"endless".repeat(30)}`,
    members: ["people", "dark", "gone", "hostile", "nowhere"],
    memberKeywords: ["proteins", `"><script>alert("keyword")</script>`],
    memberQuery: "<img src=//evil.example/x>",
  },
];

/** Also from `people` to an endpoint with a hostile title. */
const [, toOthers = sampleDescription.linksets[0]] = sampleDescription.linksets;
const linksets = (id: string) => [
  ...sampleDescription.linksets,
  ...(toOthers ? [{ ...toOthers, targetEndpoint: id === "people" ? "hostile" : "people" }] : []),
];

/** What the page tests of the HTTP shell look at; `count` made-up endpoints stand beside the five special ones. */
export function pageDeps(
  options: { readonly count?: number } & Pick<Partial<FakeMonitorOptions>, "heartbeat"> = {},
): Partial<HttpDeps> {
  const { count = 60, heartbeat } = options;
  const catalog = readOnlyCatalog(pageEntries(count), pageFederations);
  const byName: Readonly<Record<string, (typeof fates)[number]>> = {
    people: "recovered",
    gone: "down",
    dark: "silent",
    hostile: "down",
  };
  const monitor = createFakeMonitor({
    endpoints: catalog.entries,
    nowMs: fakeNowMs,
    fateOf: (id, at) => byName[id] ?? (at % 6 === 0 ? (fates[(at / 6) % fates.length] ?? "steady") : "steady"),
    ...(heartbeat && { heartbeat }),
  });
  const described = new Set(["people", "undescribed"]);
  const known = describedModels({
    entries: catalog.entries,
    descriptions: [...described].map((id) => [id, { ...sampleDescription, id, linksets: linksets(id) }]),
    statusOf: (id) => monitor.health(id)?.state ?? "unknown",
  });
  // Words are looked up in entries only.
  const nothing = { hits: [], total: 0, ranking: "lexical" as const, complete: true };
  Object.assign(known.finder, { rankEndpoints: async () => nothing });
  const none = async () => Promise.reject(new Error("no jobs in this test"));
  return {
    catalog,
    monitor,
    ...known,
    descriptions: {
      get: async (id) => (described.has(id) ? { ...sampleDescription, id } : undefined),
      begun: async () => undefined,
      freshness: async (id) => (described.has(id) ? { state: "unfinished" } : { state: "none" }),
      request: none,
    },
    capabilities: { get: async (id) => (id === "people" ? capabilities : undefined), request: none },
  };
}
