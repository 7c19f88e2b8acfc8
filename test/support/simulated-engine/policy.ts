import type { DistinctFault } from "../distinct-faults.ts";

/** How a simulated engine treats its clients. Work is counted in solutions that it had to go through (`cost.ts`). */
export interface EnginePolicy {
  readonly name: string;
  /** Rows after which an answer is cut; with `header` it says so as Virtuoso does (`X-SPARQL-MaxRows`). */
  readonly rowCap?: { readonly rows: number; readonly header: boolean };
  /** Queries of more work than the engine does in two seconds are ended. */
  readonly timeLimit?: {
    readonly work: number;
    readonly ending: Ending;
    /** What is cut comes as fast as what is whole: the limit is one of work, and durations tell nothing. */
    readonly instant?: boolean;
  };
  /** Every so many requests it refuses a number of them in a row with 429 and Retry-After. */
  readonly bursts?: { readonly every: number; readonly length: number; readonly retryAfterSeconds: number };
  /** Constructs that it answers with 400. */
  readonly refuses?: readonly Construct[];
  /** What it makes of DISTINCT. */
  readonly distinct?: DistinctFault;
  /** Milliseconds before each answer, beside the work. */
  readonly latencyMs?: number;
  /** After this many requests it closes its port, until it is revived. */
  readonly diesAfter?: number;
}

type Construct = "aggregates" | "values";

/**
 * What comes instead of the answer: an error; or an answer from the part of the data that was reached in time, with
 * Virtuoso's header, with status 206, or with nothing that tells; or, as Virtuoso does for aggregates, no rows.
 */
export type Ending = "error-500" | "error-503" | "partial-header" | "partial-206" | "partial-silent" | "empty-header";

/** Simulated milliseconds after which a time limit strikes. */
export const timeLimitMs = 2_000;

/** What an engine did, to show that its policy was met. */
export interface EngineStatistics {
  /** Requests, refused ones included. */
  readonly requests: number;
  readonly bytes: number;
  /** Answers that were cut at the row cap. */
  readonly capped: number;
  /** Queries beyond the time limit. */
  readonly overLimit: number;
  /** Requests that were answered with 429. */
  readonly throttled: number;
  /** Queries with a construct that it refuses, or that it cannot read. */
  readonly refused: number;
  readonly deaths: number;
}

/**
 * The engines that every description must get through, for a graph of this many triples. Caps and limits are those of
 * public endpoints for graphs of 100,000 triples; for smaller ones they shrink, so that they still strike.
 */
export function enginePolicies(triples: number): readonly EnginePolicy[] {
  const lowCap = triples >= 50_000 ? 1_000 : 100;
  const highCap = lowCap * 10;
  // A third of what going through all triples takes; the largest classes and properties are below.
  const work = Math.round(triples * 0.3);
  const limited = (ending: Ending): Pick<EnginePolicy, "timeLimit"> => ({ timeLimit: { work, ending } });
  // Ten thousand solutions in two seconds is little, but a graph has to be large for that to matter.
  const tight: readonly EnginePolicy[] =
    triples < 50_000 ? [] : [{ name: "time-tight", timeLimit: { work: 12_000, ending: "error-500" } }];
  const bursts = { every: 12, length: 5, retryAfterSeconds: 1 };
  return [
    { name: "plain" },
    { name: "low-cap", rowCap: { rows: lowCap, header: false } },
    { name: "low-cap-header", rowCap: { rows: lowCap, header: true } },
    { name: "high-cap", rowCap: { rows: highCap, header: false } },
    { name: "time-500", ...limited("error-500") },
    { name: "time-503", ...limited("error-503") },
    ...tight,
    { name: "partial-header", ...limited("partial-header") },
    { name: "partial-206", ...limited("partial-206") },
    { name: "partial-silent", ...limited("partial-silent") },
    { name: "partial-instant", timeLimit: { work, ending: "partial-silent", instant: true } },
    { name: "empty-header", ...limited("empty-header") },
    { name: "bursts", bursts },
    { name: "no-count", refuses: ["aggregates"] },
    { name: "no-count-low-cap", refuses: ["aggregates"], rowCap: { rows: lowCap, header: false } },
    { name: "no-values", refuses: ["values"] },
    { name: "distinct-refused", distinct: "refused" },
    { name: "distinct-count-refused", distinct: "count-refused" },
    { name: "distinct-ignored", distinct: "ignored" },
    { name: "distinct-estimated", distinct: "estimated" },
    { name: "distinct-data-estimated", distinct: "data-estimated" },
    { name: "slow", latencyMs: 1_500 },
    { name: "dying", diesAfter: 9 },
    { name: "hostile", rowCap: { rows: lowCap, header: false }, bursts, ...limited("partial-silent") },
  ];
}
