import { type Static, Type } from "typebox";
import { type Given, integer, text, texts } from "../shapes.ts";

const { Optional } = Type;

/** Result of one run. A run that was not possible, or shows nothing about the data, is `not run` and never judged. */
export const Run = Type.Object({
  atMs: Type.Number(),
  status: Type.Enum(["ok", "empty", "failed", "not run"]),
  run: Optional(text("Id of the run record.")),
  size: Type.Number({ description: "Rows or triples; of one row of aggregates its first number." }),
  ms: Type.Number(),
  why: Optional(text("Why it failed or was not run.")),
  drifts: Optional(texts("Kinds of its deviations from the baseline, whether they last or not.")),
});
export type Run = Given<Static<typeof Run>>;

/** Size and duration of a run, without those that are not known. */
export const figuresOf = ({ status, size, ms, run }: Run): { readonly size?: number; readonly ms?: number } => ({
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
  readonly points: readonly { readonly atMs: number; readonly size: number; readonly ms: number }[];
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
export const Drift = Type.Object({
  endpoint: Type.String(),
  sinceMs: Type.Number(),
  summary: Type.String(),
  evidence: Type.Array(Type.String()),
  repair: Optional(text("The mended query; for the operator only.")),
  seen: integer("Runs that showed it."),
  clean: integer("Runs in a row that did not since."),
});
export type Drift = Given<Static<typeof Drift>>;

/** Characters of one query, and the watches of one service. */
export const longestQuery = 20_000;
export const mostWatches = 500;

/** Definition of a watch by an operator; fields left out have defaults. */
export const WatchDefinition = Type.Object({
  id: Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,63}$", description: "1 to 64 of a-z, 0-9 and . _ -" })),
  name: Optional(Type.String({ minLength: 1, maxLength: 300 })),
  query: Type.String({ minLength: 1, maxLength: longestQuery }),
  endpoint: Optional(Type.String({ maxLength: 2_000, description: "Catalogue id or URL." })),
  federation: Optional(Type.String({ maxLength: 64, description: "Catalogue id." })),
  everyMs: Optional(Type.Number()),
});
export type WatchDefinition = Given<Static<typeof WatchDefinition>>;

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
export function stateOf({ drifts, results, baseline }: Watch): WatchState {
  const all = Object.values(drifts).filter((drift) => !isOver(drift));
  if (all.length > 0) return all.some(isFound) ? "drift" : "suspect";
  if (results.at(-1)?.status === "not run") return "not run";
  return (baseline?.runs ?? 0) < learnedRuns ? "learning" : "holds";
}
