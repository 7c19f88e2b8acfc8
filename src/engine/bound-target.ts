import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { FederatedClause } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import type { KeyBlock } from "./clause-query.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";
import { noteStatus, sourceReport } from "./executor.ts";
import { interleave } from "./interleave.ts";

/**
 * A clause whose target is a variable, as it is asked at the endpoint that a value names: permission is not decided by
 * the evaluator. @throws FedwayError `SERVICE_TARGET_REFUSED`, `SERVICE_SELF`, `FUNCTION_UNKNOWN`
 */
export type ClauseAt = (clause: FederatedClause, iri: string, signal: AbortSignal) => Promise<FederatedClause>;

/** Solutions of a clause, compatible with the keys when given. */
type Rows = (keys: KeyBlock | undefined) => AsyncIterable<readonly Bindings[]>;

/** Options of one execution's clauses whose targets are variables. */
export interface BoundTargetOptions {
  readonly bounds: Pick<ExecutionBounds, "signal" | "sources">;
  /** Absent: no endpoint may be named by data. */
  readonly clauseAt?: ClauseAt | undefined;
  /** Values of such variables in this execution. */
  readonly values: Set<string>;
  /** How a clause with a constant target is asked. */
  readonly rowsOf: (clause: FederatedClause) => Rows;
}

// Different endpoints that the data of one query may name.
const MOST_TARGETS = 64;
const TARGETS_AT_ONCE = 8;
const longestShown = 200;

/**
 * The solutions of `SERVICE ?g { ... }` (SPARQL 1.1 Federated Query, section 4) for keys that bind `?g`: for each of its values,
 * those of the clause at that endpoint, with `?g`. The clause is sent `?g` only where its pattern has it.
 * @throws FedwayError `SERVICE_VARIABLE_UNBOUND` without keys for it; what `ClauseAt` throws, where the clause is not SILENT
 */
export function createBoundTargetRows(clause: FederatedClause, target: string, options: BoundTargetOptions): Rows {
  const places = new Map<string, Promise<Rows | undefined>>();
  const isInPattern = clause.variables.some(({ name }) => name === target);

  function placeOf(value: RDF.Term): Promise<Rows | undefined> {
    const key = keyOf(value);
    const place = places.get(key) ?? open(value, places.size);
    places.set(key, place);
    return place;
  }

  /** Undefined: the target is refused, and the clause SILENT. */
  async function open(value: RDF.Term, index: number): Promise<Rows | undefined> {
    const { bounds, clauseAt, rowsOf } = options;
    try {
      if (!clauseAt) throw noEndpoint(value, target);
      const asked = await clauseAt(clause, value.value, bounds.signal);
      return rowsOf({ ...asked, iri: `${clause.iri}:${index}` });
    } catch (thrown) {
      const error = toFedwayError(thrown);
      if (!clause.silent || !refusals.has(error.code)) throw error;
      noteStatus(sourceReport(bounds.sources, value.value.slice(0, longestShown)), "silenced", error.code);
      return undefined;
    }
  }

  async function* rowsAt({ value, keys }: TargetKeys): AsyncIterable<readonly Bindings[]> {
    // No endpoint is called, so nothing can fail.
    if (value.termType !== "NamedNode") return;
    const rows = await placeOf(value);
    if (!rows) yield [new Map([[target, value]])];
    else for await (const batch of rows(keys)) yield batch.flatMap((row) => withTarget(row, target, value));
  }

  return async function* solutions(keys) {
    const at = keys?.variables.indexOf(target) ?? -1;
    if (!keys || at < 0) throw unbound(target);
    const parts = byTarget(keys, at, isInPattern);
    for (const { value } of parts) options.values.add(keyOf(value));
    if (options.values.size > MOST_TARGETS) throw tooMany(target);
    async function* opened(): AsyncIterable<AsyncIterable<readonly Bindings[]>> {
      for (const part of parts) yield rowsAt(part);
    }
    yield* interleave(opened(), TARGETS_AT_ONCE);
  };
}

const refusals: ReadonlySet<string> = new Set(["SERVICE_TARGET_REFUSED", "SERVICE_SELF"]);

/** A text is refused, and is not the IRI of the same letters. */
const keyOf = ({ termType, value }: RDF.Term): string => `${termType} ${value}`;

interface TargetKeys {
  readonly value: RDF.Term;
  /** Undefined: the endpoint is asked for everything. */
  readonly keys: KeyBlock | undefined;
}

/**
 * The keys of each value of the target's column. Where the pattern has no such variable they go without it, but for keys that have
 * nothing else and may not be the last for their endpoint: two answers without keys look like one each.
 */
function byTarget(
  { variables, rows, only = false }: KeyBlock,
  at: number,
  isInPattern: boolean,
): readonly TargetKeys[] {
  const isSent = isInPattern || (variables.length === 1 && !only);
  const sent = <T>(items: readonly T[]): readonly T[] => (isSent ? items : items.toSpliced(at, 1));
  const names = sent(variables);
  const groups = new Map<string, { readonly value: RDF.Term; readonly rows: (readonly RDF.Term[])[] }>();
  for (const row of rows) {
    const value = row[at];
    if (!value) continue;
    const key = keyOf(value);
    const group = groups.get(key) ?? { value, rows: [] };
    group.rows.push(sent(row));
    groups.set(key, group);
  }
  return [...groups.values()].map(({ value, rows: own }) => ({
    value,
    keys: names.length === 0 ? undefined : { variables: names, rows: own, only },
  }));
}

function withTarget(row: Bindings, target: string, value: RDF.Term): readonly Bindings[] {
  const own = row.get(target);
  if (own) return own.equals(value) ? [row] : [];
  return [new Map(row).set(target, value)];
}

const unbound = (target: string): FedwayError =>
  new FedwayError(
    "SERVICE_VARIABLE_UNBOUND",
    `SERVICE ?${target} was to be asked before anything had bound ?${target}.`,
    {
      next: `Let a pattern before the clause in the same group bind ?${target} in each solution.`,
    },
  );

const tooMany = (target: string): FedwayError =>
  new FedwayError(
    "SERVICE_TARGET_REFUSED",
    `The data name more than ${MOST_TARGETS} endpoints for SERVICE ?${target}.`,
    {
      next: `Narrow what binds ?${target}; more endpoints are a federation, which takes queries without SERVICE.`,
    },
  );

function noEndpoint({ value }: RDF.Term, target: string): FedwayError {
  const shown = value.slice(0, longestShown);
  return new FedwayError(
    "SERVICE_TARGET_REFUSED",
    `The value ${shown} of SERVICE ?${target} is no IRI of an endpoint.`,
    {
      where: { endpoint: shown },
      next: `Leave such values out (FILTER(isIRI(?${target})) beside what binds it), or write SERVICE SILENT.`,
    },
  );
}
