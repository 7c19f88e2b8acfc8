import type * as RDF from "@rdfjs/types";
import type { Bindings } from "../results/model.ts";
import { blankNodeFromLabel } from "../results/terms.ts";
import type { SourceReport } from "./federation-engine.ts";
import { createHeldBytes, type HeldBytes, type HeldTogether, countUpTo } from "./held-bytes.ts";

/** What is counted over one execution, all clauses, and all that is evaluated here for them, together. */
export interface ExecutionAccount {
  /** Counts a solution or triple taken in from an endpoint; throws when there are too many. */
  readonly count: () => void;
  /** Everything that is held at once. */
  readonly held: HeldBytes;
  /** Milliseconds since the endpoint's first request. */
  elapsed(report: SourceReport): number;
  /** Names the blank nodes of one answer apart from those of all others (SPARQL 1.1 Federated Query, section 4). */
  nextAnswer(): (row: Bindings) => Bindings;
  /** Requests that are under way. */
  open: number;
}

/** What an account counts up to; `now` is a monotonic clock in milliseconds. */
export interface AccountLimits {
  readonly maxSolutions: number;
  readonly maxHeldBytes: number;
  /** Absent: only each execution is bounded. */
  readonly heldTogether?: HeldTogether | undefined;
  readonly now: () => number;
}

/** Creates the account of one execution. */
export function createExecutionAccount(limits: AccountLimits): ExecutionAccount {
  const { maxSolutions, maxHeldBytes, heldTogether, now } = limits;
  let answers = 0;
  const startedAt = new Map<SourceReport, number>();
  return {
    count: countUpTo(maxSolutions),
    held: createHeldBytes(maxHeldBytes, heldTogether),
    elapsed(report) {
      const start = startedAt.get(report) ?? now();
      startedAt.set(report, start);
      return Math.round(now() - start);
    },
    nextAnswer() {
      const scope = `e${answers++}_`;
      return (row) => scoped(row, scope);
    },
    open: 0,
  };
}

function scoped(row: Bindings, scope: string): Bindings {
  let renamed: Map<string, RDF.Term> | undefined;
  for (const [name, term] of row) {
    if (term.termType !== "BlankNode") continue;
    renamed ??= new Map(row);
    renamed.set(name, blankNodeFromLabel(scope + term.value));
  }
  return renamed ?? row;
}
