import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { amountText } from "../../../src/figures.ts";
import { termFromJson } from "../../../src/results/read-json.ts";
import type { NamedInput } from "../load/input.ts";
import { termText } from "../load/read-quads.ts";
import { readStatements } from "../load/read-statements.ts";
import { type Statement, statementOf } from "../load/statement.ts";
import { isObject } from "../guards.ts";
import { type AnswerStore, type OpenStore, solutionsOf } from "./answer-store.ts";
import type { TripleSum } from "./triple-sum.ts";
import { type Check, Findings, timeOver } from "./verification.ts";

/** A shard's file, and the sum of its statements as they were read. */
interface SummedFile {
  readonly input: NamedInput;
  readonly sum: TripleSum;
}

interface HostedCheckOptions {
  readonly openStore: OpenStore;
  readonly gzip: boolean;
  readonly signal: AbortSignal;
  /** Aborts when there is no time left: shards not compared by then are unknown. */
  readonly timeUp: AbortSignal;
  readonly onShard: (done: number) => void;
}

/**
 * Loads each shard into a store of its own, as its endpoint does, and compares what that answers with the file: how many
 * statements, and the sum of all of them, term by term. A store may hold a literal in another spelling, or two as one.
 */
export async function checkHosted(files: readonly SummedFile[], options: HostedCheckOptions): Promise<Check> {
  const findings = new Findings("hosted");
  let triples = 0;
  for (const [at, file] of files.entries()) {
    options.signal.throwIfAborted();
    if (options.timeUp.aborted) {
      findings.unknownIs("the rest", timeOver, files.length - at);
      break;
    }
    triples += file.sum.count;
    await checkOne(file, findings, options);
    options.onShard(at + 1);
  }
  return findings.check(triples);
}

async function checkOne({ input, sum }: SummedFile, findings: Findings, options: HostedCheckOptions): Promise<void> {
  const { path, format, name } = input;
  const { openStore, gzip, signal, timeUp } = options;
  let store: AnswerStore | undefined;
  try {
    store = await openStore([{ path, format, gzip }], signal);
    const stop = AbortSignal.any([signal, timeUp]);
    const found = sum.ofNothing();
    await visitHosted(store, input, { visit: (statement) => found.add(statement), signal: stop });
    if (found.equals(sum)) return;
    const other = (await linesNotHosted(store, input, stop)) ?? "other statements";
    const [hosted, held] = [found.count, sum.count].map((count) => amountText(count, "triple"));
    findings.wrongIs(name, `Its endpoint has ${hosted} where the file has ${held}; not hosted: ${other}.`);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FedwayError)) throw error;
    findings.unknownIs(name, timeUp.aborted ? timeOver : error.message);
  } finally {
    await store?.close();
  }
}

interface Visiting {
  readonly visit: (statement: Statement) => void;
  readonly signal: AbortSignal;
}

/** Statements that are asked for at once. */
const pageSize = 20_000;
const patterns = {
  triples: "SELECT ?s ?p ?o { ?s ?p ?o }",
  quads: "SELECT ?s ?p ?o ?g { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
} as const;

/** Calls a function for each statement that a store has, page by page. Its data do not change, so neither does their order. */
async function visitHosted(store: AnswerStore, { format }: NamedInput, { visit, signal }: Visiting): Promise<void> {
  const query = format === "n-quads" ? patterns.quads : patterns.triples;
  let size = pageSize;
  for (let offset = 0; ; ) {
    try {
      const rows = solutionsOf(await store.answer(`${query} LIMIT ${size} OFFSET ${offset}`, signal));
      for (const row of rows) visit(statementOf(termsOf(row)));
      if (rows.length < size) return;
      offset += size;
    } catch (error) {
      if (!(error instanceof FedwayError) || error.code !== "ANSWER_TOO_LARGE" || size === 1) throw error;
      size = Math.ceil(size / 8);
    }
  }
}

function termsOf(row: unknown): readonly string[] {
  return ["s", "p", "o", "g"].flatMap((name) => {
    const cell = isObject(row) && Object.hasOwn(row, name) ? row[name] : undefined;
    const term = termFromJson(cell);
    return term === undefined ? [] : [termText(term, "_:")];
  });
}

/** More statements than this are not held to find examples. */
const mostHeld = 500_000;
const mostExamples = 3;
const longestExample = 300;
/** Bytes of ` .` and the line feed. */
const behind = 3;

/** The first lines of the file that its store does not have; undefined when it has all of them, or more than can be held. */
async function linesNotHosted(store: AnswerStore, input: NamedInput, signal: AbortSignal): Promise<string | undefined> {
  const hosted = new Set<string>();
  const textOf = ({ bytes, start, end }: Statement): string => bytes.toString("utf8", start, end - behind);
  await visitHosted(store, input, {
    visit: (statement) => void (hosted.size < mostHeld && hosted.add(textOf(statement))),
    signal,
  });
  if (hosted.size >= mostHeld) return undefined;
  const missing: string[] = [];
  const visit = (statement: Statement): void => {
    const line = textOf(statement);
    if (missing.length < mostExamples && !hosted.has(line)) missing.push(line.slice(0, longestExample));
  };
  await readStatements([input], visit, { phase: "verify", signal });
  return missing.length > 0 ? missing.join("; ") : undefined;
}
