import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { itemsOf } from "../../results/item-reader.ts";
import { termToText } from "../../results/terms.ts";
import { type KeyBlock, termsText } from "../clause-query.ts";
import type { HeldBytes } from "../held-bytes.ts";
import type { MergedGraph } from "../sources/merged-graph.ts";
import { anyTripleOf, canBeEmpty, type NodePair, type PathEvaluator } from "../sources/property-path.ts";
import { graphVariable, patternVariable } from "../sources/triple-pattern.ts";
import type { PathConjunct } from "./conjuncts.ts";

/** Context of path evaluation. */
interface PathContext {
  readonly graph: MergedGraph;
  readonly paths: PathEvaluator;
  readonly held: HeldBytes;
}

/** Solutions of a path pattern (SPARQL 1.1 Query, section 18.4): each pair of nodes once in each graph. */
export async function* pathSolutions(
  context: PathContext,
  conjunct: PathConjunct,
  keys: KeyBlock | undefined,
): AsyncIterable<readonly Bindings[]> {
  const variable = graphVariable(conjunct.graphs);
  if (variable === undefined) {
    yield* solutionsIn(context, conjunct, keys);
    return;
  }
  for (const graph of await graphNames(context, variable.value, keys)) {
    const column = keys?.variables.indexOf(variable.value) ?? -1;
    const isIn = (row: readonly (RDF.Term | undefined)[]): boolean => column < 0 || row[column]?.equals(graph) === true;
    const own = keys && { ...keys, rows: keys.rows.filter(isIn) };
    yield* solutionsIn(context, { ...conjunct, graphs: [graph] }, own, new Map([[variable.value, graph]]));
  }
}

/** The names of the graphs that there are, as values of a variable: among those of the keys where these have some. */
export async function graphNames(
  { graph }: Pick<PathContext, "graph">,
  value: string,
  keys?: KeyBlock,
): Promise<readonly RDF.Term[]> {
  const names = new Map<string, RDF.Term>();
  const known = keys?.variables.includes(value) ? namesIn(keys, value) : undefined;
  const demand = { variables: new Set([value]), conditions: [], distinct: true };
  for (const unit of graph.unitsOf([anyTripleOf([patternVariable(value)])])) {
    for await (const row of itemsOf(graph.solutions(unit, demand, known))) {
      const name = row.get(value);
      if (name) names.set(termToText(name), name);
    }
  }
  return [...names.values()];
}

/** The distinct terms of one column. */
function namesIn({ variables, rows }: KeyBlock, name: string): KeyBlock {
  const terms = rows.flatMap((row) => row[variables.indexOf(name)] ?? []);
  return { variables: [name], rows: [...new Map(terms.map((term) => [termToText(term), [term]])).values()] };
}

/** @param graph the name that all solutions have */
async function* solutionsIn(
  context: PathContext,
  conjunct: PathConjunct,
  keys: KeyBlock | undefined,
  graph: Bindings = new Map(),
): AsyncIterable<readonly Bindings[]> {
  const { subject, path, object, graphs } = conjunct;
  const ends = { starts: nodesAt(subject, keys), ends: nodesAt(object, keys) };
  const holding = context.held.open();
  try {
    const found = await context.paths.pairs(path, ends, { graphs, holding });
    const outside = keys ? await outsideNodes(context, conjunct, found) : new Set();
    const wanted = keys && new Set(keys.rows.map(termsText));
    const rows: Bindings[] = [];
    for (const pair of found) {
      if (pair.start.equals(pair.end) && outside.has(termToText(pair.start))) continue;
      const row = pairSolution(conjunct, pair, graph);
      if (row && (!wanted || wanted.has(termsText(keys.variables.map((name) => row.get(name)))))) rows.push(row);
    }
    yield rows;
  } finally {
    holding.release();
  }
}

/** The solution that two connected nodes are; undefined when one variable stands for several terms that differ. */
function pairSolution(
  { subject, object }: PathConjunct,
  { start, end }: NodePair,
  graph: Bindings,
): Bindings | undefined {
  const row = new Map<string, RDF.Term>(graph);
  const places = [
    [subject, start],
    [object, end],
  ] as const;
  for (const [{ termType, value }, term] of places) {
    if (termType !== "Variable") continue;
    if (row.get(value)?.equals(term) === false) return undefined;
    row.set(value, term);
  }
  return row;
}

function nodesAt(place: RDF.Term, keys: KeyBlock | undefined): readonly RDF.Term[] | undefined {
  if (place.termType !== "Variable") return [place];
  const column = keys?.variables.indexOf(place.value) ?? -1;
  return column < 0 ? undefined : keys?.rows.flatMap((row) => row[column] ?? []);
}

/**
 * Nodes that are connected with themselves but in no triple: between two variables a zero-length path ranges over the nodes
 * of the graph (section 9.3), not over nodes that are joined with it.
 */
async function outsideNodes(
  { graph, paths }: PathContext,
  { subject, path, object, graphs }: PathConjunct,
  found: readonly NodePair[],
): Promise<ReadonlySet<string>> {
  if (!canBeEmpty(path) || subject.termType !== "Variable" || object.termType !== "Variable") return new Set();
  const doubtful = found.filter(({ start, end }) => start.equals(end) && !paths.hasSeen(start, graphs));
  const outside = new Set(doubtful.map(({ start }) => termToText(start)));
  if (outside.size === 0) return outside;
  for await (const rows of graph.nodes(
    doubtful.map(({ start }) => start),
    graphs,
  )) {
    for (const node of rows.flatMap((row) => row.get("node") ?? [])) outside.delete(termToText(node));
  }
  return outside;
}
