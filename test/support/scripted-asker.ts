import type { AskRequest, Asker, WholeAnswer } from "../../src/outbound/whole-answer.ts";
import type { RdfDocument } from "../../src/outbound/documents.ts";
import type * as RDF from "@rdfjs/types";
import oxigraph from "oxigraph";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { dataFactory } from "../../src/rdf/triple-index.ts";
import { fromTurtle } from "./rdf-text.ts";

/** What an endpoint answers instead of what its data say. */
export type Interference = (asking: AskRequest) => WholeAnswer | FedwayError | undefined;

/** An asker without network: data by endpoint URL, documents by URL. */
export interface ScriptedAsker extends Asker {
  /** Everything that was asked and fetched, in order. */
  readonly log: readonly string[];
}

/** What a scripted asker knows. */
export interface AskerScript {
  /** TriG by endpoint URL; other endpoints are unreachable. */
  readonly data?: Readonly<Record<string, string>>;
  /** Turtle by URL; others are 404. A FedwayError is thrown. */
  readonly documents?: Readonly<Record<string, string | FedwayError>>;
  readonly interfere?: Interference;
}

const unreachable = (): FedwayError =>
  new FedwayError("ENDPOINT_UNREACHABLE", "The endpoint could not be reached.", { fault: "connect" });

/** Answers in the same turn of the event loop, from Oxigraph. */
export function scriptedAsker({ data = {}, documents = {}, interfere = () => undefined }: AskerScript): ScriptedAsker {
  const stores = new Map(Object.entries(data).map(([url, trig]) => [url, loaded(trig)]));
  const log: string[] = [];
  return {
    log,
    async ask(asking) {
      log.push(asking.query);
      if (asking.signal.aborted) throw new FedwayError("CANCELLED", "cancelled");
      const instead = interfere(asking);
      if (instead instanceof FedwayError) throw instead;
      if (instead !== undefined) return instead;
      const store = stores.get(asking.endpoint.url);
      if (store === undefined) throw unreachable();
      const { accept: mediaType } = asking;
      return { ...answered(store, asking.query), ...(mediaType && { mediaType }) };
    },
    async fetchDocument({ url, signal }): Promise<RdfDocument> {
      log.push(url);
      if (signal.aborted) throw new FedwayError("CANCELLED", "cancelled");
      const document = documents[url];
      if (document instanceof FedwayError) throw document;
      if (document === undefined) {
        throw new FedwayError("ENDPOINT_REFUSED", "There is nothing.", { fault: "http-4xx", upstreamStatus: 404 });
      }
      const quads = fromTurtle(document, url);
      return { url, httpStatus: 200, mediaType: "text/turtle", quads, bytes: document.length, durationMs: 1 };
    },
  };
}

function loaded(trig: string): oxigraph.Store {
  const store = new oxigraph.Store();
  store.load(trig, { format: "trig" });
  return store;
}

/** A whole answer with these rows. */
export const rowsAnswer = (rows: readonly ReadonlyMap<string, RDF.Term>[], boolean?: boolean): WholeAnswer => ({
  rows,
  quads: [],
  variables: [...new Set(rows.flatMap((row) => [...row.keys()]))],
  ...(boolean !== undefined && { boolean }),
  httpStatus: 200,
  mediaType: "application/sparql-results+json",
  bytes: 100,
  durationMs: 1,
  requests: 1,
});

function answered(store: oxigraph.Store, query: string): WholeAnswer {
  const result = store.query(query);
  if (typeof result === "boolean") return rowsAnswer([], result);
  if (!Array.isArray(result)) throw new Error("not SELECT or ASK");
  return rowsAnswer(result.map((row: unknown) => rowOf(row as ReadonlyMap<string, oxigraph.Term>)));
}

const rowOf = (row: ReadonlyMap<string, oxigraph.Term>): ReadonlyMap<string, RDF.Term> =>
  new Map([...row].map(([name, term]) => [name, termOf(term)]));

function termOf(term: oxigraph.Term): RDF.Term {
  if (term.termType === "NamedNode") return dataFactory.namedNode(term.value);
  if (term.termType === "BlankNode") return dataFactory.blankNode(term.value);
  if (term.termType !== "Literal") throw new Error(`unexpected ${term.termType}`);
  if (term.language !== "") return dataFactory.literal(term.value, term.language);
  return dataFactory.literal(term.value, dataFactory.namedNode(term.datatype.value));
}
