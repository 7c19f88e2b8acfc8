import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { federationTurtle } from "../support/catalog-folder.ts";
import { type EmbeddedEngine, startEmbedded } from "../support/engines/embedded.ts";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { type Recorder, startRecorder } from "../support/recorder.ts";
import { until } from "../support/eventually.ts";
import { startService } from "../support/running-service.ts";
import { leftQuads, rightGraphs, rightQuads, terms, virtuosoGraph } from "./data.ts";
import { descriptions, federatedWays, formWays, type Matches, type Way, ways } from "./ways.ts";

const embedded: readonly EmbeddedEngine[] = ["blazegraph", "rdf4j", "corese", "pyoxigraph", "rdflib"];
const names = ["virtuoso", "fuseki", ...embedded] as const;

const prefix = "http://example.org/";
const xsdString = "http://www.w3.org/2001/XMLSchema#string";

/**
 * What engines answer wrongly when they are asked alone: the way, a query without Fedway, its right rows and theirs. An excuse
 * that an engine needs no more fails.
 */
const ownFaults: Readonly<Record<string, readonly OwnFault[]>> = {
  virtuoso: [
    {
      way: "a path of one or more that begins at keys",
      query: "SELECT ?o { <http://example.org/item/5> ex:sub+ ?o }",
      given: [],
    },
    {
      // It is no object and has no type: Virtuoso looks for a graph in which it is one or has one.
      way: "DESCRIBE a subject",
      query: "DESCRIBE <http://example.org/source/2>",
      given: [],
    },
    ...["a path that ends at keys", "a path whose other end is not asked for"].map((way) => ({
      way,
      entry: "virtuoso-filter",
      query: "SELECT ?o ?i { { ?o ex:sub+ ?i } FILTER(?i = <http://example.org/item/3>) }",
      given: ["500 Virtuoso 37000 Error TR...: transitive start not given"],
    })),
  ],
  corese: [
    {
      way: "CONSTRUCT with ORDER BY and LIMIT",
      query: "CONSTRUCT { ?s ex:first ?s } WHERE { ?s ex:weight ?w } ORDER BY DESC(?w) LIMIT 1",
      given: ["<source/1> <first> <source/1> ."],
    },
  ],
  rdflib: [
    {
      way: "keys with GROUP BY inside",
      query: `SELECT ?i ?c { VALUES ?i { ex:none } { SELECT ?i (COUNT(?s) AS ?c) { ?s ex:link ?i } GROUP BY ?i } }`,
      given: ["none -"],
    },
  ],
};

interface OwnFault {
  readonly way: string;
  /** Only where it is asked by this name. */
  readonly entry?: string;
  readonly query: string;
  /** The rows, or lines of the failure. */
  readonly given: readonly string[];
}

const isRight = (engine: string, { name }: Way, entry = engine): boolean =>
  !ownFaults[engine]?.some((fault) => fault.way === name && (fault.entry ?? entry) === entry);

let leftEngine: Engine;
let engines: ReadonlyMap<string, Engine>;
/** In front of each engine; those of `NAME-filter` refuse VALUES. */
let recorders: ReadonlyMap<string, Recorder>;
let service: Awaited<ReturnType<typeof startService>>;
const matches = new Map<string, Matches>();

