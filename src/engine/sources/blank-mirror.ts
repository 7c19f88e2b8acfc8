import type * as RDF from "@rdfjs/types";
import { createTripleIndex, type Triple, type TripleIndex } from "../../rdf/triple-index.ts";
import type { Bindings } from "../../results/model.ts";
import { hasBlankNode, termToText } from "../../results/terms.ts";
import { type KeyBlock, keyRows, termsText } from "../clause-query.ts";
import { type MemberQuestion, wholePattern } from "./member.ts";
import {
  constantParts,
  type Graphs,
  graphVariable,
  matchTriple,
  substitute,
  type TriplePattern,
  variablesOf,
} from "./triple-pattern.ts";

/** Asks a member a question for keys without blank nodes. */
export type AskMember = (question: MemberQuestion, keys: KeyBlock | undefined) => AsyncIterable<readonly Bindings[]>;

/**
 * All triples of a SPARQL member with a blank node that the query's patterns could match, taken in with one request, in
 * which labels are consistent.
 */
export class BlankMirror {
  readonly #read: () => AsyncIterable<readonly Bindings[]>;
  readonly #ask: AskMember;
  #graphs: Promise<MirroredGraphs> | undefined;

  constructor(read: () => AsyncIterable<readonly Bindings[]>, ask: AskMember) {
    this.#read = read;
    this.#ask = ask;
  }

  /** Those solutions that are put aside, in the labels of the mirror: pattern after pattern. */
  async *solutions(
    { patterns, variables }: MemberQuestion,
    keys: KeyBlock | undefined,
    isAside: (row: Bindings) => boolean,
  ): AsyncIterable<readonly Bindings[]> {
    let rows: readonly Bindings[] = keys ? keyRows(keys) : [new Map<string, RDF.Term>()];
    const open = [...patterns];
    while (open.length > 0 && rows.length > 0) {
      const known = rows[0];
      const isConnected = (pattern: TriplePattern) => variablesOf(pattern).some((name) => known?.has(name));
      const [pattern] = open.splice(Math.max(0, open.findIndex(isConnected)), 1);
      // Of a single pattern, every solution that is put aside has its blank node there.
      if (pattern) rows = await this.#joined(rows, pattern, patterns.length === 1);
    }
    const shown = new Set([...variables, ...(keys?.variables ?? [])]);
    yield rows.map((row) => new Map([...row].filter(([name]) => shown.has(name)))).filter(isAside);
  }

