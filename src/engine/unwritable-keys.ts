import { type FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { FederatedClause } from "../plan/query-plan.ts";
import { isWritable, stringText } from "../rdf/term-text.ts";
import type { Bindings } from "../results/model.ts";
import { termToText } from "../results/terms.ts";
import type { KeyBlock } from "./clause-query.ts";
import { type ClauseRequest, KeyedRows } from "./evaluated-clause.ts";
import type { SourceReport } from "./reports.ts";
import { itemAt } from "../values.ts";

type Batches = AsyncIterable<readonly Bindings[]>;

/** True if a query can hold all of the keys. */
export const areWritable = ({ rows }: KeyBlock): boolean => rows.every(isRowWritable);

const isRowWritable = (row: KeyBlock["rows"][number]): boolean => row.every((term) => isWritable(term));

/**
 * The solutions for keys of which some have terms that no parser takes back, such as IRIs with a space. Those are set aside and
 * matched by their texts, which a query can hold: one request asks for all solutions with one of the texts, and they are
 * joined here. An endpoint that refuses that or takes long has no match for them, which a note says: one odd term of one
 * member must not end the query.
 */
export async function* withUnwritableKeys(
  request: ClauseRequest,
  ask: (request: ClauseRequest) => Batches,
): AsyncIterable<readonly Bindings[]> {
  const { clause, keys, report } = request;
  if (!keys || areWritable(keys)) {
    yield* ask(request);
    return;
  }
  const { variables, rows } = keys;
  const written = rows.filter(isRowWritable);
  if (written.length > 0) {
    request.onDivided?.();
    yield* ask({ ...request, keys: { variables, rows: written } });
  }
  const aside = { variables, rows: rows.filter((row) => !isRowWritable(row)) };
  const byTexts = clauseByTexts(clause, aside);
  const found: Bindings[] = [];
  let isAnswered = byTexts !== undefined;
  try {
    if (byTexts) for await (const batch of ask({ ...request, clause: byTexts, keys: undefined })) found.push(...batch);
  } catch (thrown) {
    if (!refusals.has(toFedwayError(thrown).code)) throw thrown;
    isAnswered = false;
  }
  noteSetAside(report, aside, isAnswered);
  if (isAnswered) yield [...new KeyedRows(found).joined(aside)];
}

/** Failures of a request, and not of its endpoint. */
const refusals: ReadonlySet<FedwayError["code"]> = new Set([
  "ENDPOINT_REJECTED_QUERY",
  "ENDPOINT_FAILED",
  "ENDPOINT_TIMEOUT",
]);

/**
 * The clause whose solutions are those for the keys, and few others. Undefined where there is none: half of a surrogate pair is
 * no text, and inside EXISTS values are substituted, which is not the same as joining them.
 */
function clauseByTexts(clause: FederatedClause, { variables, rows }: KeyBlock): FederatedClause | undefined {
  if (clause.substituted) return undefined;
  const certain = new Set(clause.variables.flatMap((variable) => (variable.certain ? [variable.name] : [])));
  const conditions = variables.flatMap((name, at) => {
    const terms = rows.map((row) => itemAt(row, at));
    if (terms.every(isWritable)) return [];
    const texts = new Set(terms.flatMap(({ value }) => (value.isWellFormed() ? [stringText(value)] : [])));
    return [
      [...(certain.has(name) ? [] : [`!BOUND(?${name})`]), ...[...texts].map((text) => `STR(?${name}) = ${text}`)],
    ];
  });
  if (conditions.some((tests) => tests.length === 0)) return undefined;
  const others = variables.filter((name) => !clause.variables.some((variable) => variable.name === name));
  const filters = conditions.map((tests) => `FILTER(${tests.join(" || ")})`);
  return {
    ...clause,
    limit: undefined,
    variables: [...clause.variables, ...others.map((name) => ({ name, certain: false }))],
    pattern: `{ ${clause.pattern} ${filters.join(" ")} }`,
  };
}

function noteSetAside(report: SourceReport, { rows }: KeyBlock, isAnswered: boolean): void {
  const { keys, unanswered, example } = report.setAside ?? { keys: 0, unanswered: 0, example: undefined };
  const term = rows.flat().find((one) => !isWritable(one));
  report.setAside = {
    keys: keys + rows.length,
    unanswered: unanswered + (isAnswered ? 0 : rows.length),
    example: example ?? (term ? termToText(term).slice(0, LONGEST_EXAMPLE) : ""),
  };
}

const LONGEST_EXAMPLE = 120;
