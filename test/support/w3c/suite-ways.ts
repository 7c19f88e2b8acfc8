import type oxigraph from "oxigraph";
import sparqljs, { type Expression, type Pattern, type Query, type Triple } from "sparqljs";
import { text as readText } from "node:stream/consumers";
import { EndpointPool } from "../../../src/hosting/endpoint-pool.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import type { QueryRequest } from "../../../src/query/query-service.ts";
import { federationTurtle } from "../catalog-folder.ts";
import { startEndpoints, startFederation } from "../federation-harness.ts";
import { createFakeDeps } from "../http-deps.ts";
import { exactSelection } from "../exact-selection.ts";
import { createMergedFederation, type MergedFederation } from "../merged-federation.ts";
import { answerOf, blankIris, readAnswer, wantedFormat, type SuiteAnswer } from "./suite-answer.ts";
import { suiteText, suiteTriples, type QueryCase } from "./suite.ts";
import { DataFactory } from "n3";
import { parseQuery } from "../../../src/sparql/query.ts";

/** How a case is asked. */
export type Way = "own" | "wrapped" | "split" | "files" | "shards" | "split-told" | "shards-told" | "service";

/** The service with all endpoints that the three ways need. */
export interface SuiteWays {
  /** @throws Error when the query is refused or fails */
  answer(way: Way, one: QueryCase, kind: SuiteAnswer["kind"]): Promise<SuiteAnswer>;
  close(): Promise<void>;
}

const wrappers = ["w0", "w1", "w2"] as const;
const members = ["m0", "m1"] as const;
const beside = "beside";
/** Nobody listens at the port of the discard protocol. */
const closedUrl = "http://127.0.0.1:9/sparql";

/**
 * Starts the service over
 * - `own`: an endpoint that Fedway hosts; each file is a named graph, and a case's dataset goes along by the protocol;
 * - `wrapped`: three endpoints that have the case's dataset, asked pattern by pattern;
 * - `split`: a federation of two endpoints, each of which has every other triple of the default graph;
 * - `files`: the same with two documents, so that Fedway alone evaluates the query;
 * - `shards`: two SPARQL members, each of which has all triples of every other subject;
 * - `split-told`, `shards-told`: the same two ways of dealing, with a selection that says all that is true of the members;
 * - `service`: the endpoints that the query itself names, and one with the case's dataset that it is sent to.
 */