  /** Those of the blank nodes that are subject or object of a triple of these graphs. */
  async nodes(among: readonly RDF.Term[], graphs: Graphs | undefined): Promise<readonly RDF.Term[]> {
    if (among.length === 0) return [];
    const found = graphsOf(await this.#triples(), graphs);
    return among.filter((node) =>
      found.some(({ index }) => index.count({ subject: node }) + index.count({ object: node }) > 0),
    );
  }

  async #joined(rows: readonly Bindings[], pattern: TriplePattern, onlyBlank: boolean): Promise<readonly Bindings[]> {
    const shared = variablesOf(pattern).filter((name) => rows[0]?.has(name));
    const keyOf = (row: Bindings): string => termsText(shared.map((name) => row.get(name)));
    const byKey = Map.groupBy(rows, keyOf);
    const keyTerms = [...byKey.values()].map(([row]) => shared.flatMap((name) => row?.get(name) ?? []));
    const keys = shared.length > 0 ? { variables: shared, rows: keyTerms } : undefined;
    const found: Bindings[] = [];
    const add = (row: Bindings): void => {
      for (const partner of byKey.get(keyOf(row)) ?? []) found.push(new Map([...partner, ...row]));
    };
    const [named] = splitKeys(keys);
    if (!onlyBlank && !hasBlank(pattern) && (!keys || named)) {
      for await (const batch of this.#ask(wholePattern(pattern), named))
        for (const row of batch) if (!row.values().some(hasBlankNode)) add(row);
    }
    for (const row of matches(await this.#triples(), pattern, keys)) if (row.values().some(hasBlankNode)) add(row);
    return found;
  }

  #triples(): Promise<MirroredGraphs> {
    this.#graphs ??= readTriples(this.#read());
    return this.#graphs;
  }
}

/** The triples of the default graph (name ""), and of named graphs by the texts of their names. */
type MirroredGraphs = ReadonlyMap<string, MirroredGraph>;

interface MirroredGraph {
  readonly name: RDF.Term | undefined;
  readonly index: TripleIndex;
}

/** The mirrored graphs that these are. */
function graphsOf(mirrored: MirroredGraphs, graphs: Graphs | undefined): readonly MirroredGraph[] {
  if (graphVariable(graphs)) return [...mirrored.values()].filter(({ name }) => name !== undefined);
  const names = graphs?.map((graph) => termToText(graph)) ?? [""];
  return names.flatMap((name) => mirrored.get(name) ?? []);
}

/** The pattern has a label of this execution. */
export const hasBlank = ({ subject, object, graphs = [] }: TriplePattern): boolean =>
  [subject, object, ...graphs].some(hasBlankNode);

/** The rows that can be sent, and those with a blank node. */
export function splitKeys(keys: KeyBlock | undefined): [named: KeyBlock | undefined, blank: KeyBlock | undefined] {
  if (!keys) return [undefined, undefined];
  const part = (wanted: boolean): KeyBlock | undefined => {
    const rows = keys.rows.filter((row) => row.some(hasBlankNode) === wanted);
    return rows.length > 0 ? { variables: keys.variables, rows } : undefined;
  };
  return [part(false), part(true)];
}

function* matches(mirrored: MirroredGraphs, pattern: TriplePattern, keys: KeyBlock | undefined): Iterable<Bindings> {
  for (const values of keys ? keyRows(keys) : [new Map<string, RDF.Term>()]) {
    const wanted = substitute(pattern, values);
    if (!wanted) continue;
    for (const graph of graphsOf(mirrored, wanted.graphs)) yield* matchesIn(graph, wanted, values);
  }
}

function* matchesIn({ name, index }: MirroredGraph, pattern: TriplePattern, values: Bindings): Iterable<Bindings> {
  const variable = graphVariable(pattern.graphs)?.value;
  const own = new Map(variable !== undefined && name ? [[variable, name]] : []);
  const wanted = substitute(pattern, own);
  if (!wanted) return;
  for (const triple of index.match(constantParts(wanted))) {
    const solution = matchTriple(wanted, triple);
    if (solution) yield new Map([...values, ...own, ...solution]);
  }
}

/** Parts of solutions other than blank nodes, as keys; undefined when they have no such variable in common. */
export function namedParts(rows: readonly Bindings[]): KeyBlock | undefined {
  const names = [...(rows[0]?.keys() ?? [])];
  const variables = names.filter((name) => rows.every((row) => row.get(name) && !hasBlankNode(row.get(name))));
  const parts = rows.map((row) => variables.flatMap((name) => row.get(name) ?? []));
  const distinct = [...new Map(parts.map((part) => [termsText(part), part])).values()];
  return variables.length > 0 ? { variables, rows: distinct } : undefined;
}

async function readTriples(batches: AsyncIterable<readonly Bindings[]>): Promise<MirroredGraphs> {
  const graphs = new Map<string, { readonly name: RDF.Term | undefined; readonly triples: Triple[] }>();
  for await (const rows of batches) {
    for (const row of rows) {
      const [subject, predicate, object, name] = ["s", "p", "o", "g"].map((place) => row.get(place));
      const key = name ? termToText(name) : "";
      const graph = graphs.get(key) ?? { name, triples: [] };
      graphs.set(key, graph);
      if (subject && predicate && object) graph.triples.push({ subject, predicate, object });
    }
  }
  return new Map([...graphs].map(([key, { name, triples }]) => [key, { name, index: createTripleIndex(triples) }]));
}
