import type * as RDF from "@rdfjs/types";
import type { QueryType } from "@comunica/types";
import { LRUCache } from "lru-cache";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { ClauseVariable, FederatedClause, FederatedPlan } from "../../plan/query-plan.ts";
import { inBatches, itemsOf } from "../../results/item-reader.ts";
import { type Bindings, columnsInOrder, type QueryResult } from "../../results/model.ts";
import type { SparqlClient } from "../../outbound/sparql-client.ts";
import { BlockSizes } from "../clause-query.ts";
import { createClauseExecutor } from "../clause-executor.ts";
import { ClauseSizes } from "../clause-sizes.ts";
import type { EvaluateHere } from "../evaluated-clause.ts";
import { type ClauseAt, createFollowedRows, type FollowedOptions } from "../followed-clause.ts";
import { ExecutionAccount } from "../execution-account.ts";
import { goesOnWithout, withItems } from "../executor.ts";
import type { ExecutionBounds, FederationEngine } from "../federation-engine.ts";
import { defaultHeldBytes, type HeldTogether, countUpTo } from "../held-bytes.ts";
import type { KeyForms } from "../key-forms.ts";
import type { RowCaps } from "../row-caps.ts";
import { withProvenance, withProvenanceColumn } from "../provenance.ts";
import { createLabelledRows, type LabelledRowsOptions } from "../labelled-rows.ts";
import { noPatternSources, type OpenPatternSource } from "../sources/pattern-source.ts";
import { MergedGraph } from "../sources/merged-graph.ts";
import { PathEvaluator } from "../sources/property-path.ts";
import { ClauseSource, type LeafClause, type SourceContext } from "./clause-source.ts";
import { createEngineInstance, dataFactory, type ParsedSkeleton } from "./engine-instance.ts";
import { Truths, truthsKey } from "./existence.ts";
import { createExecution, type Execution, clauseSourcesKey, controlKey, patternLeavesKey } from "./execution.ts";
import { PatternLeaves } from "./pattern-leaves.ts";
import { QueryUse } from "./query-use.ts";
import { termsOf } from "./row.ts";
import type { Holders } from "../sources/key-routes.ts";
import { toParserText, innerName, outerName } from "./parser-text.ts";

// Their algebra takes some fifty times as many bytes.
const KEPT_SKELETON_CHARACTERS = 262_144;
// Joins may make more solutions than they are given; they are passed on, not kept.
const MADE_FOR_EACH_TAKEN = 4;
const countMade = (maxSolutions: number) => countUpTo(maxSolutions * MADE_FOR_EACH_TAKEN);

