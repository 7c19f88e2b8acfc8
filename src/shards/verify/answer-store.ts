import { closedSubselects, solutionsQuery, withSolutions } from "../../sparql/closed-subselects.ts";
import { type ParsedQuery, parseQuery } from "../../sparql/parse-query.ts";
import type { InputFormat } from "../load/input.ts";
import { type StoreAnswer, solutionsOf } from "./answer-rows.ts";
import { rowsOfTerms } from "./inline-terms.ts";

/** A store with data that queries can be asked of. */
export interface AnswerStore {
  /** The answer in SPARQL results JSON, or a graph in N-Triples. Errors tell that there is none, for whatever reason. */
  answer(query: string, signal: AbortSignal): Promise<StoreAnswer>;
  close(): Promise<void>;
}

/** A file that a store loads. */
export interface StoreFile {
  readonly path: string;
  readonly format: InputFormat;
  /** Compressed by gzip. */
  readonly gzip: boolean;
}

/** Loads files as one dataset, named graphs and all, and ends queries that take too long. */
export type OpenStore = (files: readonly StoreFile[], signal: AbortSignal) => Promise<AnswerStore>;

/** Bounds of one store: a query's time, the memory of data and queries, the bytes of an answer. */
export interface StoreLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly maxAnswerBytes: number;
}

/** The stores of this process; `app/` says which. */
export type OpenStores = (limits: StoreLimits) => OpenStore;

/** More solutions than this are not written into a query. */
const mostSolutions = 10_000;

/**
 * A store's answer to a query, whose subselects in EXISTS are asked first where that means the same (`closedSubselects`):
 * Oxigraph 0.5 evaluates them anew, and slowly, for each solution that is tested. A subselect with too many solutions, with
 * some that cannot be written (blank nodes), or without an answer stays as it is. @throws as the store
 */
export async function askStore(store: AnswerStore, text: string, signal: AbortSignal): Promise<StoreAnswer> {
  return store.answer((await withKnownSubselects(store, text, signal)) ?? text, signal);
}

/** The query with the solutions that this store has for its closed subselects; undefined when it stays as it is. */
async function withKnownSubselects(store: AnswerStore, text: string, signal: AbortSignal): Promise<string | undefined> {
  const query = parsedOrNot(text);
  if (query === undefined) return undefined;
  const solutions = [];
  for (const subselect of closedSubselects(query)) {
    const asked = solutionsQuery(query, subselect, mostSolutions + 1);
    const answer = await store.answer(asked, signal).catch(() => undefined);
    const found = answer && solutionsIn(answer);
    const rows = found && found.length <= mostSolutions ? rowsOfTerms(subselect.variables, found) : undefined;
    if (rows !== undefined) solutions.push({ subselect, rows });
  }
  if (solutions.length === 0) return undefined;
  const known = withSolutions(query, solutions);
  return parsedOrNot(known) && known;
}

function solutionsIn(answer: StoreAnswer): readonly unknown[] | undefined {
  try {
    return solutionsOf(answer);
  } catch {
    return undefined;
  }
}

function parsedOrNot(text: string): ParsedQuery | undefined {
  try {
    return parseQuery(text);
  } catch {
    return undefined;
  }
}
