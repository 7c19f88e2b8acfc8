import { Type } from "typebox";

/** Result of one run. A run that was not possible, or shows nothing about the data, is `not run` and never judged. */
export interface Run {
  readonly atMs: number;
  readonly status: "ok" | "empty" | "failed" | "not run";
  /** Id of the run record. */
  readonly run?: string | undefined;
  /** Rows or triples; of one row of aggregates its first number. */
  readonly size: number;
  readonly ms: number;
  /** Why it failed or was not run. */
  readonly why?: string | undefined;
  /** Deviations from the baseline, whether they last or not. */
  readonly drifts?: readonly string[] | undefined;
}

/** Size and duration of a run, without those that are not known. */
export const figuresOf = ({ status, size, ms, run }: Run): Partial<Pick<Run, "size" | "ms">> => ({
  ...((status === "ok" || status === "empty") && { size }),
  ...(run !== undefined && { ms }),
});

/** A run with what its answer looks like. */
export interface Outcome extends Run {
  /** By column: the share of bound cells, and the share of each kind of term among these. */
  readonly columns: Readonly<
    Record<string, { readonly bound: number; readonly kinds: Readonly<Record<string, number>> }>
  >;
  /** Matches by term, counted to a limit; absent: not asked. A term that no answer counts is absent. */
  readonly terms?: Readonly<Record<string, number>> | undefined;
  /** Presence of terms in the endpoints' descriptions; absent where these do not show it. */
  readonly described?: Readonly<Record<string, boolean>> | undefined;
}

/** Normal answer of a query. */
export interface Baseline {
  /** Good runs that it was learned from. */
  readonly runs: number;
  readonly last: Run;
  /** Sizes and durations, oldest first. */
  readonly points: readonly Pick<Run, "atMs" | "size" | "ms">[];
  /** By column: the least share of bound cells, the kinds of terms, and the run in which the latest kind was new. */
  readonly columns: Readonly<
    Record<string, { readonly least: number; readonly kinds: readonly string[]; readonly newAt: number }>
  >;
  readonly terms: Readonly<Record<string, number>>;
  readonly termsMs: number;
  readonly described: Readonly<Record<string, boolean>>;
  /** The operator accepted that the query fails. */
  readonly fails?: boolean;
}

/** A deviation: to be confirmed, or found. */
export interface Drift {
  readonly endpoint: string;
  readonly sinceMs: number;
  readonly summary: string;
  readonly evidence: readonly string[];
  /** The mended query. */
  readonly repair?: string | undefined;
  /** Runs that showed it, and runs in a row that did not since. */
  readonly seen: number;
  readonly clean: number;
}

/** Definition of a watch by an operator; fields left out have defaults. */
export interface WatchDefinition {
  readonly id?: string;
  readonly name?: string;
  readonly query: string;
  readonly endpoint?: string | undefined;
  readonly federation?: string | undefined;
  readonly everyMs?: number | undefined;
}

/** A saved query with its normal answer, and its latest ones. */
export interface Watch extends WatchDefinition {
  readonly id: string;
  readonly name: string;
  readonly everyMs: number;
  /** `folder`: from FEDWAY_WATCH, and removed with its file. */
  readonly origin: "api" | "folder";
  readonly nextMs: number;
  readonly baseline?: Baseline | undefined;
  /** The latest answer, which `accept` makes the baseline; absent after a failure. */
  readonly latest?: Baseline | undefined;
  /** By kind: error, term, empty, column, kind, count, slow, description. */
  readonly drifts: Readonly<Record<string, Drift>>;
  /** The latest runs, oldest first. */
  readonly results: readonly Run[];
}

/** Stored form of a watch. */
export const watchSchema = Type.Unsafe<Watch>(
  Type.Object({
    id: Type.String(),
    query: Type.String(),
    nextMs: Type.Number(),
    drifts: Type.Object({}),
    results: Type.Array(Type.Object({})),
  }),
);

/** Watches of one service, and characters of one query. */
export const mostWatches = 500;
export const longestQuery = 20_000;
/** Good runs before shapes and errors are judged; sizes take a week as well. */
export const learnedRuns = 3;
/** Runs that a deviation takes to be found, and runs without it to be over. */
const foundAfter = 3;
const overAfter = 2;

export const isFound = ({ seen }: Drift): boolean => seen >= foundAfter;
export const isOver = ({ clean }: Drift): boolean => clean >= overAfter;

/** Where a watch stands: `suspect` is a deviation to be confirmed, `learning` a baseline to be learned. */
export type WatchState = "drift" | "suspect" | "not run" | "learning" | "holds";

/** Where a watch stands. */
export function stateOf({ drifts, results, baseline }: Pick<Watch, "drifts" | "results" | "baseline">): WatchState {
  const all = Object.values(drifts).filter((drift) => !isOver(drift));
  if (all.length > 0) return all.some(isFound) ? "drift" : "suspect";
  if (results.at(-1)?.status === "not run") return "not run";
  return (baseline?.runs ?? 0) < learnedRuns ? "learning" : "holds";
}
