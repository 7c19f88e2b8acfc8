import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpServer, type HttpServer } from "../../../src/http/server.ts";
import { openAskedRegistry } from "../../support/asked-registry.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { createFakeDeps } from "../../support/http-deps.ts";

let registry: Awaited<ReturnType<typeof openAskedRegistry>>;
let server: HttpServer;

beforeAll(async () => {
  registry = await openAskedRegistry();
  server = await createHttpServer(await createFakeDeps(registry.deps));
});
afterAll(async () => {
  await server.close(0);
  await registry.close();
});

const base = fakeSettings.publicUrl;

const prefixes = `PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX dqv: <http://www.w3.org/ns/dqv#> PREFIX fedway: <https://w3id.org/fedway/ns#> PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX sd: <http://www.w3.org/ns/sparql-service-description#> PREFIX void: <http://rdfs.org/ns/void#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX ex: <http://vocabulary.example/>\n`;

const send = (query: string, accept = "text/csv") =>
  server.inject({
    method: "POST",
    url: "/registry/sparql",
    headers: { accept, host: new URL(base).host, "content-type": "application/sparql-query" },
    payload: prefixes + query,
  });

/** The rows as lines of CSV, sorted. */
async function rows(query: string): Promise<readonly string[]> {
  const answer = await send(query);
  expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  return answer.body.trim().split(/\r?\n/u).slice(1).toSorted();
}

it("answers with its age", async () => {
  const answer = await send("SELECT ?at { ?d a dcat:Catalog ; dcterms:modified ?at }");
  expect(answer.body.trim().split(/\r?\n/u)[1]).toBe(new Date(registry.source.asOfMs()).toISOString());
  expect(answer.headers["last-modified"]).toBe(new Date(registry.source.asOfMs()).toUTCString());
  expect(Number(answer.headers["age"])).toBeGreaterThanOrEqual(0);
});

interface Api {
  readonly endpoints: readonly {
    readonly id: string;
    readonly keywords: readonly string[];
    readonly engine?: string;
    readonly license?: string;
    readonly subjectPartition?: string;
    readonly mirrorOf?: string;
  }[];
  readonly federations: readonly { readonly id: string; readonly endpoints: readonly { readonly id: string }[] }[];
  readonly states: ReadonlyMap<string, string>;
  readonly availability: ReadonlyMap<string, readonly ApiWindow[]>;
  readonly incidents: readonly {
    readonly id: string;
    readonly endpoint?: string;
    readonly endpoints?: readonly string[];
    readonly state: string;
    readonly started: string;
    readonly fault?: string;
    readonly kind?: string;
  }[];
  readonly capabilities: ReadonlyMap<string, ApiCapabilities>;
}
interface ApiWindow {
  readonly window: string;
  readonly uptime?: number;
  readonly p50Ms?: number;
  readonly p90Ms?: number;
  readonly probes: number;
}
interface ApiCapabilities {
  readonly constructs: Readonly<Record<string, { readonly verdict: string }>>;
  readonly formats: readonly string[];
  readonly rowCap?: number;
}

let api: Api;

const json = async <Shape>(url: string): Promise<Shape | undefined> => {
  const answer = await server.inject({ url, headers: { host: new URL(base).host, accept: "application/json" } });
  return answer.statusCode === 200 ? answer.json() : undefined;
};

/** Everything that the JSON API says of the same state. */
beforeAll(async () => {
  const { endpoints = [] } = (await json<{ endpoints: Api["endpoints"] }>("/api/endpoints")) ?? {};
  const ids = endpoints.map(({ id }) => id);
  const each = async <Shape>(path: string): Promise<Map<string, Shape>> => {
    const found = await Promise.all(
      ids.map(async (id) => [id, await json<Shape>(`/api/endpoints/${id}/${path}`)] as const),
    );
    return new Map(found.flatMap(([id, shape]) => (shape === undefined ? [] : [[id, shape]])));
  };
  const availability = await each<{ readonly state: string; readonly windows: readonly ApiWindow[] }>("availability");
  const { federations = [] } = (await json<{ federations: { readonly id: string }[] }>("/api/federations")) ?? {};
  const whole = await Promise.all(
    federations.map(({ id }) => json<Api["federations"][number]>(`/api/federations/${id}`)),
  );
  api = {
    endpoints,
    federations: whole.filter((found) => found !== undefined),
    states: new Map([...availability].map(([id, { state }]) => [id, state])),
    availability: new Map([...availability].map(([id, { windows }]) => [id, windows])),
    incidents: (await json<{ incidents: Api["incidents"] }>("/api/incidents"))?.incidents ?? [],
    capabilities: await each("capabilities"),
  };
});

