import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { FederatedPlan } from "../../plan/query-plan.ts";
import { inBatches, itemsOf } from "../../results/item-reader.ts";
import type { Bindings, QueryResult } from "../../results/model.ts";
import { columnsInOrder } from "../../results/parse.ts";
import type { SparqlClient } from "../../outbound/sparql-request.ts";
import { BlockSizes } from "../clause-query.ts";
import { createClauseExecutor } from "../clause-executor.ts";
import { ClauseSizes } from "../clause-sizes.ts";
import type { EvaluateHere } from "../evaluated-clause.ts";
import type { Operation } from "./algebra.ts";
import type { Evaluate, Execution, Result } from "./execution.ts";
import { createRun, type Run } from "./run.ts";
import { Truths } from "./existence.ts";
import type { ClauseAt } from "../bound-target.ts";
import { ExecutionAccount } from "../execution-account.ts";
import { goesOnWithout, withItems, type FederationEngine } from "../executor.ts";
import type { ExecutionBounds } from "../execution-bounds.ts";
import { defaultHeldBytes, type HeldTogether, countUpTo } from "../held-bytes.ts";
import type { KeyForms } from "../key-forms.ts";
import { withProvenance, withProvenanceColumn } from "../provenance.ts";
import { noPatternSources, type OpenPatternSource } from "../sources/pattern-source.ts";
import { MergedGraph } from "../sources/merged-graph.ts";
import { PathEvaluator } from "../sources/property-path.ts";
import type { Holders } from "../sources/key-routes.ts";
import type * as RDF from "../../rdf/term.ts";
import { withFormOutside } from "./describe.ts";
import { withoutGraphs } from "./named-graphs.ts";
import { graphNames } from "./path-solutions.ts";
import type { GraphContext } from "./pattern-leaves.ts";
import { assignLeaves, type LeafSources } from "./assign-clauses.ts";
import { type ClauseLeafOptions, toLeafClause } from "./clause-leaf.ts";
import { QueryUse } from "./query-use.ts";
import type { Surroundings } from "../expressions/functions.ts";
import { innerName, outerName } from "./inner-names.ts";

// Joins may make more solutions than they are given; they are passed on, not kept.
const MADE_FOR_EACH_TAKEN = 4;
const countMade = (maxSolutions: number) => countUpTo(maxSolutions * MADE_FOR_EACH_TAKEN);

/** A query's algebra and its BASE. */
export interface ParsedSkeleton {
  readonly operation: Operation;
  readonly base: string | undefined;
}

/** Parses a query, and finds the operator of each operation of its algebra. */
export interface AlgebraHost {
  /** The variables of the algebra have inner names. */
  parse(skeleton: string): Promise<ParsedSkeleton>;
  readonly evaluate: Evaluate;
}

