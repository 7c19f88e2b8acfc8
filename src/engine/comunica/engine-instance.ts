import { createRequire } from "node:module";
import type { ActorInitQueryBase } from "@comunica/actor-init-query";
// Not by way of the package's index, which loads a command line, a server and Components.js besides.
import { QueryEngineBase } from "@comunica/actor-init-query/lib/QueryEngineBase.js";
import type { ActorExpressionEvaluatorFactory } from "@comunica/bus-expression-evaluator-factory";
import type { ActorOptimizeQueryOperation } from "@comunica/bus-optimize-query-operation";
import type { ActorRdfJoin, MediatorRdfJoin } from "@comunica/bus-rdf-join";
import type { MediatorRdfJoinSelectivity } from "@comunica/bus-rdf-join-selectivity";
import type { ActorQueryOperation, MediatorQueryOperation } from "@comunica/bus-query-operation";
import type { MediatorQueryParse } from "@comunica/bus-query-parse";
import { withFreshVariables } from "./parser-text.ts";
import { KeysInitQuery } from "@comunica/context-entries";
import { ActionContext } from "@comunica/core";
import type { ComunicaDataFactory, QueryType } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { DataFactory } from "rdf-data-factory";
import type { BlockSizes } from "../clause-query.ts";
import { AssignClauses } from "./assign-clauses.ts";
import { batches, type OperatorArgs } from "./clause-operands.ts";
import { Construct } from "./construct.ts";
import { EqualityJoin } from "./equality-join.ts";
import { streamOf } from "./execution.ts";
import { Existence } from "./existence.ts";
import { PreparedInput } from "./prepared-input.ts";
import { ClauseInnerJoin, InnerJoin, type JoinArgs, LeftJoin, Minus } from "./joins.ts";
import { DescribeResources } from "./describe.ts";
import { Distinct } from "./distinct.ts";
import { Group } from "./group.ts";
import { Expressions, surroundingsIn, surroundingsKey } from "./expression-evaluator.ts";
import { OrderBy } from "./order-by.ts";
import { Extend, Filter, Project, Slice } from "./row-operators.ts";

/** RDF terms as Comunica makes them. */
export const dataFactory: ComunicaDataFactory = new DataFactory();

/** The algebra of a query and its BASE. */
export interface ParsedSkeleton {
  readonly operation: Algebra.Operation;
  readonly base: string | undefined;
}

/** Comunica reduced to what Fedway uses of it. */
interface EngineInstance {
  parse(query: string): Promise<ParsedSkeleton>;
  evaluate(query: ParsedSkeleton, context: Readonly<Record<string, unknown>>): Promise<QueryType>;
}

/**
 * A Comunica engine whose only data are SERVICE clauses. The compiled configuration (deploy/comunica/engine.json) has
 * no HTTP, dereferencing or parsing actors at all: what Comunica evaluates cannot reach the network by itself.
 */
export function createEngineInstance(sizes: BlockSizes): EngineInstance {
  const compiled = createRequire(import.meta.url)("#comunica-engine") as () => ActorInitQueryBase;
  const init = compiled();
  const process = onlyActor(init, "mediatorQueryProcess");
  installOptimizers(busOf(process, "mediatorOptimizeQueryOperation") as Bus<ActorOptimizeQueryOperation>);
  const operations = busOf(process, "mediatorQueryOperation");
  const mediatorQueryOperation = property(process, "mediatorQueryOperation") as MediatorQueryOperation;
  const existence = new Existence({ mediatorQueryOperation, sizes });
  const expressions = new Expressions(evaluatorFactory(operations), existence);
  installJoins(operations, { sizes, existence, expressions, mediatorQueryOperation });
  installOperators(operations as Bus<ActorQueryOperation>, { mediatorQueryOperation, existence, expressions });
  const parser = property(process, "mediatorQueryParse") as MediatorQueryParse;
  const engine = new QueryEngineBase(init);
  return {
    async parse(query) {
      const context = new ActionContext({ [KeysInitQuery.dataFactory.name]: withFreshVariables(dataFactory) });
      const queryFormat = { language: "sparql", version: "1.1" };
      const { operation, baseIRI } = await parser.mediate({ context, query, queryFormat });
      return { operation, base: baseIRI };
    },
    evaluate: ({ operation, base }, context) =>
      engine.query(operation, { sources: [], dataFactory, [surroundingsKey.name]: surroundingsIn(base), ...context }),
  };
}

function evaluatorFactory(operations: Bus<Named>): ActorExpressionEvaluatorFactory {
  const factory = onlyActor(actorNamed(operations, "filter"), "mediatorExpressionEvaluatorFactory");
  return factory as ActorExpressionEvaluatorFactory;
}

const KEPT_OPTIMIZERS = ["sort-limit-pushdown"];

// An actor subscribes to its bus when it is made; what the installing functions return is for the reader.