export async function startSuiteWays(cases: readonly QueryCase[]): Promise<SuiteWays> {
  const named = new Set(cases.map(datasetOf).flatMap(({ data, graphData }) => data.concat(graphData)));
  const limits = { timeoutMs: 10_000, totalMb: 512, maxAnswerBytes: 10_000_000, maxWaiting: 10, maxPerClient: 10 };
  const pool = new EndpointPool(limits);
  const text = [...named].flatMap((file) => linesOf(file, file, String)).join("");
  const hosted = pool.endpoint({ id: "own", source: { kind: "text", text }, memoryMb: 128 });
  const server = await createHttpServer(await createFakeDeps({ hosted: () => hosted }));
  const endpoints = await startEndpoints(
    Object.fromEntries([...wrappers, ...members, beside].map((name) => [name, name === beside ? besideTriple : ""])),
  );
  const federation = await startFederation(
    { ...endpoints.urls, gone: closedUrl, own: `${await server.listen()}/hosted/own/sparql` },
    {},
    { "split.ttl": federationTurtle("split", `fedway:member ${members.map((name) => `"${name}"`).join(", ")}`) },
  );

  const files = createMergedFederation([], ["file"]);
  const untold = createMergedFederation([]);
  const told = createMergedFederation([], ["sparql"], { select: (data) => exactSelection(data) });
  const over = (federated: MergedFederation, deal: (one: QueryCase) => readonly string[]) => async (one: QueryCase) => {
    federated.setData(deal(one));
    return answerOf(await federated.result(withoutFrom(one)));
  };

  async function ask(request: Asked, one: QueryCase, kind: SuiteAnswer["kind"]) {
    const unset = { defaultGraphs: [], namedGraphs: [], strict: false, partial: false };
    const signal = new AbortController().signal;
    const accept = wantedFormat(one.result, kind);
    const answer = await federation.app.queries.run({ ...unset, signal, timeoutMs: 20_000, accept, ...request });
    const body = Buffer.isBuffer(answer.body) ? answer.body.toString() : await readText(answer.body);
    return readAnswer(body, answer.contentType.split(";")[0] ?? "", kind);
  }

  function wrapped(one: QueryCase): Asked {
    const { data, graphData } = datasetOf(one);
    const quads = [
      ...data.flatMap((file) => linesOf(file, undefined, skolem)),
      ...graphData.flatMap((file) => linesOf(file, file, skolem)),
    ].join("");
    for (const name of wrappers) endpoints.setData(name, quads);
    const urls = wrappers.map((name) => endpoints.url(name));
    return { text: wrappedQuery(suiteText(one.query), one.query, { endpoints: urls, beside: endpoints.url(beside) }) };
  }

  const answers: Readonly<Record<Way, (one: QueryCase, kind: SuiteAnswer["kind"]) => Promise<SuiteAnswer>>> = {
    own(one, kind) {
      const { data, graphData, inQuery } = datasetOf(one);
      // Without any dataset the default graph is empty, and so is this one.
      const defaultGraphs = data.length > 0 || graphData.length > 0 ? data : [one.query];
      const dataset = inQuery ? {} : { defaultGraphs, namedGraphs: graphData };
      return ask({ text: withBase(one), endpointId: "own", ...dataset }, one, kind);
    },
    async wrapped(one, kind) {
      const answer = await ask(wrapped(one), one, kind);
      return { ...answer, lines: answer.lines.map(withoutBlankVariables) };
    },
    split(one, kind) {
      const graphs = dealt(namedGraphs(one));
      for (const [index, data] of halves(one).entries()) endpoints.setData(members[index] ?? "", data + graphs[index]);
      return ask({ text: withoutFrom(one), federationId: "split" }, one, kind);
    },
    async service(one, kind) {
      endpoints.setData("m0", halves(one).join(""));
      const urls = new Map(
        one.serviceData.map(({ endpoint }, index) => [endpoint, endpoints.url(wrappers[index] ?? "")]),
      );
      for (const [index, { data }] of one.serviceData.entries())
        endpoints.setData(wrappers[index] ?? "", linesOf(data, undefined, skolem).join(""));
      urls.set("http://invalid.endpoint.org/sparql", closedUrl);
      const withUrls = [...urls].reduce((all, [iri, url]) => all.replaceAll(iri, url), withBase(one));
      return ask({ text: withUrls, endpointId: "m0" }, one, kind);
    },
    files: over(files, halves),
    shards: over(untold, shards),
    "split-told": over(told, halves),
    "shards-told": over(told, shards),
  };
  return {
    answer: (way, one, kind) => answers[way](one, kind),
    async close() {
      await federation.close();
      await endpoints.close();
      await server.close(0);
      await pool.close();
    },
  };
}

type Asked = Pick<QueryRequest, "text"> & Partial<QueryRequest>;

/** The default graph in two parts: every other triple. */
const halves = (one: QueryCase): readonly string[] => dealt(defaultGraph(one));

const dealt = (lines: readonly string[]): readonly string[] =>
  members.map((_, part) => lines.filter((__, index) => index % members.length === part).join(""));

/** The default graph in two parts: all triples of every other subject. */
function shards(one: QueryCase): readonly string[] {
  const subjects = Map.groupBy(defaultGraph(one), (line) => line.slice(0, line.indexOf(" ")));
  const lines = [...subjects.values()];
  return members.map((_, part) =>
    lines
      .filter((__, index) => index % members.length === part)
      .flat()
      .join(""),
  );
}

const defaultGraph = (one: QueryCase): readonly string[] =>
  datasetOf(one).data.flatMap((file) => linesOf(file, undefined, skolem));

const namedGraphs = (one: QueryCase): readonly string[] =>
  datasetOf(one).graphData.flatMap((file) => linesOf(file, file, skolem));

const withoutFrom = (one: QueryCase): string => withBase(one).replaceAll(fromClause, "");

/** Relative IRIs are resolved against the query's own place (SPARQL 1.1 Query, section 4.1.1.2). */
const withBase = (one: QueryCase): string => `BASE <${one.query}>\n${suiteText(one.query)}`;

const fromClause = /\bFROM\s+(NAMED\s+)?<([^>]*)>/giu;

/** What FROM names, or else the manifest. */
function datasetOf(one: QueryCase): Pick<QueryCase, "data" | "graphData"> & { readonly inQuery: boolean } {
  const clauses = [...suiteText(one.query).matchAll(fromClause)];
  if (clauses.length === 0) return { data: one.data, graphData: one.graphData, inQuery: false };
  const of = (named: boolean) =>
    clauses.filter(([, word]) => (word !== undefined) === named).map(([, , iri]) => new URL(iri ?? "", one.query).href);
  return { data: of(false), graphData: of(true), inQuery: true };
}