beforeAll(async () => {
  const start = (name: (typeof names)[number]): Promise<Engine> => {
    if (name === "virtuoso") return startVirtuoso({ graphs: virtuosoGraphs() });
    return name === "fuseki" ? startFuseki({ data: rightQuads }) : startEmbedded(name, rightQuads);
  };
  leftEngine = await startFuseki({ data: leftQuads });
  engines = new Map(await Promise.all(names.map(async (name) => [name, await start(name)] as const)));
  const relays = [...engines].flatMap(([name, { url }]) => [
    startRecorder(url).then((recorder) => [name, recorder] as const),
    startRecorder(url, (body) => body.includes("VALUES")).then((recorder) => [`${name}-filter`, recorder] as const),
  ]);
  recorders = new Map(await Promise.all(relays));
  const urls = [...recorders].map(([name, { url }]) => [name, url] as const);
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
  await Promise.all([...(recorders?.values() ?? [])].map((recorder) => recorder.close()));
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

interface Term {
  readonly type: string;
  readonly value: string;
  readonly datatype?: string;
  readonly "xml:lang"?: string;
}

interface Answer {
  readonly boolean?: boolean;
  readonly head: { readonly vars: readonly string[] };
  readonly results: { readonly bindings: readonly Readonly<Record<string, Term>>[] };
}

const isLine = (line: string): boolean => line !== "" && !line.startsWith("#");

const shortened = (line: string): string => line.replaceAll(prefix, "").replaceAll(/\s+/g, " ").trim();

const cellOf = (term: Term | undefined): string => term?.value.replace(prefix, "") ?? "-";

/** Rows as cells joined by blanks, or triples, or the truth, in order of their text; the text of the answer when it is a failure. */
const rowsOf = async (url: string, query: string): Promise<readonly string[]> => {
  const answer = await answerOf(url, query);
  // Virtuoso writes a comment where there are no triples.
  if (typeof answer === "string") return answer.split("\n").filter(isLine).map(shortened).toSorted();
  const { boolean, head, results } = answer;
  if (boolean !== undefined) return [`${boolean}`];
  return results.bindings.map((row) => head.vars.map((name) => cellOf(row[name])).join(" ")).toSorted();
};

async function answerOf(url: string, query: string): Promise<Answer | string> {
  const body = new URLSearchParams({ query: `PREFIX ex: <${prefix}>\n${query}` });
  const isGraph = /^(?:CONSTRUCT|DESCRIBE)/.test(query);
  const accept = isGraph ? "application/n-triples" : "application/sparql-results+json";
  const response = await fetch(url, { method: "POST", body, headers: { accept } });
  const text = await response.text();
  if (!response.ok) return `${response.status} ${text}`;
  return isGraph ? text : JSON.parse(text);
}

/** A string is one term in both of its spellings (RDF 1.1 Concepts, section 3.3); an engine may hold two. */
const spellings = (kind: string, term: string): readonly string[] => {
  const text = /^"[^"]*"/.exec(term)?.[0] ?? "";
  return kind === "string" ? [text, `${text}^^<${xsdString}>`] : [term];
};

async function matchesAt(url: string): Promise<Matches> {
  const found = async (kind: string): Promise<readonly [Entries, Entries]> => {
    const written = (terms[kind] ?? []).map((term, at) => [`left/${kind}/${at}`, term] as const);
    return [
      await holders({ url, property: `right-${kind}`, kind }, written),
      await holders({ url: leftEngine.url, property: `left-${kind}`, kind }, await givenTerms(url, kind)),
    ];
  };
  const all: (readonly [string, Entries, Entries])[] = [];
  for (const kind of Object.keys(terms)) all.push([kind, ...(await found(kind))]);
  return {
    ofLeft: Object.fromEntries(all.map(([kind, ofLeft]) => [kind, new Map(ofLeft)])),
    ofRight: Object.fromEntries(all.map(([kind, , ofRight]) => [kind, new Map(ofRight)])),
  };
}

type Entries = readonly (readonly [string, readonly string[]])[];

/** The subjects that an endpoint has for each of these terms. */
const holders = (
  { url, property, kind }: { readonly url: string; readonly property: string; readonly kind: string },
  of: readonly (readonly [subject: string, term: string])[],
): Promise<Entries> =>
  Promise.all(
    of.map(async ([subject, term]) => {
      const rows = spellings(kind, term).map((text) => rowsOf(url, `SELECT ?s { ?s ex:${property} ${text} }`));
      return [subject, [...new Set((await Promise.all(rows)).flat())]] as const;
    }),
  );

/** The terms of a kind as the engine gives them, by their subjects. */
async function givenTerms(url: string, kind: string): Promise<readonly (readonly [string, string])[]> {
  const answer = await answerOf(url, `SELECT ?r ?v { ?r ex:right-${kind} ?v }`);
  if (typeof answer === "string") throw new Error(answer);
  return answer.results.bindings.flatMap(({ r, v }) => (v ? [[cellOf(r), textOf(v)] as const] : []));
}

function textOf({ type, value, datatype, "xml:lang": language }: Term): string {
  if (type === "uri") return `<${value}>`;
  const suffix = datatype === undefined ? "" : `^^<${datatype}>`;
  return `${JSON.stringify(value)}${language === undefined ? suffix : `@${language}`}`;
}

const atServices = (query: string, name: string): string =>
  query.replaceAll("LEFT", "SERVICE <left>").replaceAll("RIGHT", `SERVICE <${name}>`);

/** Some ways with one engine, but those that it answers wrongly itself, as cases. */
const shouldAnswerAt = (entry: string, among: readonly Way[], name: string): void => {
  it.each(among.filter((way) => isRight(name, way, entry)))(`SERVICE <${entry}>: $name`, async (way) => {
    const rows = await rowsOf(`${service.url}/sparql`, atServices(way.query, entry));
    expect(rows).toEqual(rightRows(name, way.expected));
  });
};

const shouldAnswer = (name: string): void => {
  shouldAnswerAt(name, ways, name);
  it.each(federatedWays)("over a federation: $name", async ({ query, expected }) => {
    expect(await rowsOf(`${service.url}/federations/with-${name}/sparql`, query)).toEqual(rightRows(name, expected));
  });
};

function rightRows(name: string, expected: Way["expected"]): readonly string[] {
  const known = matches.get(name);
  if (!known) throw new Error(`Not asked: ${name}`);
  return expected(known).toSorted();
}

describe.each(names)("%s", (name) => {
  shouldAnswer(name);
  shouldAnswerAt(name, formWays, name);
  shouldAnswerAt(`${name}-filter`, ways, name);

  it.each(formWays.filter((way) => isRight(name, way)))("asked directly: $name", async ({ query, expected }) => {
    const direct = query.replaceAll("RIGHT", "");
    expect(await rowsOf(`${service.url}/endpoints/${name}/sparql`, direct)).toEqual(rightRows(name, expected));
  });

  it.each(descriptions)("as the engine does: $name", async (way) => {
    const direct = way.query.replaceAll("RIGHT", "");
    const own = await rowsOf(engines.get(name)?.url ?? "", direct);
    if (isRight(name, way)) expect(own).toEqual(expect.arrayContaining([...rightRows(name, way.expected)]));
    expect(await rowsOf(`${service.url}/endpoints/${name}/sparql`, direct)).toEqual(own);
    expect(await rowsOf(`${service.url}/sparql`, atServices(way.query, name))).toEqual(own);
  });

  it("finds a string that is held with its datatype, or names that in the diagnosis", async () => {
    const body = JSON.stringify({ query: `SELECT ?s { SERVICE <${name}> { ?s <${prefix}typed> "w" } }` });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${service.url}/api/query`, { method: "POST", headers, body });
    const text = await response.text();
    expect(text).toMatch(
      /source\/1|Replace \\"w\\" by \\"w\\"\^\^\S+string>?; the query then has solutions \(checked\)/,
    );
  });

  it.each(ownFaults[name] ?? [])("answers another way wrongly alone: $way", async ({ query, given }) => {
    const rows = await rowsOf(engines.get(name)?.url ?? "", query);
    expect(given.length === 0 ? rows : rows.filter((row) => given.includes(row))).toEqual(given);
  });
});

describe("described", () => {
  let before: ReadonlyMap<string, number>;
  const requests = (name: string): number => recorders.get(name)?.requests.length ?? 0;
  beforeAll(async () => {
    before = new Map([...recorders.keys()].map((name) => [name, requests(name)]));
    const ids = ["left", ...names];
    await Promise.all(ids.map((id) => fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" })));
    const isDescribed = async (id: string) => (await fetch(`${service.url}/api/endpoints/${id}/void`)).ok;
    await until(async () => (await Promise.all(ids.map(isDescribed))).every(Boolean));
    for (const name of names) recorders.get(name)?.clear();
  });
  afterAll(() => {
    const asked = (name: string) => [before.get(name), requests(name), before.get(`${name}-filter`)].join(" | ");
    console.log(names.map((name) => `| ${name} | ${asked(name)} |`).join("\n"));
  });

  describe.each(names)("%s", (name) => {
    shouldAnswer(name);
  });
});

it("each kind of terms has matches and terms without one at each engine", () => {
  for (const { ofLeft } of matches.values())
    for (const [kind, found] of Object.entries(ofLeft)) {
      const has = new Set([...found.values()].map((rows) => rows.length > 0));
      expect({ kind, some: has.has(true), none: kind === "language" || has.has(false) }).toEqual({
        kind,
        some: true,
        none: true,
      });
    }
});
