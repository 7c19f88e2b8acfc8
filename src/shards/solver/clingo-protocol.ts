import type { SolverClock } from "../rules/answer-set-solver.ts";

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

/** What the worker says: progress, then one `done` or `failed`. */
export type ClingoMessage =
  | ClingoProgress
  | {
      readonly kind: "done";
      /** clingo's word: `SATISFIABLE`, `UNSATISFIABLE`, `OPTIMUM FOUND` or `UNKNOWN`. */
      readonly result: string;
      /** Nothing is left to search. */
      readonly complete: boolean;
      readonly clock: SolverClock;
    }
  | { readonly kind: "failed"; readonly message: string };
