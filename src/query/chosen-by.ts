import type { Exclusion, Exclusions } from "../plan/source-selection.ts";
import type { Run } from "./run-log.ts";
import type { Refutation, SourceVerifier } from "./proven-answer.ts";

/** The facts by which endpoints were left out. */
export interface ChosenBy {
  /** ISO 8601: when the oldest of them was seen. */
  readonly seenAt: string;
  /** ISO 8601: since when all of them are verified. Absent: some are not, lately. */
  readonly verifiedAt?: string | undefined;
  /** Endpoints that were not asked for some patterns, or join keys, because copies of their triples have no match. */
  readonly withheld?: readonly string[] | undefined;
  /** Endpoints whose facts turned out to be wrong: the answer may lack what they have. */
  readonly refuted?: readonly string[] | undefined;
}

/** Whether an answer may lack what an endpoint has after all. */
export function isTouched(
  { exclusions, withheld, startedAt }: Pick<Run, "exclusions" | "withheld" | "startedAt">,
  { endpoint, patterns, since }: Refutation,
): boolean {
  if (startedAt < since) return false;
  const isTheirs = (one: Exclusion): boolean =>
    (one.endpoint.id ?? one.endpoint.url) === endpoint && one.patterns.some(({ key }) => patterns.includes(key));
  return exclusions?.list.some(isTheirs) === true || withheld.has(endpoint, patterns);
}

/** By which facts endpoints are left out; undefined where none is, or only such as were asked. */
export function chosenBy(
  exclusions: Exclusions | undefined,
  withheld: readonly string[],
  sources: Pick<SourceVerifier, "verifiedAt"> | undefined,
): ChosenBy | undefined {
  const seenAt = Math.min(...(exclusions?.list.map((one) => one.seenAt) ?? []));
  if (exclusions === undefined || !Number.isFinite(seenAt)) return undefined;
  const verifiedAt = sources?.verifiedAt(exclusions);
  return {
    seenAt: isoOf(seenAt),
    verifiedAt: verifiedAt === undefined ? undefined : isoOf(verifiedAt),
    withheld: withheld.length > 0 ? withheld : undefined,
  };
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** The facts of a run, with those that turned out to be wrong. */
export const shownFacts = ({ facts, refuted }: Pick<Run, "facts" | "refuted">): ChosenBy | undefined =>
  facts && { ...facts, refuted: refuted.length > 0 ? refuted : undefined };
