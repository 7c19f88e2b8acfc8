import type { SolveResult } from "../rules/answer-set-solver.ts";

const listStart = /^\s*"(Value|Costs|Lower)": \[$/u;
const wordLine = /^\s*"(Result|More)": "([^"]*)"/u;
const timeLine = /^\s*"(Total|Solve)": (\d+\.\d+),?$/u;

/**
 * Reads clingo's output with `--outf=2`, JSON over many lines, while it is printed: reports each model when its atoms,
 * and of its costs when they are complete. A reader of whole JSON objects would come too late: clingo closes a model's
 * brace only when it goes on to the next thing, which may be never.
 */
export class ClingoOutput {
  readonly #tell: (progress: ClingoProgress) => void;
  readonly #words = new Map<string, string>();
  #list: { readonly name: string; text: string } | undefined;

  constructor(tell: (progress: ClingoProgress) => void) {
    this.#tell = tell;
  }

  /** One line without its end. */
  feed(line: string): void {
    if (this.#list !== undefined) {
      if (!/^\s*\],?$/u.test(line)) {
        this.#list.text += line;
        return;
      }
      this.#endList(this.#list.name, this.#list.text);
      this.#list = undefined;
      return;
    }
    const name = listStart.exec(line)?.[1];
    if (name !== undefined) this.#list = { name, text: "" };
    const [, key, word] = wordLine.exec(line) ?? timeLine.exec(line) ?? [];
    if (key !== undefined && word !== undefined) this.#words.set(key, word);
  }

  #endList(name: string, text: string): void {
    const items: readonly unknown[] = JSON.parse(`[${text}]`);
    if (name === "Value") this.#tell({ kind: "model", atoms: items.map(String) });
    else if (name === "Costs") this.#tell({ kind: "costs", costs: items.map(Number) });
    else this.#tell({ kind: "bound", lower: items.map(Number) });
  }

  /** Facts printed so far; `result` is empty until clingo has printed it. */
  get end(): ClingoEnd {
    const seconds = (name: string): number => Number(this.#words.get(name) ?? 0);
    return {
      result: this.#words.get("Result") ?? "",
      complete: this.#words.get("More") === "no",
      clock: { totalSeconds: seconds("Total"), searchSeconds: seconds("Solve") },
    };
  }
}

/** Start data of a worker. */
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

/** Messages of the worker while it solves. */
export type ClingoProgress =
  | { readonly kind: "model"; readonly atoms: readonly string[] }
  /** Costs of the preceding model. */
  | { readonly kind: "costs"; readonly costs: readonly number[] }
  | { readonly kind: "bound"; readonly lower: readonly number[] };

/** How a search ended that did not fail. */
export interface ClingoEnd {
  /** clingo's word: `SATISFIABLE`, `UNSATISFIABLE`, `OPTIMUM FOUND` or `UNKNOWN`. */
  readonly result: string;
  /** Nothing is left to search. */
  readonly complete: boolean;
  readonly clock: NonNullable<SolveResult["clock"]>;
}
