import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { termToText } from "../../results/terms.ts";
import { type KeyBlock, termsText } from "../clause-query.ts";
import type { HeldBytes } from "../held-bytes.ts";
import type { MergedGraph } from "../sources/merged-graph.ts";
import { canBeEmpty, type NodePair, type PathEvaluator } from "../sources/property-path.ts";
import type { PathConjunct } from "./conjuncts.ts";

/** Context of path evaluation. */
interface PathContext {
  readonly graph: MergedGraph;
  readonly paths: PathEvaluator;
  readonly held: HeldBytes;
}

/** Solutions of a path pattern (SPARQL 1.1 Query, section 18.4): each pair of nodes once. */
export async function* pathSolutions(
  context: PathContext,
  conjunct: PathConjunct,
  keys: KeyBlock | undefined,
): AsyncIterable<readonly Bindings[]> {
  const { subject, path, object } = conjunct;
  const ends = { starts: nodesAt(subject, keys), ends: nodesAt(object, keys) };
  const holding = context.held.open();
  try {
    const found = await context.paths.pairs(path, ends, holding);
    const outside = keys ? await outsideNodes(context, conjunct, found) : new Set();
    const wanted = keys && new Set(keys.rows.map(termsText));
    const rows: Bindings[] = [];
    for (const pair of found) {
      if (pair.start.equals(pair.end) && outside.has(termToText(pair.start))) continue;
      const row = pairSolution(conjunct, pair);
      if (row && (!wanted || wanted.has(termsText(keys.variables.map((name) => row.get(name)))))) rows.push(row);
    }
    yield rows;
  } finally {
    holding.release();
  }
}

/** The solution that two connected nodes are; undefined when one variable stands for both and they differ. */
function pairSolution({ subject, object }: PathConjunct, { start, end }: NodePair): Bindings | undefined {
  const row = new Map<string, RDF.Term>();
  if (subject.termType === "Variable") row.set(subject.value, start);
  if (object.termType !== "Variable") return row;
  if (row.get(object.value)?.equals(end) === false) return undefined;
  return row.set(object.value, end);
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
  { subject, path, object }: PathConjunct,
  found: readonly NodePair[],
): Promise<ReadonlySet<string>> {
  if (!canBeEmpty(path) || subject.termType !== "Variable" || object.termType !== "Variable") return new Set();
  const doubtful = found.filter(({ start, end }) => start.equals(end) && !paths.hasSeen(start));
  const outside = new Set(doubtful.map(({ start }) => termToText(start)));
  if (outside.size === 0) return outside;
  for await (const rows of graph.nodes(doubtful.map(({ start }) => start))) {
    for (const node of rows.flatMap((row) => row.get("node") ?? [])) outside.delete(termToText(node));
  }
  return outside;
}
