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

/** One thing that is wrong, or that could not be looked at: a shard, an input, a query. */
type Finding = { readonly subject: string; readonly reason: string };

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
export class Findings {
  readonly #name: CheckName;
  readonly #found: Finding[] = [];
  #wrong = 0;
  #notLookedAt = 0;

  constructor(name: CheckName) {
    this.#name = name;
  }

  wrongIs(subject: string, reason: string, times = 1): void {
    this.#wrong += times;
    this.#note(subject, reason);
  }

  unknownIs(subject: string, reason: string, times = 1): void {
    this.#notLookedAt += times;
    this.#note(subject, reason);
  }

  #note(subject: string, reason: string): void {
    if (this.#found.length < mostFindings) this.#found.push({ subject, reason });
  }

  /** @param total of which those that could not be looked at are taken off */
  checkOf(total: number): Check {
    return this.check(total - this.#notLookedAt);
  }

  check(checked: number): Check {
    const unless = this.#notLookedAt > 0 ? "unknown" : "held";
    return {
      name: this.#name,
      outcome: this.#wrong > 0 ? "broken" : unless,
      checked,
      wrong: this.#wrong,
      notLookedAt: this.#notLookedAt,
      findings: this.#found,
    };
  }
}

/** A check of which nothing was looked at. */
export function notLookedAt(name: CheckName, reason: string): Check {
  const findings = new Findings(name);
  findings.unknownIs("all", reason);
  return findings.check(0);
}

/** The verdict over several checks. */
export function verdictOf(checks: readonly Check[]): Verification {
  const has = (outcome: Outcome): boolean => checks.some((check) => check.outcome === outcome);
  const unless = has("unknown") ? "unknown" : "held";
  return { outcome: has("broken") ? "broken" : unless, checks };
}

/** Why something was not looked at, when the time that a verification was given did not suffice. */
export const timeOver = "The time for the verification was over.";