const windowOf = (id: string, name: string): ApiWindow | undefined =>
  api.availability.get(id)?.find(({ window }) => window === name);
const described = (test: (id: string) => boolean): readonly string[] => [...registry.descriptions.keys()].filter(test);
const hasClass = (id: string, name: string): boolean =>
  registry.descriptions.get(id)?.classPartitions.some((each) => each.class === `http://vocabulary.example/${name}`) ===
  true;
const hasProperty = (id: string, name: string): boolean =>
  registry.descriptions.get(id)?.propertyPartitions.some((each) => each.property.endsWith(`/${name}`)) === true;
const idsWith = (test: (capabilities: ApiCapabilities) => boolean): readonly string[] =>
  [...api.capabilities].flatMap(([id, found]) => (test(found) ? [id] : []));
const open = (id: string): boolean =>
  api.incidents.some((each) => each.state === "open" && (each.endpoint === id || each.endpoints?.includes(id)));
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

interface Question {
  readonly question: string;
  readonly query: string;
  /** Rows, as the JSON API gives them. */
  readonly expected: () => readonly string[];
}

const has = (pattern: string): string => `?s a dcat:DataService ; dcterms:identifier ?id . ${pattern}`;
const measured = (metric: string): string =>
  `?m dqv:computedOn ?s ; dqv:isMeasurementOf fedway:${metric} ; dqv:value ?value .`;
const classOf = (name: string): string => `?s dcat:servesDataset/void:classPartition/void:class ex:${name} .`;

