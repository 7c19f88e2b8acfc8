import type { FederatedClause, PlannedEndpoint } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import { evaluatedQuery, type KeyBlock, takesKeysInside, termsText } from "./clause-query.ts";
import type { ExecutionAccount } from "./execution-account.ts";
import type { SourceReport } from "./reports.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";
import { takenIn } from "./held-bytes.ts";
import { goesOnWithout, noteStatus, sourceReport } from "./executor.ts";
import { mergedRow } from "./sent-clause.ts";
import { tracedTo, tracedToMembers } from "./provenance.ts";
import { memberTimeMs } from "./member-time.ts";

/** Solutions of a SELECT over the triples of an endpoint or a federation, as they come; the cost goes to `bounds.sources`. */
export type EvaluateHere = (
  endpoint: PlannedEndpoint,
  query: string,
  bounds: ExecutionBounds,
) => AsyncIterable<readonly Bindings[]>;

/** Options of evaluating clauses. */
interface ClauseEvaluatorOptions {
  readonly bounds: ExecutionBounds;
  readonly account: ExecutionAccount;
  readonly evaluateHere: EvaluateHere | undefined;
}

/** A clause, the keys that its solutions are wanted for, and where it is noted what that took. */
export interface ClauseRequest {
  readonly clause: FederatedClause;
  readonly keys: KeyBlock | undefined;
  readonly report: SourceReport;
  /** Called when the keys are divided, so that the solutions come in several answers; before the first of them. */
  readonly onDivided?: (() => void) | undefined;
}

/** True if the members of a clause's federation are reported and fail one by one; with SILENT the clause fails as one. */
const namesMembers = ({ endpoint, silent }: Pick<FederatedClause, "endpoint" | "silent">): boolean =>
  endpoint.over !== undefined && !silent;

/** Report of a clause, and its rows with their source; members of a federation are sources, the federation is not. */
export function sourceOf(
  clause: Pick<FederatedClause, "endpoint" | "silent">,
  { sources, provenance }: Pick<ExecutionBounds, "sources" | "provenance">,
) {
  const name = clause.endpoint.id ?? clause.endpoint.url;
  const isSource = !namesMembers(clause);
  return {
    name,
    report: sourceReport(isSource ? sources : new Map(), name),
    traced: (rows: readonly Bindings[]) => (isSource && provenance ? tracedTo(name, rows) : rows),
  };
}

/** True if a clause is evaluated in this service over its endpoint's triples, and not by the endpoint. */
export const isEvaluatedHere = ({ endpoint, evaluatedHere }: FederatedClause): boolean =>
  endpoint.interface !== undefined || evaluatedHere === true;

/**
 * The solutions of clauses within one execution that are evaluated here, over their endpoints' triples. Keys reach the
 * triples where the clause begins with triples that bind them. A clause that is evaluated here only because its endpoint
 * cannot is otherwise evaluated once, without keys, and its solutions are kept for all blocks: they are counted, too.
 */
export function createClauseEvaluator(
  options: ClauseEvaluatorOptions,
): (request: ClauseRequest) => AsyncIterable<readonly Bindings[]> {
  const { account } = options;
  const wholes = new Map<string, Promise<KeyedRows>>();

  async function gathered(request: ClauseRequest): Promise<KeyedRows> {
    // Held until the execution ends.
    const rows = await takenIn(evaluated(options, { ...request, keys: undefined }), account.held.open());
    account.count(rows.length);
    return new KeyedRows(rows);
  }

  function whole(request: ClauseRequest): Promise<KeyedRows> {
    const { iri } = request.clause;
    const known = wholes.get(iri) ?? gathered(request);
    wholes.set(iri, known);
    return known;
  }

  return async function* solutions(request) {
    const { clause, keys } = request;
    const isOnce = keys && clause.evaluatedHere && !clause.substituted && !takesKeysInside(clause, keys);
    if (isOnce) yield [...(await whole(request)).joined(keys)];
    else yield* evaluated(options, request);
  };
}

async function* evaluated(
  { bounds, account, evaluateHere }: ClauseEvaluatorOptions,
  { clause, keys, report }: ClauseRequest,
): AsyncIterable<readonly Bindings[]> {
  if (!evaluateHere) throw new Error(`Nothing here reads ${clause.endpoint.url}`);
  // Members of a federation fail one by one, unless the whole clause is one failure; an endpoint's cost is its clause's.
  const areMembers = namesMembers(clause);
  const sources: ExecutionBounds["sources"] = areMembers ? bounds.sources : new Map();
  account.elapsed(report);
  try {
    const apart = account.nextAnswer();
    const nowMs = account.now();
    const deadlineMs = nowMs + memberTimeMs(bounds, nowMs, clause.silent || goesOnWithout(clause, bounds));
    const inner = { ...bounds, deadlineMs, sources, partial: areMembers ? bounds.partial : false };
    const rows = evaluateHere(clause.endpoint, evaluatedQuery(clause, keys), inner);
    for await (const batch of rows) yield (areMembers ? tracedToMembers(batch) : batch).map(apart);
    noteStatus(report, "ok");
  } finally {
    report.ms = account.elapsed(report);
    for (const { requests, rows, bytes } of areMembers ? [] : sources.values()) {
      report.requests += requests;
      report.bytes += bytes;
      if (rows !== undefined) report.rows = (report.rows ?? 0) + rows;
    }
  }
}

interface Index {
  readonly byKey: ReadonlyMap<string, readonly Bindings[]>;
  /** Solutions that leave one of the variables unbound: any key may be compatible. */
  readonly open: readonly Bindings[];
}

/** All solutions of a clause, to be joined with one block of keys after the other. */
export class KeyedRows {
  readonly rows: readonly Bindings[];
  /** For every set of variables that keys came for. */
  readonly #indexes = new Map<string, Index>();

  constructor(rows: readonly Bindings[]) {
    this.rows = rows;
  }

  /** The solutions of the join with the keys' rows: each binds their variables. */
  *joined({ variables, rows: keys }: KeyBlock): Iterable<Bindings> {
    const { byKey, open } = this.#indexOf(variables);
    for (const key of keys) {
      yield* byKey.get(termsText(key)) ?? [];
      for (const row of open) {
        const merged = mergedRow(row, variables, key);
        if (merged) yield merged;
      }
    }
  }

  #indexOf(variables: readonly string[]): Index {
    const name = variables.join(" ");
    const known = this.#indexes.get(name) ?? createIndex(this.rows, variables);
    this.#indexes.set(name, known);
    return known;
  }
}

function createIndex(rows: readonly Bindings[], variables: readonly string[]): Index {
  const byKey = new Map<string, Bindings[]>();
  const open: Bindings[] = [];
  for (const row of rows) {
    const terms = variables.flatMap((name) => row.get(name) ?? []);
    if (terms.length < variables.length) {
      open.push(row);
      continue;
    }
    const key = termsText(terms);
    const same = byKey.get(key);
    if (same) same.push(row);
    else byKey.set(key, [row]);
  }
  return { byKey, open };
}
