import type * as RDF from "@rdfjs/types";
import type { QueryType } from "@comunica/types";
import { BindingsFactory } from "@comunica/utils-bindings-factory";
import { LRUCache } from "lru-cache";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { FederatedClause, FederatedPlan } from "../../plan/query-plan.ts";
import type { Bindings, QueryResult } from "../../results/model.ts";
import type { SparqlClient } from "../../outbound/sparql-client.ts";
import { BlockSizes, type KeyBlock } from "../clause-query.ts";
import { createClauseExecutor } from "../clause-executor.ts";
import type { EvaluateHere } from "../evaluated-clause.ts";
import { ExecutionAccount } from "../execution-account.ts";
import { readBy, withItems } from "../executor.ts";
import type { ExecutionBounds, FederationEngine } from "../federation-engine.ts";
import { defaultHeldBytes, type HeldTogether, countUpTo } from "../held-bytes.ts";
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
import { toParserText, innerName, outerName } from "./parser-text.ts";

// Their algebra takes some fifty times as many bytes.
const KEPT_SKELETON_CHARACTERS = 262_144;
// Joins may make more solutions than they are given; they are passed on, not kept.
const MADE_FOR_EACH_TAKEN = 4;

/** What the engine works with. */
interface ComunicaEngineOptions {
  readonly client: SparqlClient;
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
  const { maxHeldTogetherBytes: most = Number.POSITIVE_INFINITY } = options;
  const heldTogether: HeldTogether = { most, bytes: 0, holders: 0 };
  const sizes = new BlockSizes();
  const engine = createEngineInstance(sizes);
  const bindingsFactory = new BindingsFactory(dataFactory);
  const parsed = keepParsed((skeleton) => engine.parse(toParserText(skeleton)));

  /** A SERVICE clause that its endpoint cannot evaluate is a query over its triples; the clause decides on failures. */
  const evaluatorOf = (account: ExecutionAccount): EvaluateHere =>
    async function* evaluateHere(endpoint, query, bounds) {
      const plan = { ...noPlan, query, skeleton: query, over: { members: [endpoint] } };
      const result = await run(plan, { ...bounds, partial: false }, account);
      if (result.kind === "bindings") yield* result.rows;
    };

  function contextOf(plan: FederatedPlan, execution: Execution, account: ExecutionAccount): Record<string, unknown> {
    const { bounds, control } = execution;
    const executor = createClauseExecutor({ client, bounds, sizes, account, evaluateHere: evaluatorOf(account) });
    const shared: SourceContext = { control, dataFactory, bindingsFactory };
    const labelled = { executor, held: account.held, identified: () => identifiedVariables(plan) };
    const sources = plan.clauses.map((clause) => new ClauseSource(toLeafClause(clause, labelled), shared));
    const context = {
      [truthsKey.name]: new Truths(control.held),
      [clauseSourcesKey.name]: new Map(sources.map((source) => [source.referenceValue, source])),
      [controlKey.name]: control,
    };
    const { over } = plan;
    if (!over) return context;
    const use = new QueryUse(toParserText(plan.query));
    const { count, held } = account;
    const graph = new MergedGraph(over, { executor, bounds, needs: use, sizes, openSource, count, held, now });
    const blocksOf = `urn:fedway:merged:${over.members.map(({ url }) => url).join(" ")}`;
    const paths = new PathEvaluator(graph, control.count);
    const group = { graph, paths, sizes, blocksOf, dataFactory, bindingsFactory, held };
    return { ...context, [patternLeavesKey.name]: new PatternLeaves(use, group, shared) };
  }

  /** Which variables of the clauses are told apart; asked for only when a blank node turns up. */
  async function identifiedVariables({ query, skeleton }: FederatedPlan): Promise<(name: string) => boolean> {
    const use = new QueryUse(query);
    use.read((await parsed(skeleton)).operation);
    return (name) => use.identified(innerName(name));
  }

  async function run(plan: FederatedPlan, bounds: ExecutionBounds, account: ExecutionAccount): Promise<QueryResult> {
    const count = countUpTo(maxSolutions * MADE_FOR_EACH_TAKEN);
    const execution = createExecution(bounds, { count, held: account.held });
    try {
      const context = contextOf(plan, execution, account);
      const query = await execution.race(parsed(plan.skeleton).then((skeleton) => engine.evaluate(skeleton, context)));
      return await execution.race(toResult(query, execution));
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
  const followed = <T>(items: AsyncIterable<T>): AsyncIterable<T> => {
    const iterator = items[Symbol.asyncIterator]();
    const next = async (): Promise<IteratorResult<T>> => {
      try {
        const item = await iterator.next();
        if (item.done) over();
        return item;
      } catch (error) {
        over();
        throw error;
      }
    };
    return readBy(iterator, next, over);
  };
  try {
    const result = await running;
    if (result.kind === "boolean") over();
    return withItems(result, followed);
  } catch (error) {
    over();
    throw error;
  }
}

const noPlan = { kind: "federated", answer: "bindings", clauses: [], members: [], notes: [] } as const;

/** A SERVICE clause as its leaf asks it. */
function toLeafClause(clause: FederatedClause, options: LabelledRowsOptions): LeafClause {
  const variables = clause.variables.map(({ name, certain }) => ({ name: innerName(name), certain }));
  const renames = clause.variables.some(({ name }) => innerName(name) !== name);
  // Blank nodes inside EXISTS are compared with none of another answer.
  const solutions = clause.substituted
    ? (keys: KeyBlock | undefined) => options.executor.solutions(clause, keys)
    : createLabelledRows(clause, options);
  return {
    ...clause,
    variables,
    blocksOf: clause.endpoint.url,
    blankKeys: false,
    correlated: clause.substitution?.variables.map(innerName),
    substituting: (names) => toLeafClause(substituting(clause, names.map(outerName)), options),
    substituted: clause.substituted?.map(innerName),
    solutions(keys) {
      const rows = solutions(keys && { ...keys, variables: keys.variables.map(outerName) });
      return renames ? renamed(rows) : rows;
    },
  };
}

async function* renamed(rows: AsyncIterable<Bindings>): AsyncIterable<Bindings> {
  for await (const row of rows) yield new Map([...row].map(([name, term]) => [innerName(name), term]));
}

/** The values of its keys are among the solutions that it gives, wherever they stand in it. */
function substituting(clause: FederatedClause, substituted: readonly string[]): FederatedClause {
  const own = new Set(clause.variables.map(({ name }) => name));
  const added = substituted.filter((name) => !own.has(name)).map((name) => ({ name, certain: false }));
  return { ...clause, substituted, variables: [...clause.variables, ...added] };
}

async function toResult(query: QueryType, execution: Execution): Promise<QueryResult> {
  switch (query.resultType) {
    case "bindings": {
      const { variables } = await query.metadata();
      const stream = await query.execute();
      const rows = execution.stream(stream, (row) => toRow(row, variables));
      return { kind: "bindings", variables: variables.map(({ value }) => outerName(value)), rows };
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

function toRow(bindings: RDF.Bindings, variables: readonly RDF.Variable[]): Bindings {
  const row = new Map<string, RDF.Term>();
  for (const variable of variables) {
    const term = bindings.get(variable);
    if (term) row.set(outerName(variable.value), term);
  }
  return row;
}
