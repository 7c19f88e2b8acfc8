import type * as RDF from "@rdfjs/types";
import type { Bindings } from "../results/model.ts";
import { relabelled } from "../results/terms.ts";
import type { SourceReport, StepReport } from "./reports.ts";
import { createHeldBytes, type HeldBytes, type HeldTogether, countUpTo } from "./held-bytes.ts";

/** Limits of an account; `now` is a monotonic clock in milliseconds. */
interface AccountLimits {
  readonly maxSolutions: number;
  readonly maxHeldBytes: number;
  /** Absent: only each execution is bounded. */
  readonly heldTogether?: HeldTogether | undefined;
  readonly now: () => number;
}

/** Counts over one execution, over all clauses and their evaluation in this service together. */
export class ExecutionAccount {
  /** Counts a solution or triple taken in from an endpoint; throws when there are too many. */
  readonly count: (solutions?: number) => void;
  /** Everything that is held at once. */
  readonly held: HeldBytes;
  /** Requests that are under way. */
  open = 0;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  readonly #startedAt = new Map<SourceReport | StepReport, number>();
  #answers = 0;
  #firstAt: number | undefined;

  constructor({ maxSolutions, maxHeldBytes, heldTogether, now }: AccountLimits) {
    this.count = countUpTo(maxSolutions);
    this.held = createHeldBytes(maxHeldBytes, heldTogether);
    this.now = now;
  }

  /** Milliseconds since the first request of the endpoint or step. */
  elapsed(report: SourceReport | StepReport): number {
    const start = this.#startedAt.get(report) ?? this.now();
    this.#startedAt.set(report, start);
    return Math.round(this.now() - start);
  }

  /** Milliseconds since the first time that this was asked. */
  sinceFirst(): number {
    this.#firstAt ??= this.now();
    return Math.round(this.now() - this.#firstAt);
  }

  /** Names the blank nodes of one answer apart from those of all others (SPARQL 1.1 Federated Query, section 4). */
  nextAnswer(): (row: Bindings) => Bindings {
    const scope = `e${this.#answers++}_`;
    return (row) => scoped(row, scope);
  }
}

function scoped(row: Bindings, scope: string): Bindings {
  let renamed: Map<string, RDF.Term> | undefined;
  for (const [name, term] of row) {
    const own = relabelled(term, (label) => scope + label);
    if (own === term) continue;
    renamed ??= new Map(row);
    renamed.set(name, own);
  }
  return renamed ?? row;
}
