import type * as RDF from "@rdfjs/types";
import type { MediatorQueryOperation } from "@comunica/bus-query-operation";
import { KeysInitQuery } from "@comunica/context-entries";
import type { IActionContext } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { type BlockSizes, termsText } from "../clause-query.ts";
import { rowBytes, type HeldBytes, type Holding, keyBytes } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import { batches, bindingsOf, leafOf } from "./clause-operands.ts";
import { controlKey } from "./execution.ts";
import { inputsOf, reachedVariables } from "./prepared-input.ts";
import { keyNumber, substitutedPattern } from "./substituted-pattern.ts";
import { ActionContextKey } from "@comunica/core";
import { LRUCache } from "lru-cache";

type Exists = Algebra.ExistenceExpression;

// Keys asked for at once where no clause says how many it takes; and rows that wait for them.
const KEYS_AT_ONCE = 990;
const ROWS_AT_ONCE = 4_096;
const BLOCKS_IN_FLIGHT = 4;

/** What EXISTS is evaluated with. */
interface ExistenceOptions {
  readonly mediatorQueryOperation: MediatorQueryOperation;
  readonly sizes: BlockSizes;
}

/**
 * EXISTS and NOT EXISTS, wherever they stand in expressions. Whether the pattern has a solution depends on the terms of
 * the variables that substitution reaches, the key. It is asked for many distinct keys at once, by evaluating one pattern
 * that has all of them in it, before the expression is evaluated for their rows; and for each key once an execution.
 */
export class Existence {
  readonly #mediator: MediatorQueryOperation;
  readonly #sizes: BlockSizes;

  constructor({ mediatorQueryOperation, sizes }: ExistenceOptions) {
    this.#mediator = mediatorQueryOperation;
    this.#sizes = sizes;
  }

  /** The value of EXISTS or NOT EXISTS for a row. */
  async value(exists: Exists, row: RDF.Bindings, context: IActionContext): Promise<boolean> {
    const { text } = keyOf(exists, row);
    const truths = context.getSafe(truthsKey);
    const known = truths.get(text) ?? this.#askOne(exists, row, context);
    return (await known) !== exists.not;
  }

  /** Asks what the expressions will want to know of the rows. */
  async prepare(existences: readonly Exists[], rows: Iterable<RDF.Bindings>, context: IActionContext): Promise<void> {
    const block = new Block(existences, context);
    for (const row of rows) block.add(row);
    await this.#ask(block, context);
  }

  /** Passes rows on when what the expressions want to know of them is known. */
  async *prepared(
    existences: readonly Exists[],
    rows: AsyncIterable<readonly RDF.Bindings[]>,
    context: IActionContext,
  ): AsyncIterable<readonly RDF.Bindings[]> {
    const holding = context.getSafe(controlKey).held.open();
    const ask = (block: Block) => this.#ask(block, context);
    const keysAtOnce = (): number => this.#keysAtOnce(existences);

    async function* rowsOf(block: Block, asked: Promise<void>): AsyncIterable<readonly RDF.Bindings[]> {
      await asked;
      yield block.rows;
      holding.add(-block.bytes);
    }
    async function* blocks(): AsyncIterable<AsyncIterable<readonly RDF.Bindings[]>> {
      let size = keysAtOnce();
      let isGrowing = true;
      let block = new Block(existences, context);
      for await (const batch of rows) {
        for (const row of batch) {
          holding.add(block.add(row));
          if (block.mostKeys < size && block.rows.length < ROWS_AT_ONCE) continue;
          const asked = ask(block);
          yield rowsOf(block, asked);
          block = new Block(existences, context);
          // One after the other while each may be larger than the one before: few requests, and as soon done.
          if (!isGrowing) continue;
          await asked;
          isGrowing = keysAtOnce() > size;
          size = keysAtOnce();
        }
      }
      yield rowsOf(block, ask(block));
    }
    try {
      yield* interleave(blocks(), BLOCKS_IN_FLIGHT);
    } finally {
      holding.release();
    }
  }

  /** As many as the first clause of each pattern takes. */
  #keysAtOnce(existences: readonly Exists[]): number {
    const clauses = existences.flatMap(({ input }) => firstClause(input) ?? []);
    return Math.min(KEYS_AT_ONCE, ...clauses.map((endpoint) => this.#sizes.next(endpoint)));
  }

  async #askOne(exists: Exists, row: RDF.Bindings, context: IActionContext): Promise<boolean> {
    const block = new Block([exists], context);
    block.add(row);
    const [truth] = this.#send(block, context);
    return truth === undefined ? false : truth;
  }

  async #ask(block: Block, context: IActionContext): Promise<void> {
    await Promise.all(this.#send(block, context));
  }

