import type { Bindings } from "../../results/model.ts";
import type * as RDF from "../../rdf/term.ts";
import { termsText } from "../clause-query.ts";
import { type HeldBytes, type Holding, keyBytes, rowBytes } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import type { Existence, Prepared } from "./algebra.ts";
import { type Execution, passedOn, type Rows, type Solutions, solutionsOf, wantingAll } from "./execution.ts";
import { leavesOf } from "./keyed-operation.ts";
import { keyNumber, substitutedPattern } from "./substituted-pattern.ts";

// Keys asked for at once where no clause says how many it takes; and rows that wait for them.
const KEYS_AT_ONCE = 990;
const ROWS_AT_ONCE = 4_096;
const BLOCKS_IN_FLIGHT = 4;

// EXISTS and NOT EXISTS, wherever they stand in expressions. Whether the pattern has a solution depends on the terms of the
// variables that substitution reaches, the key. It is asked for many distinct keys at once, by evaluating one pattern that has
// all of them in it, before the expression is evaluated for their rows; and for each key once an execution.

/** The value of EXISTS or NOT EXISTS for a row. */
export async function existenceFor(exists: Existence, row: Bindings, execution: Execution): Promise<boolean> {
  const { text } = keyOf(exists, row);
  const known = execution.truths.get(text) ?? askOne(exists, row, execution);
  return (await known) !== exists.not;
}

/** Asks what the expressions will want to know of the rows. */
export async function prepareExistences(
  existences: readonly Existence[],
  rows: Iterable<Bindings>,
  execution: Execution,
): Promise<void> {
  const block = new Block(existences, execution.truths);
  for (const row of rows) block.add(row);
  await ask(block, execution);
}

/** The solutions of an input, passed on when what EXISTS will be evaluated for is known. */
export async function prepared({ input, existences }: Prepared, execution: Execution): Promise<Solutions> {
  const solutions = await solutionsOf(input, execution);
  return passedOn(solutions, execution, () => preparedRows(existences, solutions.rows, execution));
}

async function* preparedRows(existences: readonly Existence[], rows: Rows, execution: Execution): Rows {
  const holding = execution.held.open();
  const atOnce = (): number => keysAtOnce(existences);
  const opened = (): Block => new Block(existences, execution.truths);

  async function* rowsOf(block: Block, asked: Promise<void>): Rows {
    await asked;
    yield block.rows;
    holding.add(-block.bytes);
  }
  async function* blocks(): AsyncIterable<Rows> {
    let size = atOnce();
    let isGrowing = true;
    let block = opened();
    for await (const batch of rows) {
      for (const row of batch) {
        holding.add(block.add(row));
        if (block.mostKeys < size && block.rows.length < ROWS_AT_ONCE) continue;
        const asked = ask(block, execution);
        yield rowsOf(block, asked);
        block = opened();
        // One after the other while each may be larger than the one before: few requests, and as soon done.
        if (!isGrowing) continue;
        await asked;
        isGrowing = atOnce() > size;
        size = atOnce();
      }
    }
    yield rowsOf(block, ask(block, execution));
  }
  try {
    yield* interleave(blocks(), BLOCKS_IN_FLIGHT);
  } finally {
    holding.release();
  }
}

/** As many as the first clause of each pattern takes. */
function keysAtOnce(existences: readonly Existence[]): number {
  const blocks = existences.flatMap(({ input }) => leavesOf(input)[0]?.blocks ?? []);
  return Math.min(KEYS_AT_ONCE, ...blocks.map((one) => one.next()));
}

async function askOne(exists: Existence, row: Bindings, execution: Execution): Promise<boolean> {
  const block = new Block([exists], execution.truths);
  block.add(row);
  const [truth] = send(block, execution);
  return truth === undefined ? false : truth;
}

async function ask(block: Block, execution: Execution): Promise<void> {
  await Promise.all(send(block, execution));
}

/** Claims the block's keys, so that no other evaluation asks for them. */
function send(block: Block, execution: Execution): readonly Promise<boolean>[] {
  return block.questions().flatMap((question) => {
    const found = numbersFound(question, execution);
    return question.texts.map((text, number) => {
      const truth = found.then((numbers) => numbers.has(String(number)));
      // The evaluation of the expression gets the failure.
      truth.catch(() => {});
      execution.truths.set(text, truth);
      return truth;
    });
  });
}

/** The numbers of the keys for which the pattern has a solution. */
async function numbersFound({ exists, names, rows }: Question, execution: Execution): Promise<ReadonlySet<string>> {
  const operation = substitutedPattern(exists.input, { variables: names, rows });
  const found = new Set<string>();
  for await (const solutions of (await solutionsOf(operation, wantingAll(execution))).rows) {
    for (const solution of solutions) found.add(solution.get(keyNumber)?.value ?? "");
    if (found.size === rows.length) break;
  }
  return found;
}

/** Keys of one pattern that bind the same variables. */
interface Question {
  readonly exists: Existence;
  readonly names: readonly string[];
  readonly rows: RDF.Term[][];
  readonly texts: string[];
}

/** Rows, and the keys that are not known of them. */
class Block {
  readonly rows: Bindings[] = [];
  bytes = 0;
  readonly #existences: readonly Existence[];
  readonly #truths: Truths;
  /** Keys of the pattern that is asked for the most. */
  mostKeys = 0;
  readonly #keys = new Set<string>();
  readonly #questions = new Map<string, Question>();

  constructor(existences: readonly Existence[], truths: Truths) {
    this.#existences = existences;
    this.#truths = truths;
  }

  /** Gives the bytes of the row. */
  add(row: Bindings): number {
    for (const exists of this.#existences) this.#note(exists, row);
    const bytes = rowBytes(row);
    this.rows.push(row);
    this.bytes += bytes;
    return bytes;
  }

  questions(): readonly Question[] {
    return [...this.#questions.values()];
  }

  #note(exists: Existence, row: Bindings): void {
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

function keyOf(exists: Existence, row: Bindings): Key {
  if (!exists.pattern) throw new Error("An EXISTS has no number");
  const { id, variables } = exists.pattern;
  const names = variables.filter((name) => row.has(name));
  const terms = names.flatMap((name) => row.get(name) ?? []);
  const signature = [id, ...names].join(" ");
  return { names, terms, signature, text: `${signature} ${termsText(terms)}` };
}

// Forgotten keys are asked again.
const MOST_BYTES = 4 * 1024 * 1024;

/** Answers of EXISTS patterns by pattern and key, as far as one execution has asked; the oldest are dropped first. */
export class Truths {
  readonly #holding: Holding;
  readonly #kept = new Map<string, Promise<boolean>>();
  #bytes = 0;

  constructor(held: HeldBytes) {
    this.#holding = held.open();
  }

  get(key: string): Promise<boolean> | undefined {
    return this.#kept.get(key);
  }

  set(key: string, truth: Promise<boolean>): void {
    if (!this.#kept.has(key)) this.#add(keyBytes(key));
    this.#kept.set(key, truth);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#kept.delete(oldest);
      this.#add(-keyBytes(oldest));
    }
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#holding.add(bytes);
  }
}
