import type * as RDF from "@rdfjs/types";
import { itemsOf } from "../../results/item-reader.ts";
import { termToText } from "../../results/terms.ts";
import { type KeyBlock, termsText } from "../clause-query.ts";
import { type Holding, keyBytes, termBytes } from "../held-bytes.ts";
import type { MergedGraph } from "./merged-graph.ts";
import { type Graphs, patternVariable as variable, type TriplePattern } from "./triple-pattern.ts";

/** A property path (SPARQL 1.1 Query, section 18.1.7), of which only the pairs of nodes it connects are asked. */
export type PropertyPath =
  | { readonly kind: "link"; readonly iri: RDF.NamedNode }
  /** Any predicate but these. */
  | { readonly kind: "not"; readonly iris: readonly string[] }
  | { readonly kind: "inverse"; readonly path: PropertyPath }
  | { readonly kind: "sequence" | "alternative"; readonly paths: readonly PropertyPath[] }
  /** `?`, `*`, `+`: `zero` connects every node with itself, `many` repeats the path. */
  | { readonly kind: "closure"; readonly path: PropertyPath; readonly zero: boolean; readonly many: boolean };

/** Two connected nodes, each pair once. */
export interface NodePair {
  readonly start: RDF.Term;
  readonly end: RDF.Term;
}

/** The nodes that pairs may start or end with; undefined: any. */
interface PathEnds {
  readonly starts?: readonly RDF.Term[] | undefined;
  readonly ends?: readonly RDF.Term[] | undefined;
}

/** The graphs that a path is looked for in, and what it makes is added to. */
interface PathScope {
  readonly holding: Holding;
  /** Absent: the default graph. No variable is among them. */
  readonly graphs?: Graphs | undefined;
}

/** Pattern variables of paths; no variable of a query has such a name. */
export const pathVariables = { start: "fedway_start", predicate: "fedway_predicate", end: "fedway_end" } as const;

/** The pattern of a path's single step, from `fedway_start` to `fedway_end`. */
function stepPattern(path: PropertyPath & { readonly kind: "link" | "not" }): TriplePattern {
  const [subject, object] = [variable(pathVariables.start), variable(pathVariables.end)];
  if (path.kind === "link") return { subject, predicate: path.iri, object };
  return { subject, predicate: variable(pathVariables.predicate), object, not: path.iris };
}

/** Every step that a path is made of. */
export function stepsOf(path: PropertyPath, graphs: Graphs | undefined): readonly TriplePattern[] {
  switch (path.kind) {
    case "link":
    case "not":
      return [{ ...stepPattern(path), graphs }];
    case "inverse":
    case "closure":
      return stepsOf(path.path, graphs);
    default:
      return path.paths.flatMap((part) => stepsOf(part, graphs));
  }
}

/** All triples, for zero-length paths between any nodes. */
export const anyTriple: TriplePattern = {
  subject: variable(pathVariables.start),
  predicate: variable(pathVariables.predicate),
  object: variable(pathVariables.end),
};

/** All triples of these graphs. */
export const anyTripleOf = (graphs: Graphs | undefined): TriplePattern =>
  graphs ? { ...anyTriple, graphs } : anyTriple;

/** True if a path connects a node with itself in any graph. */
export function canBeEmpty(path: PropertyPath): boolean {
  switch (path.kind) {
    case "link":
    case "not":
      return false;
    case "inverse":
      return canBeEmpty(path.path);
    case "closure":
      return path.zero || canBeEmpty(path.path);
    case "sequence":
      return path.paths.every((part) => canBeEmpty(part));
    default:
      return path.paths.some((part) => canBeEmpty(part));
  }
}

/** Evaluates paths over a merged graph: one request a step for all nodes reached by then, not one a node. */
export class PathEvaluator {
  readonly #graph: MergedGraph;
  readonly #count: () => void;
  /** By graphs. */
  readonly #seen = new Map<string, Set<string>>();

  /** @param count counts a pair that is made; throws when there are too many */
  constructor(graph: MergedGraph, count: () => void) {
    this.#graph = graph;
    this.#count = count;
  }

