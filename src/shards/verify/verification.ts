/**
 * What is checked: files against the manifest, no triple in two shards, union equals input, each triple where the rules put
 * it, queries that are federated as the report says, answers over whole and union.
 */
export type CheckName = "files" | "disjoint" | "complete" | "placement" | "federated" | "answers";

/**
 * `held`: all of it was looked at and is right. `broken`: something is wrong. `unknown`: nothing wrong was found, but not
 * all could be looked at.
 */
type Outcome = "held" | "broken" | "unknown";

/** One thing that is wrong, or that could not be looked at. */
interface Finding {
  /** A shard, an input, a query. */
  readonly subject: string;
  readonly reason: string;
}

/** One check. */
export interface Check {
  readonly name: CheckName;
  readonly outcome: Outcome;
  /** Files, triples or queries that were looked at. */
  readonly checked: number;
  /** How many are wrong, and how many could not be looked at. */
  readonly wrong: number;
  readonly notLookedAt: number;
  /** The first of them, at most 20. */
  readonly findings: readonly Finding[];
}

/** What a verification found. */
export interface Verification {
  /** The worst of the checks. */
  readonly outcome: Outcome;
  readonly checks: readonly Check[];
}

const mostFindings = 20;

/** Collects the findings of one check. */
export interface Findings {
  readonly wrong: number;
  readonly notLookedAt: number;
  wrongIs(subject: string, reason: string, times?: number): void;
  unknownIs(subject: string, reason: string, times?: number): void;
  check(checked: number): Check;
}

export function createFindings(name: CheckName): Findings {
  const findings: Finding[] = [];
  let wrong = 0;
  let notLookedAt = 0;
  const note = (finding: Finding): void => {
    if (findings.length < mostFindings) findings.push(finding);
  };
  return {
    get wrong() {
      return wrong;
    },
    get notLookedAt() {
      return notLookedAt;
    },
    wrongIs: (subject, reason, times = 1) => {
      wrong += times;
      note({ subject, reason });
    },
    unknownIs: (subject, reason, times = 1) => {
      notLookedAt += times;
      note({ subject, reason });
    },
    check: (checked) => {
      const unless = notLookedAt > 0 ? "unknown" : "held";
      return { name, outcome: wrong > 0 ? "broken" : unless, checked, wrong, notLookedAt, findings };
    },
  };
}

/** The verdict over several checks. */
export function verdictOf(checks: readonly Check[]): Verification {
  const has = (outcome: Outcome): boolean => checks.some((check) => check.outcome === outcome);
  const unless = has("unknown") ? "unknown" : "held";
  return { outcome: has("broken") ? "broken" : unless, checks };
}

/** Why something was not looked at, when the time that a verification was given did not suffice. */
export const timeOver = "The time for the verification was over.";