const questions: readonly Question[] = [
  {
    question: "which endpoints have a class, and an uptime above 95 %",
    query: `SELECT ?id { ${has(`${classOf("Person")} ${measured("uptime30d")} FILTER(?value > 0.95)`)} }`,
    expected: () => described((id) => hasClass(id, "Person") && (windowOf(id, "30d")?.uptime ?? 0) > 0.95),
  },
  {
    question: "which endpoints have a property, and an open incident",
    query: `SELECT DISTINCT ?id { ${has(`?s dcat:servesDataset/void:propertyPartition/void:property ex:encodes .
      ?i a fedway:Incident ; dcterms:subject ?s FILTER NOT EXISTS { ?i prov:endedAtTime ?end }`)} }`,
    expected: () => described((id) => hasProperty(id, "encodes") && open(id)),
  },
  {
    question: "which endpoints answer property paths of length zero",
    query: `SELECT ?id { ${has("?s sd:feature fedway:zeroLengthPath .")} }`,
    expected: () => idsWith(({ constructs }) => constructs["zeroLengthPath"]?.verdict === "right"),
  },
  {
    question: "which endpoints refuse a construct, or answer it wrongly; a probe that failed says neither",
    query: `SELECT ?id ?label { ${has("?s fedway:lacksFeature/rdfs:label ?label .")} }`,
    expected: () =>
      [...api.capabilities].flatMap(([id, { constructs }]) =>
        Object.entries(constructs).flatMap(([name, { verdict }]) =>
          verdict === "wrong" ? `${id},${name === "minus" ? "MINUS" : "property paths of length zero"}` : [],
        ),
      ),
  },
  {
    question: "which endpoints cut answers, and where",
    query: `SELECT ?id ?cap { ${has("?s fedway:observedRowCap ?cap .")} }`,
    expected: () =>
      [...api.capabilities].flatMap(([id, { rowCap }]) => (rowCap === undefined ? [] : `${id},${rowCap}`)),
  },
  {
    question: "which endpoints answer as CSV",
    query: `SELECT ?id { ${has("?s sd:resultFormat ?f FILTER(STRENDS(STR(?f), '/text/csv'))")} }`,
    expected: () => idsWith(({ formats }) => formats.includes("text/csv")),
  },
  {
    question: "which descriptions are older than 30 days",
    query: `SELECT ?id { ${has(`?s dcat:servesDataset ?d . ?doc foaf:primaryTopic ?d ; prov:wasGeneratedBy/prov:endedAtTime ?t
      FILTER(?t < "2026-02-10T14:05:00Z"^^xsd:dateTime)`)} }`,
    expected: () => described((id) => (registry.descriptions.get(id)?.finishedAt ?? "") < "2026-02-10T14:05:00"),
  },
  {
    question: "which endpoints have links to Wikidata",
    query: `SELECT ?id { ${has('?s dcat:servesDataset ?d . ?d void:subset ?l . ?l a void:Linkset ; void:objectsTarget/dcterms:identifier "wikidata" .')} }`,
    expected: () =>
      described(
        (id) => registry.descriptions.get(id)?.linksets.some((each) => each.targetEndpoint === "wikidata") === true,
      ),
  },
  {
    question: "which classes are at more than three endpoints",
    query:
      "SELECT ?c { ?s dcat:servesDataset/void:classPartition/void:class ?c } GROUP BY ?c HAVING (COUNT(DISTINCT ?s) > 3)",
    expected: () =>
      ["Person", "City", "Gene"].flatMap((name) =>
        described((id) => hasClass(id, name)).length > 3 ? `http://vocabulary.example/${name}` : [],
      ),
  },
  {
    question: "the slowest median latency by keyword",
    query: `SELECT ?word (MAX(?value) AS ?ms) { ?s dcat:keyword ?word . ${measured("medianLatency7d")} } GROUP BY ?word`,
    expected: () =>
      ["biology", "geography"].map((word) => {
        const ids = api.endpoints.filter(({ keywords }) => keywords.includes(word)).map(({ id }) => id);
        return `${word},${median(ids.flatMap((id) => windowOf(id, "7d")?.p50Ms ?? []))}`;
      }),
  },
  {
    question: "all members of which federations are up",
    query: `SELECT ?id { ?f a fedway:Federation ; dcterms:identifier ?id . FILTER EXISTS { ?f dcterms:hasPart ?any }
      FILTER NOT EXISTS { ?f dcterms:hasPart ?s . ?s fedway:state ?state FILTER(?state != "up") } }`,
    expected: () =>
      api.federations
        .filter(({ endpoints }) => endpoints.every(({ id }) => (api.states.get(id) ?? "up") === "up"))
        .map(({ id }) => id),
  },
  {
    question: "which federations have which members",
    query:
      "SELECT ?f ?id { ?fed a fedway:Federation ; dcterms:identifier ?f ; dcterms:hasPart/dcterms:identifier ?id }",
    expected: () =>
      api.federations.flatMap(({ id, endpoints }) =>
        endpoints.filter((each) => each.id !== "registry").map((each) => `${id},${each.id}`),
      ),
  },
  {
    question: "which endpoints are of unknown state, and have no measurement",
    query: `SELECT ?id { ${has('?s fedway:state "unknown" FILTER NOT EXISTS { ?m dqv:computedOn ?s ; dqv:isMeasurementOf/a dqv:Metric ; fedway:probes ?n }')} }`,
    expected: () =>
      [...api.states].flatMap(([id, state]) => (state === "unknown" && !windowOf(id, "90d")?.uptime ? id : [])),
  },
  {
    question: "the faults of incidents",
    query: "SELECT ?name ?fault { ?i a fedway:Incident ; dcterms:identifier ?name ; fedway:fault ?fault }",
    expected: () => api.incidents.flatMap(({ id, fault }) => (fault === undefined ? [] : `${id},${fault}`)),
  },
  {
    question: "which endpoints have incidents of certificates or drift",
    query: `SELECT ?id ?kind { VALUES ?kind { "certificate" "drift" }
      ?i fedway:incidentKind ?kind ; dcterms:subject/dcterms:identifier ?id }`,
    expected: () =>
      api.incidents.flatMap(({ endpoint = "", kind = "" }) =>
        ["certificate", "drift"].includes(kind) ? `${endpoint},${kind}` : [],
      ),
  },
  {
    question: "which endpoints are concerned by incidents of their host",
    query: 'SELECT ?id { ?i fedway:incidentSubject "host" ; dcterms:subject/dcterms:identifier ?id }',
    expected: () => api.incidents.flatMap(({ endpoints = [] }) => endpoints),
  },
  {
    question: "of which endpoints is a class known from publications alone",
    query: `SELECT ?id { ${has(`?s fedway:publishedFacts ?p . ?p fedway:source "published" ; void:classPartition/void:class ex:Gene
      FILTER NOT EXISTS { ${classOf("Gene")} }`)} }`,
    expected: () => ["delta"],
  },
  {
    question: "which descriptions were retrieved or mixed, and not computed alone",
    query: `SELECT ?id ?source { ${has('?s dcat:servesDataset ?d . ?doc foaf:primaryTopic ?d ; fedway:source ?source FILTER(?source != "computed")')} }`,
    expected: () =>
      [...registry.descriptions].flatMap(([id, { source }]) => (source === "computed" ? [] : `${id},${source}`)),
  },
  {
    question: "which endpoints have a count of a class that is a lower bound only",
    query: `SELECT DISTINCT ?id { ${has(`?s dcat:servesDataset/void:classPartition ?c .
      ?note dqv:isMeasurementOf fedway:factStatus ; dqv:value "lowerBound" ; dqv:computedOn ?c .`)} }`,
    expected: () =>
      described(
        (id) =>
          registry.descriptions.get(id)?.classPartitions.some((each) => each.entities?.status === "lowerBound") ===
          true,
      ),
  },
  {
    question: "which endpoints are shards, mirrors, or of Virtuoso",
    query: `SELECT ?id ?how { ${has("{ ?s fedway:subjectPartition ?how } UNION { ?s fedway:mirrorOf ?how } UNION { ?s fedway:engine ?how }")} }`,
    expected: () =>
      api.endpoints.flatMap(({ id, subjectPartition, mirrorOf, engine }) =>
        [subjectPartition, mirrorOf, engine].flatMap((how) => (how === undefined ? [] : `${id},${how}`)),
      ),
  },
  {
    question: "uptime of each endpoint and window with the number of its probes",
    query: `SELECT ?id ?metric ?n { ${has(`?m dqv:computedOn ?s ; dqv:isMeasurementOf ?x ; fedway:probes ?n
      BIND(STRAFTER(STR(?x), "#uptime") AS ?metric) FILTER(?metric != "")`)} }`,
    expected: () =>
      [...api.availability].flatMap(([id, windows]) =>
        windows.flatMap(({ window, probes }) => (probes > 0 ? `${id},${window},${probes}` : [])),
      ),
  },
  {
    question: "in which document a statement stands",
    query: 'SELECT ?g { GRAPH ?g { ?s fedway:state "down" } }',
    expected: () =>
      [...api.states].flatMap(([id, state]) => (state === "down" ? `${base}/api/endpoints/${id}/availability` : [])),
  },
];