  /**
   * Pairs that the path connects; a given node is connected with itself by a zero-length path, in the graph or not. What
   * they and the steps to them take is added to what is held.
   */
  pairs(path: PropertyPath, ends: PathEnds, scope: PathScope): Promise<readonly NodePair[]> {
    return pairsOf({ ...scope, graph: this.#graph, count: this.#count, seen: this.#seenIn(scope.graphs) }, path, ends);
  }

  /** A triple of these graphs with this node has been seen. */
  hasSeen(node: RDF.Term, graphs: Graphs | undefined): boolean {
    return this.#seenIn(graphs).has(termToText(node));
  }

  #seenIn(graphs: Graphs | undefined): Set<string> {
    const key = graphs ? termsText(graphs) : "";
    const seen = this.#seen.get(key) ?? new Set<string>();
    this.#seen.set(key, seen);
    return seen;
  }
}

interface Context extends PathScope {
  readonly graph: MergedGraph;
  readonly count: () => void;
  readonly seen: Set<string>;
}

async function pairsOf(context: Context, path: PropertyPath, ends: PathEnds): Promise<readonly NodePair[]> {
  switch (path.kind) {
    case "link":
    case "not":
      return stepPairs(context, stepPattern(path), ends);
    case "inverse": {
      const inner = await pairsOf(context, path.path, { starts: ends.ends, ends: ends.starts });
      return inner.map(({ start, end }) => ({ start: end, end: start }));
    }
    case "alternative": {
      const all = await Promise.all(path.paths.map((part) => pairsOf(context, part, ends)));
      return distinct(context, all.flat());
    }
    case "sequence":
      return sequencePairs(context, path.paths, ends);
    default:
      return closurePairs(context, path, ends);
  }
}

async function stepPairs(context: Context, pattern: TriplePattern, ends: PathEnds): Promise<readonly NodePair[]> {
  const { graph, graphs, seen, holding } = context;
  const { keys, accepts } = stepKeys(ends);
  if (keys?.rows.length === 0) return [];
  const found: NodePair[] = [];
  for await (const row of itemsOf(graph.matches({ ...pattern, graphs }, keys))) {
    const start = row.get(pathVariables.start);
    const end = row.get(pathVariables.end);
    if (!start || !end) continue;
    seen.add(termToText(start)).add(termToText(end));
    if (!accepts({ start, end })) continue;
    holding.add(termBytes(start) + termBytes(end));
    found.push({ start, end });
  }
  // Two predicates of a negated property set may connect the same nodes.
  return pattern.not ? distinct(context, found) : found;
}

interface StepKeys {
  readonly keys: KeyBlock | undefined;
  /** True if a pair has the ends that are not among the keys. */
  readonly accepts: (pair: NodePair) => boolean;
}

/** The shorter list of ends is sent along, the other compared. */
function stepKeys({ starts, ends }: PathEnds): StepKeys {
  const byEnd = starts === undefined || (ends !== undefined && ends.length < starts.length);
  const keys = byEnd ? keysOf(pathVariables.end, ends) : keysOf(pathVariables.start, starts);
  const other = byEnd ? starts : ends;
  if (!other) return { keys, accepts: () => true };
  const wanted = new Set(other.map((node) => termToText(node)));
  return { keys, accepts: ({ start, end }) => wanted.has(termToText(byEnd ? start : end)) };
}

function keysOf(name: string, nodes: readonly RDF.Term[] | undefined): KeyBlock | undefined {
  return nodes && { variables: [name], rows: distinctNodes(nodes).map((node) => [node]) };
}

function distinctNodes(nodes: Iterable<RDF.Term>): RDF.Term[] {
  const known = new Map<string, RDF.Term>();
  for (const node of nodes) known.set(termToText(node), node);
  return [...known.values()];
}

function distinct({ count, holding }: Context, pairs: Iterable<NodePair>): readonly NodePair[] {
  const known = new Map<string, NodePair>();
  for (const pair of pairs) {
    const key = termsText([pair.start, pair.end]);
    if (!known.has(key)) {
      count();
      holding.add(keyBytes(key));
    }
    known.set(key, pair);
  }
  return [...known.values()];
}

/** From whichever end is known. */
async function sequencePairs(
  context: Context,
  paths: readonly PropertyPath[],
  { starts, ends }: PathEnds,
): Promise<readonly NodePair[]> {
  const [first, ...rest] = paths;
  if (!first) return [];
  if (rest.length === 0) return pairsOf(context, first, { starts, ends });
  const others: PropertyPath = { kind: "sequence", paths: rest };
  if (starts || !ends) {
    const left = await pairsOf(context, first, { starts });
    const right = await pairsOf(context, others, { starts: left.map(({ end }) => end), ends });
    return distinct(context, compose(left, right));
  }
  const right = await pairsOf(context, others, { ends });
  const left = await pairsOf(context, first, { ends: right.map(({ start }) => start) });
  return distinct(context, compose(left, right));
}

function* compose(left: readonly NodePair[], right: readonly NodePair[]): Iterable<NodePair> {
  const onwards = new Map<string, RDF.Term[]>();
  for (const { start, end } of right) pushTo(onwards, termToText(start), end);
  for (const { start, end: middle } of left) {
    for (const end of onwards.get(termToText(middle)) ?? []) yield { start, end };
  }
}

function pushTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

type Closure = PropertyPath & { readonly kind: "closure" };

/** Goes forward from the starts, or backward when only the ends are known. */
async function closurePairs(context: Context, path: Closure, { starts, ends }: PathEnds): Promise<readonly NodePair[]> {
  if (!starts && ends) {
    const backward: Closure = { ...path, path: { kind: "inverse", path: path.path } };
    const pairs = await closurePairs(context, backward, { starts: ends });
    return pairs.map(({ start, end }) => ({ start: end, end: start }));
  }
  const wanted = ends && new Set(ends.map((node) => termToText(node)));
  const reached = await reach(context, path, starts);
  return wanted ? reached.filter(({ end }) => wanted.has(termToText(end))) : reached;
}

async function reach(
  context: Context,
  path: Closure,
  starts: readonly RDF.Term[] | undefined,
): Promise<readonly NodePair[]> {
  const onwards = new Map<string, RDF.Term[]>();
  const edges = async (from: readonly RDF.Term[] | undefined): Promise<readonly NodePair[]> => {
    const step = await pairsOf(context, path.path, { starts: from });
    for (const { start, end } of step) pushTo(onwards, termToText(start), end);
    return step;
  };
  const given = starts && distinctNodes(starts);
  const first = await edges(given);
  const origins = given ?? (path.zero ? await allNodes(context) : distinctNodes(first.map(({ start }) => start)));
  if (given && path.many) await explore(given, first, edges);
  return distinct(context, follow(origins, onwards, path));
}

/** One request for each distance from the starts. */
async function explore(
  starts: readonly RDF.Term[],
  first: readonly NodePair[],
  edges: (from: readonly RDF.Term[]) => Promise<readonly NodePair[]>,
): Promise<void> {
  const visited = new Set(starts.map((node) => termToText(node)));
  for (let step = first; ; ) {
    const frontier = distinctNodes(step.map(({ end }) => end)).filter((node) => !visited.has(termToText(node)));
    if (frontier.length === 0) return;
    for (const node of frontier) visited.add(termToText(node));
    step = await edges(frontier);
  }
}

function* follow(
  origins: readonly RDF.Term[],
  onwards: ReadonlyMap<string, readonly RDF.Term[]>,
  { zero, many }: Closure,
): Iterable<NodePair> {
  for (const start of origins) {
    if (zero) yield { start, end: start };
    const visited = new Set<string>();
    const open = [start];
    for (let node = open.pop(); node; node = open.pop()) {
      for (const end of onwards.get(termToText(node)) ?? []) {
        const key = termToText(end);
        if (visited.has(key)) continue;
        visited.add(key);
        yield { start, end };
        if (many) open.push(end);
      }
    }
  }
}

async function allNodes({ graph, graphs, seen }: Context): Promise<readonly RDF.Term[]> {
  const nodes = new Map<string, RDF.Term>();
  for await (const row of itemsOf(graph.matches(anyTripleOf(graphs)))) {
    for (const node of [row.get(pathVariables.start), row.get(pathVariables.end)]) {
      if (node) nodes.set(termToText(node), node);
    }
  }
  for (const key of nodes.keys()) seen.add(key);
  return [...nodes.values()];
}
