import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { federationTurtle } from "../support/catalog-folder.ts";
import { type EmbeddedEngine, startEmbedded } from "../support/engines/embedded.ts";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { until } from "../support/eventually.ts";
import { startService } from "../support/running-service.ts";
import { leftQuads, rightGraphs, rightQuads, terms, virtuosoGraph } from "./data.ts";
import { graphWays, type Matches, type Way, ways } from "./ways.ts";

const embedded: readonly EmbeddedEngine[] = ["blazegraph", "rdf4j", "corese", "pyoxigraph", "rdflib"];
const names = ["virtuoso", "fuseki", ...embedded] as const;

const prefix = "http://example.org/";
const xsdString = "http://www.w3.org/2001/XMLSchema#string";

/**
 * What engines answer wrongly when they are asked alone: the way, a query without Fedway, its right rows and theirs. An excuse
 * that an engine needs no more fails.
 */
const ownFaults: Readonly<
  Record<string, { readonly way: string; readonly query: string; readonly given: readonly string[] }>
> = {
  virtuoso: {
    way: "a path of one or more that begins at keys",
    query: "SELECT ?o { <http://example.org/item/5> ex:sub+ ?o }",
    given: [],
  },
  rdflib: {
    way: "keys with GROUP BY inside",
    query: `SELECT ?i ?c { VALUES ?i { ex:none } { SELECT ?i (COUNT(?s) AS ?c) { ?s ex:link ?i } GROUP BY ?i } }`,
    given: ["none -"],
  },
};

let leftEngine: Engine;
let engines: ReadonlyMap<string, Engine>;
let service: Awaited<ReturnType<typeof startService>>;
const matches = new Map<string, Matches>();

beforeAll(async () => {
  const start = (name: (typeof names)[number]): Promise<Engine> => {
    if (name === "virtuoso") return startVirtuoso({ graphs: virtuosoGraphs() });
    return name === "fuseki" ? startFuseki({ data: rightQuads }) : startEmbedded(name, rightQuads);
  };
  leftEngine = await startFuseki({ data: leftQuads });
  engines = new Map(await Promise.all(names.map(async (name) => [name, await start(name)] as const)));
  const urls = [...engines].map(([name, { url }]) => [name, url] as const);
  const federations = names.map((name) => [
    `with-${name}.ttl`,
    federationTurtle(`with-${name}`, `fedway:member "left", "${name}"`),
  ]);
  service = await startService(
    Object.fromEntries([["left", leftEngine.url], ...urls]),
    {},
    Object.fromEntries(federations),
  );
  for (const [name, { url }] of engines) matches.set(name, await matchesAt(url));
});

afterAll(async () => {
  await service?.close();
  await Promise.all([leftEngine?.stop(), ...[...(engines?.values() ?? [])].map((engine) => engine.stop())]);
});

/** The default graph as a graph of its own: Virtuoso's is the union of all. */
const virtuosoGraphs = (): Readonly<Record<string, string>> => ({
  [virtuosoGraph]: rightQuads
    .split("\n")
    .filter((quad) => !/ <\S+graph\/\d> \.$/.test(quad))
    .join("\n"),
  ...Object.fromEntries(Object.entries(rightGraphs).map(([name, triples]) => [prefix + name, triples])),
});

interface Answer {
  readonly head: { readonly vars: readonly string[] };
  readonly results: { readonly bindings: readonly Readonly<Record<string, { readonly value: string }>>[] };
}

/** Rows as cells joined by blanks, in order of their text; the text of the answer when it is none of rows. */
async function rowsOf(url: string, query: string): Promise<readonly string[]> {
  const body = new URLSearchParams({ query: `PREFIX ex: <${prefix}>\n${query}` });
  const response = await fetch(url, { method: "POST", body, headers: { accept: "application/sparql-results+json" } });
  const text = await response.text();
  if (!response.ok) return [`${response.status} ${text}`];
  const { head, results }: Answer = JSON.parse(text);
  const cells = results.bindings.map((row) => head.vars.map((name) => row[name]?.value.replace(prefix, "") ?? "-"));
  return cells.map((row) => row.join(" ")).toSorted();
}

/** A string is one term in both of its spellings (RDF 1.1 Concepts, section 3.3); an engine may hold two. */
const spellings = (kind: string, term: string): readonly string[] => {
  const text = /^"[^"]*"/.exec(term)?.[0] ?? "";
  return kind === "string" ? [text, `${text}^^<${xsdString}>`] : [term];
};

async function matchesAt(url: string): Promise<Matches> {
  const kinds = Object.entries(terms).map(async ([kind, all]) => {
    const found = all.map(async (term, at) => {
      const rows = spellings(kind, term).map((text) => rowsOf(url, `SELECT ?r { ?r ex:right-${kind} ${text} }`));
      return [`left/${kind}/${at}`, [...new Set((await Promise.all(rows)).flat())]] as const;
    });
    return [kind, new Map(await Promise.all(found))] as const;
  });
  return Object.fromEntries(await Promise.all(kinds));
}

/** The ways with one engine, but those that it answers wrongly itself, as cases. */
const shouldAnswer = (name: string, among: readonly Way[]): void => {
  it.each(among.filter((way) => way.name !== ownFaults[name]?.way))("$name", async ({ query, expected }) => {
    const known = matches.get(name) ?? {};
    const asked = query.replaceAll("LEFT", "SERVICE <left>").replaceAll("RIGHT", `SERVICE <${name}>`);
    expect(await rowsOf(`${service.url}/sparql`, asked)).toEqual(expected(known).toSorted());
  });
};

describe.each(names)("%s", (name) => {
  const fault = ownFaults[name];
  shouldAnswer(name, ways);

  it("finds a string that is held with its datatype, or names that in the diagnosis", async () => {
    const body = JSON.stringify({ query: `SELECT ?s { SERVICE <${name}> { ?s <${prefix}typed> "w" } }` });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${service.url}/api/query`, { method: "POST", headers, body });
    const text = await response.text();
    expect(text).toMatch(
      /source\/1|Replace \\"w\\" by \\"w\\"\^\^\S+string>?; the query then has solutions \(checked\)/,
    );
  });

  it.each(graphWays)("GRAPH and FROM over a federation: $name", async ({ query, expected }) => {
    expect(await rowsOf(`${service.url}/federations/with-${name}/sparql`, query)).toEqual(expected({}).toSorted());
  });

  if (fault) {
    it(`answers another way wrongly alone: ${fault.way}`, async () => {
      expect(await rowsOf(engines.get(name)?.url ?? "", fault.query)).toEqual(fault.given);
    });
  }
});

describe("described", () => {
  beforeAll(async () => {
    const ids = ["left", ...names];
    await Promise.all(ids.map((id) => fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" })));
    const isDescribed = async (id: string) => (await fetch(`${service.url}/api/endpoints/${id}/void`)).ok;
    await until(async () => (await Promise.all(ids.map(isDescribed))).every(Boolean));
  });

  // Values that engines respell are joined by value with keys, and by term where their side is read first: see README.md.
  const respelled = /on (?:integer|decimal|double|boolean|date|dateTime)$/;
  describe.each(names)("%s", (name) => {
    shouldAnswer(
      name,
      ways.filter((way) => !respelled.test(way.name)),
    );
  });
});

it("each kind of terms has matches and terms without one at each engine", () => {
  for (const known of matches.values())
    for (const [kind, found] of Object.entries(known)) {
      const has = new Set([...found.values()].map((rows) => rows.length > 0));
      expect({ kind, some: has.has(true), none: kind === "language" || has.has(false) }).toEqual({
        kind,
        some: true,
        none: true,
      });
    }
});