/** A skeleton has no patterns to assign, group or push into sources: only rewriting of query forms is left to Comunica. */
function installOptimizers(bus: Bus<ActorOptimizeQueryOperation>): Named[] {
  const dropped = bus.actors.filter((actor) => !KEPT_OPTIMIZERS.some((name) => actor.name.endsWith(`#${name}`)));
  for (const actor of dropped) bus.unsubscribe(actor);
  const args = { name: "fedway:assign-clauses", bus: bus as never, busFailMessage: bus.failMessage };
  return [new AssignClauses(args)];
}

const REPLACED_OPERATORS = ["orderby", "group", "distinct", "construct", "filter", "extend", "project", "slice"];

/** Operators that hold rows count them, all give others their turn, and rows go from one to the next in batches. */
function installOperators(
  bus: Bus<ActorQueryOperation>,
  shared: Pick<OperatorArgs, "mediatorQueryOperation" | "existence" | "expressions">,
): Named[] {
  for (const actor of REPLACED_OPERATORS.map((name) => actorNamed(bus, name))) {
    bus.unsubscribe(actor as ActorQueryOperation);
  }
  const args = { bus: bus as never, busFailMessage: bus.failMessage, ...shared };
  return [
    new OrderBy({ ...args, name: "fedway:order-by" }),
    new Group({ ...args, name: "fedway:group" }),
    new Distinct({ ...args, name: "fedway:distinct" }),
    new Construct({ ...args, name: "fedway:construct" }),
    new DescribeResources({ ...args, name: "fedway:describe" }),
    new Filter({ ...args, name: "fedway:filter" }),
    new Extend({ ...args, name: "fedway:extend" }),
    new Project({ ...args, name: "fedway:project" }),
    new Slice({ ...args, name: "fedway:slice" }),
    new PreparedInput({ ...args, name: "fedway:prepared-input" }),
    new EqualityJoin({ ...args, name: "fedway:equality-join" }),
  ];
}

// These ask a clause once for every solution of the others, do without the condition of a LeftJoin, hold what they do not
// count, or take an estimate of 0 for empty.
const REPLACED_JOINS =
  /#(?:inner-multi-bind(?:-source)?|inner-multi-empty|inner-hash-[a-z]+|inner-symmetric-hash|inner-nested-loop|optional-[a-z-]+|minus-[a-z-]+)$/;

function installJoins(
  operations: Bus<Named>,
  shared: Pick<JoinArgs, "sizes" | "existence" | "expressions" | "mediatorQueryOperation">,
): Named[] {
  const join = actorNamed(operations, "join");
  const bus = busOf(join, "mediatorJoin") as Bus<ActorRdfJoin>;
  const args = {
    bus: bus as never,
    busFailMessage: bus.failMessage,
    mediatorJoin: property(join, "mediatorJoin") as MediatorRdfJoin,
    mediatorJoinSelectivity: bus.actors[0]?.mediatorJoinSelectivity as MediatorRdfJoinSelectivity,
    ...shared,
  };
  for (const actor of bus.actors.filter(({ name }) => REPLACED_JOINS.test(name))) bus.unsubscribe(actor);
  for (const actor of bus.actors) boundOutput(actor);
  return [
    new ClauseInnerJoin({ ...args, name: "fedway:clause-inner-join" }),
    new InnerJoin({ ...args, name: "fedway:inner-join" }),
    new LeftJoin({ ...args, name: "fedway:left-join" }),
    new Minus({ ...args, name: "fedway:minus" }),
  ];
}

/** What Comunica's own joins make counts and stops like everything else. */
function boundOutput(actor: ActorRdfJoin): void {
  const run = actor.run.bind(actor);
  actor.run = async (action, sideData) => {
    const output = await run(action, sideData);
    return { ...output, bindingsStream: streamOf(action.context, () => batches(output)) };
  };
}

interface Named {
  readonly name: string;
}

/** The part of Comunica's `Bus` that wiring needs; its actors are not public in Comunica's types. */
interface Bus<A extends Named> {
  readonly actors: readonly A[];
  readonly failMessage: string;
  unsubscribe(actor: A): boolean;
}

// Comunica has no public way to reach a bus. Every step is checked, so that an upgrade that moves something fails at
// start and not in a query.
function property(owner: Named, key: string): unknown {
  const value = (owner as unknown as Record<string, unknown>)[key];
  if (value === undefined) throw new Error(`Comunica's ${owner.name} has no ${key}`);
  return value;
}

function busOf(owner: Named, mediator: string): Bus<Named> {
  const { bus } = property(owner, mediator) as { bus?: Bus<Named> };
  if (!bus || !Array.isArray(bus.actors)) throw new Error(`Comunica's ${mediator} has no bus of actors`);
  return bus;
}

function onlyActor(owner: Named, mediator: string): Named {
  const [actor, ...more] = busOf(owner, mediator).actors;
  if (!actor || more.length > 0) throw new Error(`Comunica's ${mediator} should have exactly one actor`);
  return actor;
}

function actorNamed(bus: Bus<Named>, name: string): Named {
  const actor = bus.actors.find((candidate) => candidate.name.endsWith(`#${name}`));
  if (!actor) throw new Error(`Comunica has no actor ${name}`);
  return actor;
}