describe("questions", () => {
  it.each(questions)("$question", async ({ query, expected }) => {
    const rowsNow = await rows(query);
    expect(rowsNow).toEqual(expected().toSorted());
    expect(rowsNow).not.toEqual([]);
  });
});

/** The queries of the user's guide that the registry alone answers. */
const guide = readFileSync(new URL("../../../deploy/guide/ask-the-registry.md", import.meta.url), "utf8");
const [guidePrefixes = "", ...blocks] = [...guide.matchAll(/```sparql\n(.*?)```/gsu)].map(([, text = ""]) => text);
const guideQueries = blocks.filter((text) => !text.includes("SERVICE"));

it("answers the queries of the user's guide with their own prefixes", async () => {
  expect(guideQueries).toHaveLength(8);
  const found: Record<string, number> = {};
  for (const query of guideQueries) {
    const asked =
      guidePrefixes +
      query
        .replaceAll("foaf:Person", "<http://vocabulary.example/Person>")
        .replaceAll("foaf:name", "<http://vocabulary.example/encodes>");
    const answer = await server.inject({
      method: "POST",
      url: "/registry/sparql",
      headers: { accept: "text/csv", host: new URL(base).host, "content-type": "application/sparql-query" },
      payload: asked,
    });
    expect([query, answer.statusCode]).toEqual([query, 200]);
    found[query.split("\n")[0] ?? ""] = answer.body.trim().split(/\r?\n/u).length - 1;
  }
  expect(Object.entries(found).filter(([, count]) => count === 0)).toEqual([]);
});
