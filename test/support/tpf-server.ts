import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type BlankNode, DataFactory, type Literal, type NamedNode, Parser, Store, type Term, Writer } from "n3";
import { listening } from "./listening.ts";

const blankNode = (label: string) => DataFactory.blankNode(label);
const literal = (value: string, kind?: string | NamedNode) => DataFactory.literal(value, kind);
const namedNode = (iri: string) => DataFactory.namedNode(iri);
const HYDRA = "http://www.w3.org/ns/hydra/core#";
const RDF_NS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const VOID = "http://rdfs.org/ns/void#";

/** How fragments are served. */
export interface TpfOptions {
  /** Data triples a page; default 10. */
  readonly pageSize?: number;
  /** "turtle" mixes metadata with the data, "trig" puts it into a graph; default "turtle". */
  readonly format?: "turtle" | "trig";
  /** Replaces the link to the next page. */
  readonly next?: (url: string) => string;
  /** Replaces the template of the search form. */
  readonly template?: string;
  /** Leaves the search form out. */
  readonly formless?: boolean;
}

/** One page of a fragment. */
interface TpfAnswer {
  readonly mediaType: string;
  readonly body: string;
}

/** The fragments of one data set: a page for each URL below `base`. */
export type TpfPages = (url: string) => TpfAnswer;

/** Makes the pages of `{base}{?subject,predicate,object}`, of the default graph. */
export function createTpfPages(nQuads: string, base: string, options: TpfOptions = {}): TpfPages {
  const quads = new Parser({ format: "N-Quads", blankNodePrefix: "" }).parse(nQuads);
  const store = new Store(quads.filter(({ graph }) => graph.termType === "DefaultGraph"));
  const { pageSize = 10, format = "turtle" } = options;
  return (text) => {
    const url = new URL(text, base);
    const part = (name: string) => toTerm(url.searchParams.get(name)) as never;
    const all = store.getQuads(part("subject"), part("predicate"), part("object"), null);
    const number = Number(url.searchParams.get("page") ?? "1");
    const data = all.slice((number - 1) * pageSize, number * pageSize);
    const isLast = number * pageSize >= all.length;
    const graph = format === "trig" ? namedNode(`${base}#metadata`) : DataFactory.defaultGraph();
    const writer = new Writer({ format: format === "trig" ? "application/trig" : "text/turtle" });
    writer.addQuads(data);
    for (const triple of metadata({ url: url.href, base, total: all.length, isLast, number }, options)) {
      const [subject, predicate, object] = triple;
      writer.addQuad(DataFactory.quad(subject, namedNode(predicate), object, graph));
    }
    let body = "";
    writer.end((error, result: string) => {
      if (error) throw error;
      body = result;
    });
    return { mediaType: format === "trig" ? "application/trig" : "text/turtle", body };
  };
}

interface PageFacts {
  readonly url: string;
  readonly base: string;
  readonly total: number;
  readonly isLast: boolean;
  readonly number: number;
}

type Fact = [subject: NamedNode | BlankNode, predicate: string, object: NamedNode | BlankNode | Literal];

function metadata({ url, base, total, isLast, number }: PageFacts, options: TpfOptions): Fact[] {
  const page = namedNode(url);
  const dataset = namedNode(`${base}#dataset`);
  const form = blankNode("form");
  const count = literal(String(total), namedNode("http://www.w3.org/2001/XMLSchema#integer"));
  const next = new URL(url);
  next.searchParams.set("page", String(number + 1));
  const facts: Fact[] = [
    [dataset, `${VOID}subset`, page],
    [page, `${VOID}triples`, count],
    [page, `${HYDRA}totalItems`, count],
  ];
  if (!isLast) facts.push([page, `${HYDRA}next`, namedNode(options.next?.(next.href) ?? next.href)]);
  if (options.formless) return facts;
  facts.push(
    [dataset, `${HYDRA}search`, form],
    [form, `${HYDRA}template`, literal(options.template ?? `${base}{?subject,predicate,object}`)],
  );
  for (const name of ["subject", "predicate", "object"]) {
    const mapping = blankNode(`mapping-${name}`);
    facts.push(
      [form, `${HYDRA}mapping`, mapping],
      [mapping, `${HYDRA}variable`, literal(name)],
      [mapping, `${HYDRA}property`, namedNode(RDF_NS + name)],
    );
  }
  return facts;
}

/** `hydra:ExplicitRepresentation` read back. */
function toTerm(text: string | null): Term | null {
  if (text === null || text === "") return null;
  const parts = /^"(.*)"(?:@([a-z-]+)|\^\^<?([^<>]*)>?)?$/isu.exec(text);
  if (!parts) return namedNode(text);
  const [, value = "", language, datatype] = parts;
  if (language) return literal(value, language);
  return datatype ? literal(value, namedNode(datatype)) : literal(value);
}

export type TpfServer = Awaited<ReturnType<typeof startTpfServer>>;

/** A Triple Pattern Fragments server on a free loopback port. */
export async function startTpfServer(nTriples: string, options: TpfOptions = {}) {
  const requests: string[] = [];
  let status: number | undefined;
  let pages: TpfPages = () => ({ mediaType: "text/plain", body: "" });
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push(request.url ?? "");
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const { mediaType, body } = pages(request.url ?? "/");
    response.writeHead(200, { "content-type": `${mediaType}; charset=utf-8` }).end(body);
  });
  const listener = await listening(server);
  const url = `${listener.origin}/data`;
  pages = createTpfPages(nTriples, url, options);
  return {
    /** URL of the fragment of everything, as a catalogue entry has it. */
    url,
    /** Paths and queries asked for so far. */
    requests,
    /** What happens to the next requests: nothing, or this status. */
    setStatus(next: number | undefined): void {
      status = next;
    },
    setData(text: string): void {
      pages = createTpfPages(text, url, options);
    },
    close: listener.close,
  };
}
