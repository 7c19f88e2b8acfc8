import createEngine from "#comunica-engine";
import {
  ActorQueryOperation,
  type IActionQueryOperation,
  type IActorQueryOperationArgs,
  type MediatorQueryOperation,
} from "@comunica/bus-query-operation";
import { KeysInitQuery } from "@comunica/context-entries";
import {
  ActionContext,
  ActionContextKey,
  failTest,
  type IActorTest,
  passTestVoid,
  type TestResult,
} from "@comunica/core";
import { LRUCache } from "lru-cache";
import { DataFactory } from "rdf-data-factory";
import type { Operation } from "../evaluator/algebra.ts";
import type { Evaluate, Execution, Result } from "../evaluator/execution.ts";
import { operators } from "../evaluator/operators.ts";
import type { AlgebraHost, ParsedSkeleton } from "../evaluator/algebra-engine.ts";
import { toParserText, withFreshVariables } from "./parser-text.ts";

const executionKey = new ActionContextKey<Execution>("fedway:execution");

/**
 * Comunica as the host of our operators: its parser makes the algebra, its bus of query operations finds the actor of each
 * operation. All actors of the bus are ours. The compiled configuration (deploy/comunica/engine.json) has no HTTP,
 * dereferencing or RDF parsing actors at all.
 */
export function createComunicaHost(): AlgebraHost {
  const process = onlyActor(createEngine(), "mediatorQueryProcess");
  const parser = property(process, "mediatorQueryParse") as MediatorQueryParse;
  const mediator = property(process, "mediatorQueryOperation") as MediatorQueryOperation;
  installOperators(busOf(process, "mediatorQueryOperation"));
  return {
    parse: keepParsed(async (skeleton) => {
      const context = new ActionContext({ [KeysInitQuery.dataFactory.name]: withFreshVariables(new DataFactory()) });
      const query = toParserText(skeleton);
      const { operation, baseIRI } = await parser.mediate({ context, query, queryFormat: sparql });
      return { operation, base: baseIRI };
    }),
    async evaluate(operation, execution) {
      const context = new ActionContext({ [executionKey.name]: execution });
      return resultOf(await mediator.mediate({ operation, context }));
    },
  };
}

const sparql = { language: "sparql", version: "1.1" };

/** The part of Comunica's parsing that is used. Its algebra has the shapes of ours. */
interface MediatorQueryParse {
  mediate(action: {
    readonly context: ActionContext;
    readonly query: string;
    readonly queryFormat: typeof sparql;
  }): Promise<{ readonly operation: Operation; readonly baseIRI?: string }>;
}

// Their algebra takes some fifty times as many bytes.
const KEPT_SKELETON_CHARACTERS = 262_144;

/** Keeps parsed skeletons by their text. Parsing is 0.27 ms of 1.67 ms that a join of ten rows takes an evaluator. */
function keepParsed(parse: AlgebraHost["parse"]): AlgebraHost["parse"] {
  const kept = new LRUCache<string, Promise<ParsedSkeleton>>({
    maxSize: KEPT_SKELETON_CHARACTERS,
    sizeCalculation: (_parsed, { length }) => length,
  });
  return (skeleton) => {
    const parsed = kept.get(skeleton) ?? parse(skeleton);
    kept.set(skeleton, parsed);
    return parsed;
  };
}

/** Puts our operators in the place of Comunica's. */
function installOperators(bus: Bus<Named>): readonly Named[] {
  for (const actor of bus.actors.slice()) bus.unsubscribe(actor);
  const args = { bus: bus as never, busFailMessage: bus.failMessage };
  // An actor subscribes to its bus when it is made; what this function returns is for the reader.
  return [...operators].map(
    ([operationName, operator]) =>
      new OperatorActor({ ...args, name: `fedway:${operationName}`, operationName }, operator),
  );
}

/** One of our operators as an actor of Comunica's bus. */
class OperatorActor extends ActorQueryOperation {
  /** The bus finds the actors of an operation by this. */
  declare readonly operationName: string;
  readonly #operator: Evaluate;

  constructor(args: IActorQueryOperationArgs & { readonly operationName: string }, operator: Evaluate) {
    super(args);
    this.#operator = operator;
  }

  override async test({ operation }: IActionQueryOperation): Promise<TestResult<IActorTest>> {
    return operation.type === this.operationName
      ? passTestVoid()
      : failTest(`${this.name} evaluates no ${operation.type}`);
  }

  override async run({ operation, context }: IActionQueryOperation): Promise<Output> {
    return carrying(await this.#operator(operation as Operation, context.getSafe(executionKey)));
  }
}

type Output = Awaited<ReturnType<ActorQueryOperation["run"]>>;

/** Results pass through Comunica as they are: whoever reads them is one of our operators, or the engine. */
const carrying = (result: Result): Output => ({ fedway: result }) as unknown as Output;
const resultOf = (output: Output): Result => (output as unknown as { readonly fedway: Result }).fedway;

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