/** What the engine works with. */
interface ComunicaEngineOptions {
  readonly client: SparqlClient;
  /** Where endpoints are known to cut their answers. */
  readonly rowCaps?: RowCaps;
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

/** Comunica behind the `FederationEngine` port: it evaluates the algebra, our sources and joins make the requests. */
export function createComunicaEngine(options: ComunicaEngineOptions): FederationEngine {
  const { client, maxSolutions, maxHeldBytes = defaultHeldBytes, now, openSource = noPatternSources } = options;
  const { maxHeldTogetherBytes: most = Number.POSITIVE_INFINITY, rowCaps, keyForms, clauseAt, holders } = options;
  const heldTogether: HeldTogether = { most, bytes: 0, holders: 0 };
  const sizes = new BlockSizes();
  const clauseSizes = new ClauseSizes();
  const engine = createEngineInstance(sizes);
  const parsed = keepParsed((skeleton) => engine.parse(toParserText(skeleton)));

  /** A SERVICE clause that its endpoint cannot evaluate is a query over its triples; the clause decides on failures. */
  const evaluatorOf =
    (account: ExecutionAccount): EvaluateHere =>
    (endpoint, query, bounds) => {
      const plan = { ...noPlan, query, skeleton: query, over: { members: [endpoint] } };
      return rowsOf(() => run(plan, { ...bounds, partial: false }, account));
    };

  function contextOf(plan: FederatedPlan, { bounds, control }: Execution, account: ExecutionAccount) {
    const { over, clauses, skeleton } = plan;
    const making = { client, bounds, sizes, account, rowCaps, keyForms, evaluateHere: evaluatorOf(account) };
    const shared: SourceContext = { control, dataFactory };
    const identified = async () => identifiedBy(await parsed(skeleton));
    const labelled: LeafOptions = {
      clauseSizes,
      following: { bounds, clauseAt, values: new Set() },
      executor: createClauseExecutor({ ...making, identified }),
      held: account.held,
      identified,
    };
    const sources = clauses.map((clause) => new ClauseSource(toLeafClause(clause, labelled), shared));
    const context = {
      [truthsKey.name]: new Truths(control.held),
      [clauseSourcesKey.name]: new Map(sources.map((source) => [source.referenceValue, source])),
      [controlKey.name]: control,
    };
    if (!over) return context;
    const use = new QueryUse();
    const { count, held } = account;
    const asking = { ...making, bounds: { ...bounds, partial: goesOnWithout(over, bounds) } };
    const executor = createClauseExecutor({ ...asking, identified: async () => (name) => use.identified(name) });
    const graph = new MergedGraph(over, { ...asking, executor, needs: use, openSource, holders, count, held, now });
    const blocksOf = `urn:fedway:merged:${over.federation ?? over.members[0]?.url ?? ""}`;
    const group = { ...control, graph, paths: new PathEvaluator(graph, control.count), sizes, blocksOf, dataFactory };
    return { ...context, [patternLeavesKey.name]: new PatternLeaves(use, group, shared) };
  }

  async function run(plan: FederatedPlan, bounds: ExecutionBounds, account: ExecutionAccount): Promise<QueryResult> {
    const execution = createExecution(bounds, { count: countMade(maxSolutions), held: account.held });
    try {
      const context = contextOf(plan, execution, account);
      const query = await execution.race(parsed(plan.skeleton).then((skeleton) => engine.evaluate(skeleton, context)));
      return await execution.race(toResult(query, execution, plan.columns?.asked));
    } catch (error) {
      execution.end();
      throw toFedwayError(error);
    }
  }

  return {
    execute(plan, bounds) {
      const account = new ExecutionAccount({ maxSolutions, maxHeldBytes, heldTogether, now });
      return accounted(run(plan, bounds, account), account);
    },
  };
}

/** Which variables of the clauses are told apart; asked for only when a blank node turns up. */
function identifiedBy({ operation }: ParsedSkeleton): (name: string) => boolean {
  const use = new QueryUse();
  use.read(operation);
  return (name) => use.identified(innerName(name));
}

/** Keeps parsed skeletons by their text. Parsing is 0.27 ms of 1.67 ms that a join of ten rows takes an evaluator. */
function keepParsed(parse: (skeleton: string) => Promise<ParsedSkeleton>) {
  const kept = new LRUCache<string, Promise<ParsedSkeleton>>({
    maxSize: KEPT_SKELETON_CHARACTERS,
    sizeCalculation: (_parsed, { length }) => length,
  });
  return (skeleton: string): Promise<ParsedSkeleton> => {
    const parsed = kept.get(skeleton) ?? parse(skeleton);
    kept.set(skeleton, parsed);
    return parsed;
  };
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

interface LeafOptions extends LabelledRowsOptions {
  readonly clauseSizes: ClauseSizes;
  readonly following: Omit<FollowedOptions, "rowsOf">;
}

/** A SERVICE clause as its leaf asks it. */
function toLeafClause(clause: FederatedClause, options: LeafOptions): LeafClause {
  const { targetVariable: target } = clause;
  const bound = boundVariables(clause);
  const variables = bound.map(({ name, certain }) => ({ name: innerName(name), certain }));
  const renames = bound.some(({ name }) => innerName(name) !== name);
  let isInBlocks = false;
  const askedRows = (asked: FederatedClause) => createLabelledRows(asked, { ...options, inBlocks: () => isInBlocks });
  const solutions =
    target === undefined
      ? askedRows(clause)
      : createFollowedRows(clause, target, { ...options.following, rowsOf: askedRows });
  return {
    ...clause,
    variables,
    targetVariable: target && innerName(target),
    size: options.clauseSizes.of(clause),
    blocksOf: clause.endpoint.url,
    blankKeys: false,
    correlated: clause.substitution?.variables.map(innerName),
    substituting: (names) => toLeafClause(substituting(clause, names.map(outerName)), options),
    substituted: clause.substituted?.map(innerName),
    askedInBlocks() {
      isInBlocks = true;
    },
    solutions(keys) {
      const asked = solutions(keys && { ...keys, variables: keys.variables.map(outerName) });
      const rows = keys || clause.silent || clause.limit !== undefined ? asked : measured(asked, clause, options);
      return renames ? renamed(rows) : rows;
    },
  };
}

/** What the solutions of a clause bind, its target among it where that is a variable. */
function boundVariables({ variables, targetVariable: target }: FederatedClause): readonly ClauseVariable[] {
  if (target === undefined) return variables;
  return [...variables.filter(({ name }) => name !== target), { name: target, certain: true }];
}

/** The rows; their number is remembered when they are all. */
async function* measured(
  rows: AsyncIterable<readonly Bindings[]>,
  clause: FederatedClause,
  { clauseSizes }: LeafOptions,
): AsyncIterable<readonly Bindings[]> {
  let count = 0;
  for await (const batch of rows) {
    count += batch.length;
    yield batch;
  }
  clauseSizes.note(clause, count);
}

async function* renamed(rows: AsyncIterable<readonly Bindings[]>): AsyncIterable<readonly Bindings[]> {
  for await (const batch of rows) yield batch.map(innerRow);
}

const innerRow = (row: Bindings): Bindings => new Map([...row].map(([name, term]) => [innerName(name), term]));

/** The values of its keys are among the solutions that it gives, wherever they stand in it. */
function substituting(clause: FederatedClause, substituted: readonly string[]): FederatedClause {
  const own = new Set(clause.variables.map(({ name }) => name));
  const added = substituted.filter((name) => !own.has(name)).map((name) => ({ name, certain: false }));
  return { ...clause, substituted, variables: [...clause.variables, ...added] };
}

async function toResult(
  query: QueryType,
  execution: Execution,
  order: readonly string[] | undefined,
): Promise<QueryResult> {
  switch (query.resultType) {
    case "bindings": {
      const { variables } = await query.metadata();
      const names = variables.map(({ value }) => outerName(value));
      const ordered = columnsInOrder(names, order);
      const columns = execution.control.traced ? withProvenanceColumn(ordered) : ordered;
      const stream = await query.execute();
      const renames = variables.some(({ value }, at) => value !== names[at]);
      const toRow = renames ? outerRow : termsOf;
      if (!execution.control.traced)
        return { kind: "bindings", variables: columns, rows: execution.stream(stream, toRow) };
      const rows = execution.stream<RDF.Bindings, Bindings>(stream, (row) => withProvenance(toRow(row)));
      return { kind: "bindings", variables: columns, rows };
    }
    case "quads":
      return { kind: "quads", quads: execution.stream(await query.execute(), (quad) => quad) };
    case "boolean": {
      const value = await query.execute();
      execution.end();
      return { kind: "boolean", value };
    }
    default:
      throw new FedwayError("UPDATE_REFUSED", "Only queries are executed.");
  }
}

const outerRow = (row: RDF.Bindings): Bindings =>
  new Map([...termsOf(row)].map(([name, term]) => [outerName(name), term]));
