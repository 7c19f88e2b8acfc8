/**
 * Checks: files against the manifest, no triple in two shards, union equals input, each triple where the rules put
 * it, queries that are federated as the report says, each shard as it is hosted against its file, answers over whole and union. Of a package: its files against its manifest.
 */
export type CheckName =
  | "package"
  | "files"
  | "disjoint"
  | "complete"
  | "placement"
  | "federated"
  | "hosted"
  | "answers";

/**
 * `held`: everything was checked and is right. `broken`: something is wrong. `unknown`: nothing wrong was found, but not
 * everything could be checked.
 */
type Outcome = "held" | "broken" | "unknown";

/** Something that is wrong or could not be checked: a shard, an input, a query. */
type Finding = { readonly subject: string; readonly reason: string };

/** One check. */
export interface Check {
  readonly name: CheckName;
  readonly outcome: Outcome;
  /** Files, triples or queries that were checked. */
  readonly checked: number;
  /** How many are wrong, and how many could not be checked. */
  readonly wrong: number;
  readonly notLookedAt: number;
  /** The first of them, at most 20. */
  readonly findings: readonly Finding[];
}

/** Result of a verification. */
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

  /** @param total minus those that could not be checked */
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

/** A check that could not be made. */
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

/** The reason for what a verification had no time to check. */
export const timeOver = "The time for the verification was over.";
