import type * as RDF from "@rdfjs/types";
import type { Bindings } from "../../results/model.ts";
import { type KeyBlock, keyRows, type BlockSizes, termsText } from "../clause-query.ts";
import type { ClauseVariable } from "../../plan/query-plan.ts";
import type { ComunicaDataFactory } from "@comunica/types";
import { anyTriple, canBeEmpty, type NodePair, type PathEvaluator } from "../sources/property-path.ts";
import { ClauseSource, type LeafClause, type SourceContext, toBindings } from "./clause-source.ts";
import {
  type Conjunct,
  groupSelectivity,
  groupVariables,
  patternsOf,
  conjunctSelectivity,
  conjunctVariables,
  connectedOrder,
  type PathConjunct,
} from "./conjuncts.ts";
import type { QueryUse } from "./query-use.ts";
import type { BindingsFactory } from "@comunica/utils-bindings-factory";
import { termToText } from "../../results/terms.ts";
import type { HeldBytes } from "../held-bytes.ts";
import type { MergedGraph } from "../sources/merged-graph.ts";
import { boundJoin } from "./bound-join.ts";

/** A group of patterns over the merged graph of an execution, as a leaf of the algebra. */
export class PatternClause implements LeafClause {
  readonly iri: string;
  readonly variables: readonly ClauseVariable[];
  readonly silent = false;
  readonly blankKeys = true;
  readonly selectivity: number;
  readonly blocksOf: string;
  readonly conjuncts: readonly Conjunct[];
  readonly #context: GroupContext;

  constructor(conjuncts: readonly Conjunct[], context: GroupContext, { iri, variables }: Shown) {
    this.iri = iri;
    this.variables = variables;
    this.conjuncts = conjuncts;
    this.selectivity = groupSelectivity(conjuncts);
    this.blocksOf = context.blocksOf;
    this.#context = context;
  }

  async *solutions(keys: KeyBlock | undefined): AsyncIterable<Bindings> {
    const shown = new Set([...this.variables.map(({ name }) => name), ...(keys?.variables ?? [])]);
    for await (const row of groupSolutions(this.#context, this.conjuncts, keys)) {
      const hides = [...row.keys()].some((name) => !shown.has(name));
      yield hides ? new Map([...row].filter(([name]) => shown.has(name))) : row;
    }
  }
}

interface Shown {
  readonly iri: string;
  readonly variables: readonly ClauseVariable[];
}

/** Makes the leaves of one execution over its merged graph. */
export class PatternLeaves {
  readonly use: QueryUse;
  readonly #group: GroupContext;
  readonly #source: SourceContext;
  #variables = 0;
  #leaves = 0;

  constructor(use: QueryUse, group: GroupContext, source: SourceContext) {
    this.use = use;
    this.#group = group;
    this.#source = source;
  }

  fresh(): RDF.Variable {
    return this.variable(`fedway_${this.#variables++}`);
  }

  variable(name: string): RDF.Variable {
    return this.#group.dataFactory.variable(name);
  }