/** Options of the engine. */
export interface EngineOptions {
  readonly client: SparqlClient;
  /** How endpoints take join keys; default: each execution finds out. */
  readonly keyForms?: KeyForms;
  /** How a clause is asked at an endpoint that data name; without it they may not. */
  readonly clauseAt?: ClauseAt;
  /** Which keys members may have; without it, what the plan says of them. */
  readonly holders?: Holders;
  /** Opens endpoints whose interface is "tpf" or "file"; without it they are refused. */
  readonly openSource?: OpenPatternSource;
  /** Solutions that one execution may take in from its endpoints; its joins may make four times as many. */
  readonly maxSolutions: number;
  /** Bytes that the operators of one execution may hold at once, estimated; default 128 MiB. */
  readonly maxHeldBytes?: number;
  /** The same for all executions together; default unlimited. */
  readonly maxHeldTogetherBytes?: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/** The evaluator behind the `FederationEngine` port. */
export function createAlgebraEngine(options: EngineOptions, host: AlgebraHost): FederationEngine {
  const { maxSolutions, maxHeldBytes = defaultHeldBytes, now } = options;
  const { maxHeldTogetherBytes: most = Number.POSITIVE_INFINITY } = options;
  const heldTogether: HeldTogether = { most, bytes: 0, holders: 0 };
  const shared = { ...options, sizes: new BlockSizes(), clauseSizes: new ClauseSizes() };

  async function evaluated(plan: FederatedPlan, run: Run, account: ExecutionAccount): Promise<QueryResult> {
    /** A SERVICE clause that its endpoint cannot evaluate is a query over its triples; the clause decides on failures. */
    const evaluateHere: EvaluateHere = (endpoint, query, bounds) => {
      const nested = { ...noPlan, query, skeleton: query, over: endpoint.over ?? { members: [endpoint] } };
      return rowsOf(() => runPlan(nested, bounds, account));
    };
    const count = countMade(maxSolutions);
    const { operation: skeleton, base } = await host.parse(plan.skeleton);
    const surroundings = { base, now: new Date().toISOString() };
    const sources = sourcesOf(plan, { ...shared, bounds: run.bounds, account, evaluateHere, count, surroundings });
    const formed = plan.answer === "bindings" ? skeleton : withFormOutside(skeleton);
    const namesGraphs = formed.type === "from" || /\bGRAPH\b/i.test(plan.skeleton);
    const graphed = namesGraphs ? await withoutGraphs(formed, () => allGraphNames(sources.patterns)) : formed;
    const operation = assignLeaves(graphed, sources);
    const execution: Execution = {
      evaluate: host.evaluate,
      signal: run.bounds.signal,
      count,
      held: account.held,
      traced: run.bounds.provenance === true,
      surroundings,
      truths: new Truths(account.held),
    };
    const result = await host.evaluate(operation, execution);
    return toResult(result, { run, traced: execution.traced, order: plan.columns?.asked });
  }

  async function runPlan(
    plan: FederatedPlan,
    bounds: ExecutionBounds,
    account: ExecutionAccount,
  ): Promise<QueryResult> {
    const run = createRun(bounds);
    try {
      return await run.race(evaluated(plan, run, account));
    } catch (error) {
      run.end();
      throw toFedwayError(error);
    }
  }

  return {
    execute(plan, bounds) {
      const account = new ExecutionAccount({ maxSolutions, maxHeldBytes, heldTogether, now });
      return accounted(runPlan(plan, bounds, account), account);
    },
  };
}

// A query that needs them is evaluated for each.
const MOST_GRAPHS = 100;

/** The names of all graphs of the members. @throws FedwayError `EVALUATION_TOO_LARGE` */
async function allGraphNames(patterns: GraphContext | undefined): Promise<readonly RDF.Term[]> {
  const names = patterns ? await graphNames(patterns, "g") : [];
  if (names.length <= MOST_GRAPHS) return names;
  throw new FedwayError(
    "EVALUATION_TOO_LARGE",
    `What stands in GRAPH ?g is evaluated graph by graph because of its subquery, BIND or MINUS, and there are ${names.length} graphs, more than ${MOST_GRAPHS}.`,
    { next: "Name the graphs with FROM NAMED, or write GRAPH with an IRI." },
  );
}

/** Options of one execution's leaves. */
interface Making extends EngineOptions {
  readonly sizes: BlockSizes;
  readonly clauseSizes: ClauseSizes;
  readonly bounds: ExecutionBounds;
  readonly account: ExecutionAccount;
  readonly evaluateHere: EvaluateHere;
  /** Counts solutions that are made. */
  readonly count: Execution["count"];
  readonly surroundings: Surroundings;
}

/** Sources of the leaves of a plan. */
function sourcesOf({ over, clauses }: FederatedPlan, making: Making): LeafSources {
  const { bounds, account, clauseAt, clauseSizes, sizes, surroundings, openSource = noPatternSources } = making;
  const { held } = account;
  const use = new QueryUse();
  const identified = (name: string): boolean => use.identified(innerName(name));
  const labelled: ClauseLeafOptions = {
    clauseSizes,
    sizes,
    boundTargets: { bounds, clauseAt, values: new Set() },
    executor: createClauseExecutor({ ...making, identified }),
    held,
    identified,
  };
  const places = Map.groupBy(clauses, ({ iri, place = iri }) => place);
  const leaves = new Map([...places].map(([place, own]) => [place, own.map((each) => toLeafClause(each, labelled))]));
  if (!over) return { clauses: leaves, patterns: undefined, use, surroundings };
  const asking = { ...making, bounds: { ...bounds, partial: goesOnWithout(over, bounds) } };
  const executor = createClauseExecutor({ ...asking, identified: (name) => use.identified(name) });
  const graph = new MergedGraph(over, { ...asking, executor, needs: use, openSource });
  const paths = new PathEvaluator(graph, making.count);
  return { clauses: leaves, patterns: { graph, paths, held }, use, surroundings };
}

/** The same result; at its end, however it ends, the execution holds nothing any more. */
async function accounted(running: Promise<QueryResult>, { held }: ExecutionAccount): Promise<QueryResult> {
  const over = (): void => held.close();
  try {
    const result = await running;
    if (result.kind === "boolean") over();
    return withItems(result, (items) => itemsOf(inBatches(items), over));
  } catch (error) {
    over();
    throw error;
  }
}

async function* rowsOf(run: () => Promise<QueryResult>): AsyncIterable<readonly Bindings[]> {
  const result = await run();
  if (result.kind === "bindings") yield* inBatches(result.rows);
}

const noPlan = { kind: "federated", answer: "bindings", clauses: [], members: [], notes: [] } as const;

interface Shown {
  readonly run: Run;
  readonly traced: boolean;
  readonly order: readonly string[] | undefined;
}

async function toResult(result: Result, { run, traced, order }: Shown): Promise<QueryResult> {
  if (result.kind === "quads") return { kind: "quads", quads: run.stream(result.quads, (quad) => quad) };
  if (result.kind === "boolean") {
    const value = await result.value();
    run.end();
    return { kind: "boolean", value };
  }
  const names = result.variables.map(({ name }) => outerName(name));
  const ordered = columnsInOrder(names, order);
  const renames = result.variables.some(({ name }, at) => name !== names[at]);
  const toRow = renames ? outerRow : (row: Bindings) => row;
  if (!traced) return { kind: "bindings", variables: ordered, rows: run.stream(result.rows, toRow) };
  const rows = run.stream(result.rows, (row) => withProvenance(toRow(row)));
  return { kind: "bindings", variables: withProvenanceColumn(ordered), rows };
}

const outerRow = (row: Bindings): Bindings => new Map([...row].map(([name, term]) => [outerName(name), term]));
