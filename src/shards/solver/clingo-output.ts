import type { SolverClock } from "../rules/answer-set-solver.ts";

/** Reads what clingo prints with `--outf=2`, JSON over many lines, while it prints it. */
interface ClingoOutput {
  /** One line without its end. */
  feed(line: string): void;
  /** clingo's word for the whole search; empty until it has said it. */
  readonly result: string;
  /** Nothing is left to search. */
  readonly complete: boolean;
  /** 0 until clingo has said it. */
  readonly clock: SolverClock;
}

const listStart = /^\s*"(Value|Costs|Lower)": \[$/u;
const wordLine = /^\s*"(Result|More)": "([^"]*)"/u;
const timeLine = /^\s*"(Total|Solve)": (\d+\.\d+),?$/u;

/**
 * Tells of each model when its atoms, and of its costs when they are complete. A reader of whole JSON objects would come
 * too late: clingo closes a model's brace only when it goes on to the next thing, which may be never.
 */
export function createClingoOutput(tell: (progress: ClingoProgress) => void): ClingoOutput {
  const words = new Map<string, string>();
  let list: { readonly name: string; readonly text: string[] } | undefined;

  const endList = (name: string, text: string): void => {
    const items: readonly unknown[] = JSON.parse(`[${text}]`);
    if (name === "Value") tell({ kind: "model", atoms: items.map(String) });
    else if (name === "Costs") tell({ kind: "costs", costs: items.map(Number) });
    else tell({ kind: "bound", lower: items.map(Number) });
  };
  return {
    feed(line) {
      if (list !== undefined) {
        if (/^\s*\],?$/u.test(line)) {
          endList(list.name, list.text.join(""));
          list = undefined;
        } else list.text.push(line);
        return;
      }
      const name = listStart.exec(line)?.[1];
      if (name !== undefined) list = { name, text: [] };
      const [, key, word] = wordLine.exec(line) ?? timeLine.exec(line) ?? [];
      if (key !== undefined && word !== undefined) words.set(key, word);
    },
    get result() {
      return words.get("Result") ?? "";
    },
    get complete() {
      return words.get("More") === "no";
    },
    get clock() {
      return { totalSeconds: Number(words.get("Total") ?? 0), searchSeconds: Number(words.get("Solve") ?? 0) };
    },
  };
}

/** What a worker is started with. */
export interface ClingoBoot {
  /** Cap of clingo's own memory. */
  readonly memoryBytes: number;
}

/** One program for the worker; it works on one at a time. */
export interface ClingoRequest {
  /** UTF-8; the worker takes it over. */
  readonly program: Uint8Array<ArrayBuffer>;
  readonly options: readonly string[];
}

/** What the worker says while it solves. */
export type ClingoProgress =
  | { readonly kind: "model"; readonly atoms: readonly string[] }
  /** Of the model before. */
  | { readonly kind: "costs"; readonly costs: readonly number[] }
  | { readonly kind: "bound"; readonly lower: readonly number[] };

/** How a search ended that did not fail. */
export interface ClingoEnd {
  /** clingo's word: `SATISFIABLE`, `UNSATISFIABLE`, `OPTIMUM FOUND` or `UNKNOWN`. */
  readonly result: string;
  /** Nothing is left to search. */
  readonly complete: boolean;
  readonly clock: SolverClock;
}