  /** The leaf of a group of patterns. */
  leaf(conjuncts: readonly Conjunct[]): ClauseSource {
    const { use } = this;
    for (const conjunct of conjuncts) {
      use.add(patternsOf(conjunct));
      if (rangesOverAll(conjunct, conjuncts)) use.add([anyTriple]);
    }
    const shown = {
      iri: `urn:fedway:patterns:${this.#leaves++}`,
      variables: groupVariables(conjuncts).filter(({ name }) => use.isVisible(name)),
    };
    return new ClauseSource(new PatternClause(conjuncts, this.#group, shown), this.#source);
  }
}

/** A zero-length path between two variables that nothing beside it in the group binds: it ranges over all nodes. */
function rangesOverAll(conjunct: Conjunct, group: readonly Conjunct[]): boolean {
  if (conjunct.kind === "union") {
    return conjunct.branches.some((branch) => branch.some((part) => rangesOverAll(part, branch)));
  }
  if (conjunct.kind !== "path" || !canBeEmpty(conjunct.path)) return false;
  const names = [conjunct.subject, conjunct.object].flatMap((t) => (t.termType === "Variable" ? [t.value] : []));
  const others = groupVariables(group.filter((other) => other !== conjunct));
  return names.length === 2 && !others.some(({ name }) => names.includes(name));
}

/** What groups are evaluated with. */
interface GroupContext {
  readonly graph: MergedGraph;
  readonly paths: PathEvaluator;
  readonly sizes: BlockSizes;
  /** Key of the learned block sizes. */
  readonly blocksOf: string;
  readonly dataFactory: ComunicaDataFactory;
  readonly bindingsFactory: BindingsFactory;
  readonly held: HeldBytes;
}

/**
 * Solutions of a group of patterns (SPARQL 1.1 Query, section 18.5, Join), compatible with one of the keys, whose variables
 * they bind. The conjuncts are bound-joined one after the other, the most selective first.
 */
async function* groupSolutions(
  context: GroupContext,
  group: readonly Conjunct[],
  keys: KeyBlock | undefined,
): AsyncIterable<Bindings> {
  const [only] = group;
  // Keys for other variables, as a branch of a union gets them, are joined like other solutions.
  if (only && group.length === 1 && bindsAll(only, keys)) {
    yield* conjunctSolutions(context, only, keys);
    return;
  }
  const start = keys ? keyRows(keys) : [new Map<string, RDF.Term>()];
  let joined = allToBindings(context, each(start));
  const variables = new Set(keys?.variables);
  for (const conjunct of await ordered(context, group, variables)) {
    const right = rightSide(context, conjunct);
    const { sizes, held } = context;
    joined = boundJoin({ left: joined, leftVariables: [...variables], right, sizes, held, mode: "inner" });
    for (const { name } of right.variables) variables.add(name);
  }
  for await (const solution of joined) {
    yield new Map([...solution].map(([variable, term]) => [variable.value, term]));
  }
}

function bindsAll(conjunct: Conjunct, keys: KeyBlock | undefined): boolean {
  const names = conjunct.kind === "union" ? [] : conjunctVariables(conjunct).map(({ name }) => name);
  return conjunct.kind === "union" || (keys?.variables.every((name) => names.includes(name)) ?? true);
}

function rightSide(context: GroupContext, conjunct: Conjunct) {
  const { sizes, blocksOf } = context;
  async function* solutions(keys: KeyBlock | undefined): AsyncIterable<RDF.Bindings> {
    yield* allToBindings(context, conjunctSolutions(context, conjunct, keys));
    sizes.accepted(blocksOf, keys?.rows.length ?? 0);
  }
  return { endpoint: blocksOf, blankKeys: true, variables: conjunctVariables(conjunct), solutions };
}

async function* conjunctSolutions(
  context: GroupContext,
  conjunct: Conjunct,
  keys: KeyBlock | undefined,
): AsyncIterable<Bindings> {
  switch (conjunct.kind) {
    case "triple":
      yield* context.graph.solutions(conjunct.pattern, keys);
      return;
    case "path":
      yield* pathSolutions(context, conjunct, keys);
      return;
    default:
      for (const branch of conjunct.branches) yield* groupSolutions(context, branch, keys);
  }
}

/** Solutions of a path pattern (SPARQL 1.1 Query, section 18.4): each pair of nodes once. */
async function* pathSolutions(
  context: GroupContext,
  conjunct: PathConjunct,
  keys: KeyBlock | undefined,
): AsyncIterable<Bindings> {
  const { subject, path, object } = conjunct;
  const ends = { starts: nodesAt(subject, keys), ends: nodesAt(object, keys) };
  const holding = context.held.open();
  try {
    const found = await context.paths.pairs(path, ends, holding);
    const outside = keys ? await outsideNodes(context, conjunct, found) : new Set();
    const wanted = keys && new Set(keys.rows.map(termsText));
    for (const pair of found) {
      if (pair.start.equals(pair.end) && outside.has(termToText(pair.start))) continue;
      const row = pairSolution(conjunct, pair);
      if (row && (!wanted || wanted.has(termsText(keys.variables.map((name) => row.get(name)))))) yield row;
    }
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
 * of the graph (section 9.3), not over whatever is joined with it.
 */
async function outsideNodes(
  { graph, paths }: GroupContext,
  { subject, path, object }: PathConjunct,
  found: readonly NodePair[],
): Promise<ReadonlySet<string>> {
  if (!canBeEmpty(path) || subject.termType !== "Variable" || object.termType !== "Variable") return new Set();
  const doubtful = found.filter(({ start, end }) => start.equals(end) && !paths.hasSeen(start));
  const outside = new Set(doubtful.map(({ start }) => termToText(start)));
  if (outside.size === 0) return outside;
  for await (const node of graph.nodes(doubtful.map(({ start }) => start))) outside.delete(termToText(node));
  return outside;
}

// For what no member can tell without being asked.
const UNKNOWN_SIZE = 1_000;

/** As `connectedOrder` has them. */
async function ordered(
  { graph }: GroupContext,
  group: readonly Conjunct[],
  bound: Iterable<string>,
): Promise<readonly Conjunct[]> {
  const parts = await Promise.all(
    group.map(async (conjunct) => {
      const triples = conjunct.kind === "triple" ? await graph.estimate(conjunct.pattern) : undefined;
      const size = triples ?? UNKNOWN_SIZE / (1 + conjunctSelectivity(conjunct));
      return { item: conjunct, size, names: conjunctVariables(conjunct).map(({ name }) => name) };
    }),
  );
  return connectedOrder(parts, bound);
}

async function* each<T>(items: Iterable<T>): AsyncIterable<T> {
  yield* items;
}

async function* allToBindings(context: GroupContext, rows: AsyncIterable<Bindings>): AsyncIterable<RDF.Bindings> {
  for await (const row of rows) yield toBindings(row, context);
}