const skolem = (term: oxigraph.Term): string =>
  term.termType === "BlankNode" ? `<${blankIris}${term.value}>` : String(term);

/** N-Quads of a file in a graph. */
function linesOf(file: string, graph: string | undefined, text: (term: oxigraph.Term) => string): readonly string[] {
  const end = graph === undefined ? " .\n" : ` <${graph}> .\n`;
  return suiteTriples(file).map(
    ({ subject, predicate, object }) => [subject, predicate, object].map(text).join(" ") + end,
  );
}

/** Without the cells of variables that stand for blank nodes. */
const withoutBlankVariables = (line: readonly string[]): readonly string[] =>
  line.filter((_, index) => line[index - (index % 2)]?.startsWith(`?${blankVariables}`) !== true);

/** Variables that stand for blank nodes of a query; no answer has them. */
const blankVariables = "blank__";

/** What only the endpoint beside has. */
const besideTriple = "<urn:w3c:beside> <urn:w3c:beside> <urn:w3c:beside> .\n";

/**
 * A query in which each triple pattern, path and GRAPH is a SERVICE clause of its own, at these endpoints in turn: so all
 * that joins and filters them is evaluated by the federation engine. Its dataset is left to the endpoints. A triple that
 * `beside` alone has is asked for in front, because a query for one endpoint only would be sent there whole.
 */
function wrappedQuery(text: string, base: string, places: { endpoints: readonly string[]; beside: string }): string {
  const { ast: query, prologue } = parseQuery(`BASE <${base}>\n${text}`);
  const node = DataFactory.namedNode("urn:w3c:beside");
  const inFront = service(places.beside, { type: "bgp", triples: [{ subject: node, predicate: node, object: node }] });
  const where = [inFront, ...createWrapper(places.endpoints)(query.where ?? [])];
  // Full IRIs, because sparqljs prints some local names without their backslashes.
  const wrapped: Query = { ...query, where, prefixes: {} };
  if ("from" in wrapped) delete wrapped.from;
  // The text may have a base of its own, against which IRIs are made.
  return `BASE <${prologue.base ?? base}>\n${new sparqljs.Generator({}).stringify(wrapped)}`;
}

const service = (url: string, pattern: Pattern): Pattern => ({
  type: "service",
  name: DataFactory.namedNode(url),
  silent: false,
  patterns: [pattern],
});

/** Wraps the patterns of groups at any depth. */
function createWrapper(endpoints: readonly string[]): (patterns: readonly Pattern[]) => Pattern[] {
  let turn = 0;
  const atNext = (pattern: Pattern): Pattern => service(endpoints[turn++ % endpoints.length] ?? "", pattern);
  const wrapAll = (patterns: readonly Pattern[]): Pattern[] => patterns.flatMap((one) => wrap(one));
  const group = (pattern: Pattern): Pattern => ({ type: "group", patterns: wrap(pattern) });

  function wrap(one: Pattern): Pattern[] {
    switch (one.type) {
      case "bgp":
        return one.triples.map((triple) => atNext({ type: "bgp", triples: [withVariables(triple)] }));
      case "graph":
        return [atNext(one)];
      case "filter":
      case "bind":
        return [{ ...one, expression: expression(one.expression) }];
      case "union":
        return [{ ...one, patterns: one.patterns.map(group) }];
      case "group":
      case "optional":
      case "minus":
        return [{ ...one, patterns: wrapAll(one.patterns) }];
      case "query":
        return [{ type: "group", patterns: [{ ...one, where: wrapAll(one.where ?? []), prefixes: {} }] }];
      default:
        return [one];
    }
  }

  /** EXISTS at any depth of an expression. */
  function expression(one: Expression): Expression {
    if (!("type" in one) || one.type !== "operation") return one;
    return { ...one, args: one.args.map((arg) => (isGroup(arg) ? group(arg) : expression(arg))) };
  }

  return wrapAll;
}

const isGroup = (arg: Expression | Pattern): arg is Pattern =>
  "type" in arg && (arg.type === "group" || arg.type === "bgp" || arg.type === "graph");

function withVariables(triple: Triple): Triple {
  const variable = <T extends { readonly termType?: string; readonly value?: string }>(term: T) =>
    term.termType === "BlankNode" ? DataFactory.variable(`${blankVariables}${term.value}`) : term;
  return Object.assign({}, triple, { subject: variable(triple.subject), object: variable(triple.object) });
}
