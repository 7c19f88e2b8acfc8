import { KeysInitQuery } from "@comunica/context-entries";
import type { QueryType } from "@comunica/types";
import { BindingsFactory } from "@comunica/utils-bindings-factory";
import type { Algebra } from "@comunica/utils-algebra";
import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { FederatedPlan } from "../../plan/query-plan.ts";
import type { Bindings, QueryResult } from "../../results/model.ts";
import type { SparqlClient } from "../../transport/sparql-client.ts";
import { createBlockSizes } from "../block-sizes.ts";
import { createClauseExecutor } from "../clause-executor.ts";
import type { ExecutionBounds, FederationEngine } from "../federation-engine.ts";

import { ClauseSource } from "./clause-source.ts";
import { createEngineInstance, dataFactory } from "./engine-instance.ts";
import { createExecution, type Execution } from "./execution.ts";
import { clauseSourcesKey, controlKey } from "./execution-keys.ts";

// Joins may make more solutions than they are given; they are passed on, not kept.
const MADE_FOR_EACH_TAKEN = 4;

/** What the engine works with. */
export interface ComunicaEngineOptions {
  readonly client: SparqlClient;
  /** Solutions that one execution may take in from its endpoints; its joins may make four times as many. */
  readonly maxSolutions: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/** Comunica behind the `FederationEngine` port: it evaluates the algebra, our sources and joins make the requests. */
export function createComunicaEngine({ client, maxSolutions, now }: ComunicaEngineOptions): FederationEngine {
  const sizes = createBlockSizes();
  const engine = createEngineInstance(sizes);
  const bindingsFactory = new BindingsFactory(dataFactory);
  const operations = new WeakMap<FederatedPlan, Promise<Algebra.Operation>>();

  function operationOf(plan: FederatedPlan): Promise<Algebra.Operation> {
    const known = operations.get(plan) ?? engine.parse(plan.skeleton);
    operations.set(plan, known);
    return known;
  }

  async function execute(plan: FederatedPlan, bounds: ExecutionBounds): Promise<QueryResult> {
    const execution = createExecution(bounds, maxSolutions * MADE_FOR_EACH_TAKEN);
    const executor = createClauseExecutor({ client, bounds: execution.bounds, sizes, maxSolutions, now });
    const shared = { executor, control: execution.control, dataFactory, bindingsFactory };
    const sources = new Map(plan.clauses.map((clause) => [clause.iri, new ClauseSource(clause, shared)]));
    const context = {
      [KeysInitQuery.distinctConstruct.name]: true,
      [clauseSourcesKey.name]: sources,
      [controlKey.name]: execution.control,
    };
    try {
      const query = await execution.race(operationOf(plan).then((operation) => engine.evaluate(operation, context)));
      return await execution.race(toResult(query, execution));
    } catch (error) {
      execution.end();
      throw toFedwayError(error);
    }
  }

  return { name: "comunica", execute, close: async () => {} };
}

async function toResult(query: QueryType, execution: Execution): Promise<QueryResult> {
  switch (query.resultType) {
    case "bindings": {
      const { variables } = await query.metadata();
      const stream = await query.execute();
      const names = variables.map(({ value }) => value);
      return { kind: "bindings", variables: names, rows: execution.stream(stream, (row) => toRow(row, names)) };
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

function toRow(bindings: RDF.Bindings, names: readonly string[]): Bindings {
  const row = new Map<string, RDF.Term>();
  for (const name of names) {
    const term = bindings.get(name);
    if (term) row.set(name, term);
  }
  return row;
}