  /** From now on nobody else asks for the block's keys. */
  #send(block: Block, context: IActionContext): readonly Promise<boolean>[] {
    const truths = context.getSafe(truthsKey);
    return block.questions().flatMap((question) => {
      const found = this.#found(question, context);
      return question.texts.map((text, number) => {
        const truth = found.then((numbers) => numbers.has(String(number)));
        // Whoever evaluates the expression hears of the failure.
        truth.catch(() => {});
        truths.set(text, truth);
        return truth;
      });
    });
  }

  /** The numbers of the keys for which the pattern has a solution. */
  async #found({ exists, names, rows }: Question, context: IActionContext): Promise<ReadonlySet<string>> {
    const dataFactory = context.getSafe(KeysInitQuery.dataFactory);
    const operation = substitutedPattern(exists.input, { variables: names, rows }, dataFactory);
    const output = bindingsOf(await this.#mediator.mediate({ operation, context }));
    const found = new Set<string>();
    for await (const solutions of batches(output)) {
      for (const solution of solutions) found.add(solution.get(keyNumber)?.value ?? "");
      if (found.size === rows.length) break;
    }
    output.bindingsStream.destroy();
    return found;
  }
}

/** Keys of one pattern that bind the same variables. */
interface Question {
  readonly exists: Exists;
  readonly names: readonly string[];
  readonly rows: RDF.Term[][];
  readonly texts: string[];
}

/** Rows, and the keys that are not known of them. */
class Block {
  readonly rows: RDF.Bindings[] = [];
  bytes = 0;
  readonly #existences: readonly Exists[];
  readonly #truths: Truths;
  /** Keys of the pattern that is asked for the most. */
  mostKeys = 0;
  readonly #keys = new Set<string>();
  readonly #questions = new Map<string, Question>();

  constructor(existences: readonly Exists[], context: IActionContext) {
    this.#existences = existences;
    this.#truths = context.getSafe(truthsKey);
  }

  /** Gives the bytes of the row. */
  add(row: RDF.Bindings): number {
    for (const exists of this.#existences) this.#note(exists, row);
    const bytes = rowBytes(row);
    this.rows.push(row);
    this.bytes += bytes;
    return bytes;
  }

  questions(): readonly Question[] {
    return [...this.#questions.values()];
  }

  #note(exists: Exists, row: RDF.Bindings): void {
    const { names, terms, text, signature } = keyOf(exists, row);
    if (this.#keys.has(text) || this.#truths.get(text)) return;
    this.#keys.add(text);
    const question = this.#questions.get(signature) ?? { exists, names, rows: [], texts: [] };
    this.#questions.set(signature, question);
    question.rows.push(terms);
    question.texts.push(text);
    this.mostKeys = Math.max(this.mostKeys, question.rows.length);
  }
}

interface Key {
  readonly names: readonly string[];
  readonly terms: RDF.Term[];
  readonly text: string;
  /** The pattern and the variables. */
  readonly signature: string;
}

function keyOf(exists: Exists, row: RDF.Bindings): Key {
  const { id, variables } = patternOf(exists);
  const names = variables.filter((name) => row.has(name));
  const terms = names.flatMap((name) => row.get(name) ?? []);
  const signature = [id, ...names].join(" ");
  return { names, terms, signature, text: `${signature} ${termsText(terms)}` };
}

/** What is known of the pattern of an EXISTS before anything is evaluated. */
interface ExistsPattern {
  readonly id: number;
  /** Those that substitution reaches. */
  readonly variables: readonly string[];
}

const patternOf = ({ metadata }: Exists): ExistsPattern => metadata?.["existsPattern"] as ExistsPattern;

/** Gives each EXISTS of a query a name of its own. */
export function createExistsNames(): (exists: Exists) => Exists {
  let id = 0;
  return (exists) => {
    const existsPattern: ExistsPattern = { id: id++, variables: [...reachedVariables(exists.input)] };
    return { ...exists, metadata: { ...exists.metadata, existsPattern } };
  };
}

function firstClause(operation: Algebra.Operation): string | undefined {
  const leaf = leafOf(operation);
  if (leaf) return leaf.source.clause.blocksOf;
  for (const input of inputsOf(operation)) {
    const first = firstClause(input);
    if (first !== undefined) return first;
  }
  return undefined;
}

// What is forgotten is asked for again.
const MOST_BYTES = 4 * 1024 * 1024;

/** Whether patterns of EXISTS have solutions, by pattern and key, as far as one execution has asked. */
export class Truths {
  readonly #holding: Holding;
  readonly #kept = new LRUCache<string, Promise<boolean>>({
    maxSize: MOST_BYTES,
    sizeCalculation: (_truth, key) => keyBytes(key),
    dispose: (_truth, key) => this.#holding.add(-keyBytes(key)),
  });

  constructor(held: HeldBytes) {
    this.#holding = held.open();
  }

  get(key: string): Promise<boolean> | undefined {
    return this.#kept.get(key);
  }

  set(key: string, truth: Promise<boolean>): void {
    this.#holding.add(keyBytes(key));
    this.#kept.set(key, truth);
  }
}

/** Those of the running execution. */
export const truthsKey = new ActionContextKey<Truths>("fedway:existenceTruths");
