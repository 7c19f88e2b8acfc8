import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { FederatedClause } from "../plan/query-plan.ts";
import { inBatches, itemsOf } from "../results/item-reader.ts";
import type { Bindings } from "../results/model.ts";
import { type BlockSizes, clauseColumns, clauseQuery, type KeyBlock, numberKeys } from "./clause-query.ts";
import { type ClauseRequest, createClauseEvaluator, type EvaluateHere, isEvaluatedHere } from "./evaluated-clause.ts";
import type { ExecutionBounds, SourceReport } from "./federation-engine.ts";
import { fetchRows, type FetchOptions } from "./fetch-rows.ts";
import { asMemberFailure } from "./member-time.ts";
import { RowCaps } from "./row-caps.ts";
import { tracedTo } from "./provenance.ts";
import { SharedAnswers } from "./shared-answers.ts";
import { stepOf } from "./step-reports.ts";
import { withUnwritableKeys } from "./unwritable-keys.ts";
import { failureStatus, goesOnWithout, noteStatus, sourceReport, takesInPart } from "./executor.ts";

/** Asks endpoints for the solutions of clauses within one execution. */
export interface ClauseExecutor {
  /**
   * Solutions of a clause, compatible with the keys when given. A SILENT clause that fails before it has answered for any
   * keys gives one empty solution, then and for all other keys. One that fails later gives no more: what it gave cannot be
   * called back, so the answer is partial. With `partial`, a clause that fails gives none; any other failure is thrown.
   * Blank nodes differ from answer to answer.
   */
  solutions(clause: FederatedClause, keys?: KeyBlock): AsyncIterable<Bindings>;
}

/** What an executor works with. */
interface ClauseExecutorOptions extends Omit<FetchOptions, "rowCaps"> {
  /** Where endpoints are known to cut their answers; default: nothing is known. */
  readonly rowCaps?: RowCaps | undefined;
  readonly sizes: BlockSizes;
  /** Evaluates the query of a clause whose endpoint does not speak SPARQL, or not all that the clause uses of it. */
  readonly evaluateHere?: EvaluateHere;
}

/** Creates the executor of one execution. */
export function createClauseExecutor(options: ClauseExecutorOptions): ClauseExecutor {
  const { bounds, account, evaluateHere } = options;
  const evaluated = createClauseEvaluator({ bounds, account, evaluateHere });
  const { rowCaps = new RowCaps() } = options;
  const asking: AskOptions = { ...options, rowCaps, answers: new SharedAnswers(account.held) };
  /** What came first of SILENT clauses, whose blocks are asked side by side. */
  const firsts = new Map<string, "answer" | "failure">();
  /** Endpoints that other requests of this execution need not wait for: why. */
  const gone = new Map<string, FedwayError>();

  function rowsOf(request: ClauseRequest): AsyncIterable<readonly Bindings[]> {
    const { clause } = request;
    const failure = isTolerated(clause, bounds) ? gone.get(clause.endpoint.url) : undefined;
    if (failure) throw failure;
    const askAll = isEvaluatedHere(clause) ? evaluated : (one: ClauseRequest) => askInBlocks(asking, one);
    const rows = withUnwritableKeys(request, askAll);
    return bounds.provenance ? traced(clause.endpoint.id ?? clause.endpoint.url, rows) : rows;
  }

  async function* solutions(clause: FederatedClause, keys?: KeyBlock): AsyncIterable<readonly Bindings[]> {
    const { id, url } = clause.endpoint;
    const report = sourceReport(bounds.sources, id ?? url);
    const isSilenced = (): boolean => clause.silent && firsts.get(clause.iri) === "failure";
    const note = (first: "answer" | "failure"): void => {
      if (clause.silent && !firsts.has(clause.iri)) firsts.set(clause.iri, first);
    };
    try {
      const rows = rowsOf({ clause, keys, report });
      if (!isSilenced()) {
        for await (const batch of rows) {
          note("answer");
          if (isSilenced()) break;
          yield batch;
        }
        note("answer");
      }
    } catch (thrown) {
      const error = asMemberFailure(toFedwayError(thrown), id ?? url, bounds);
      if (isAway(error)) gone.set(url, error);
      noteStatus(report, verdict(clause, bounds, error), error.code);
      const isLate = firsts.get(clause.iri) === "answer";
      if (!tolerates(clause, bounds, { error, isLate })) throw error;
      note("failure");
      if (clause.silent && !isSilenced()) noteStatus(report, failureStatus(error), error.code);
    }
    if (isSilenced()) yield [new Map()];
  }

  return { solutions: (clause, keys) => itemsOf(solutions(clause, keys)) };
}

async function* traced(endpoint: string, rows: AsyncIterable<readonly Bindings[]>): AsyncIterable<readonly Bindings[]> {
  for await (const batch of rows) yield tracedTo(endpoint, batch);
}

interface AskOptions extends Omit<ClauseExecutorOptions, "rowCaps">, FetchOptions {
  readonly answers: SharedAnswers;
}

// An endpoint that refuses this few keys has another reason.
const FEWEST_KEYS = 4;
// After a failure that does not speak of size, as many show whether it was one of size.
const TRIED_AFTER_FAILURE = 16;

/** Asks once, and in smaller blocks when the endpoint could not take all of the keys. */
async function* askInBlocks(options: AskOptions, request: ClauseRequest): AsyncIterable<readonly Bindings[]> {
  const { sizes, bounds } = options;
  const count = request.keys?.rows.length ?? 0;
  let delivered = 0;
  try {
    for await (const rows of ask(options, request)) {
      // Not at the end: MINUS and EXISTS leave as soon as they know enough.
      if (delivered === 0 && rows.length > 0) sizes.accepted(request.clause.endpoint.url, count);
      delivered += rows.length;
      yield rows;
    }
    sizes.accepted(request.clause.endpoint.url, count);
  } catch (error) {
    const first = toFedwayError(error);
    if (delivered > 0 || count <= FEWEST_KEYS || bounds.signal.aborted || !mayFitWhenSmaller(first)) throw error;
    yield* askSmaller(options, request, first);
  }
}

/**
 * Half of the keys at a time. A failure that may have another reason than their number (a plain 5xx) is tried once with
 * a few of them. When the first smaller request fails too, the failure of the whole block counts.
 */
async function* askSmaller(
  options: AskOptions,
  request: ClauseRequest,
  first: FedwayError,
): AsyncIterable<readonly Bindings[]> {
  const { variables = [], rows = [] } = request.keys ?? {};
  const part = (from: number, to: number): ClauseRequest => ({
    ...request,
    keys: { variables, rows: rows.slice(from, to) },
  });
  const refused = (): void => options.sizes.refused(request.clause.endpoint.url, rows.length);
  const isPlain = first.code === "ENDPOINT_FAILED";
  const half = Math.ceil(rows.length / 2);
  const cut = isPlain ? Math.min(half, TRIED_AFTER_FAILURE) : half;
  if (!isPlain) refused();
  let delivered = 0;
  try {
    for await (const batch of isPlain ? ask(options, part(0, cut)) : askInBlocks(options, part(0, cut))) {
      delivered += batch.length;
      yield batch;
    }
  } catch (error) {
    throw delivered > 0 ? error : first;
  }
  if (isPlain) refused();
  if (cut < half) yield* askInBlocks(options, part(cut, half));
  yield* askInBlocks(options, part(half, rows.length));
}

/** Not sent: the endpoint is known not to take so many. */
const tooManyKeys = (): FedwayError =>
  new FedwayError("ENDPOINT_REJECTED_QUERY", "The endpoint does not take so many join keys in one request.");

/** Failures that a smaller request may not have: too long, too complex or too slow. */
function mayFitWhenSmaller({ code, details }: FedwayError): boolean {
  if (code === "ENDPOINT_REJECTED_QUERY" || code === "ENDPOINT_FAILED") return true;
  // Without a status nobody says that it was the request.
  if (code === "ENDPOINT_TIMEOUT") return details.upstreamStatus !== undefined;
  return details.upstreamStatus === 413 || details.upstreamStatus === 414;
}

const noBindings: Bindings = new Map();

async function* ask(options: AskOptions, { clause, keys, report }: ClauseRequest): AsyncIterable<readonly Bindings[]> {
  const { account, bounds, answers } = options;
  if (keys && keys.rows.length > (clause.endpoint.maxValuesRows ?? keys.rows.length)) throw tooManyKeys();
  const sent = numberKeys(keys);
  const query = clauseQuery(clause, sent.keys);
  const tolerated = isTolerated(clause, bounds);
  const inPart = isTakenInPart(clause, bounds);
  const apart = account.nextAnswer();
  const namesNothing = clause.variables.length === 0 && (keys?.variables.length ?? 0) === 0;
  const { endpoint, prologue, limit } = clause;
  const unlimited = limit === undefined ? query : clauseQuery({ ...clause, limit: undefined }, sent.keys);
  const columns = { asked: clauseColumns(clause, sent.keys) };
  const asked = { endpoint, query, columns, unlimited, prologue, limit, tolerated, inPart, report };
  const send = () => fetchRows(options, { ...asked, step: stepOf(bounds.steps, clause, keys) });
  const request = `${clause.endpoint.url} ${tolerated} ${inPart} ${query}`;
  for await (const rows of inBatches(answers.rows(request, send))) {
    account.count(rows.length);
    const own = namesNothing ? rows.map(() => noBindings) : rows.flatMap((row) => sent.own(row)).map(apart);
    if (own.length > 0) yield own;
  }
}

/** An answer with some of the clause's rows is wanted when its endpoint gives no more. */
const isTakenInPart = (clause: FederatedClause, bounds: ExecutionBounds): boolean =>
  takesInPart(clause, bounds) || (clause.silent && bounds.partial !== "subset");

/** An answer without the clause is wanted when its endpoint fails. */
const isTolerated = (clause: FederatedClause, bounds: ExecutionBounds): boolean =>
  clause.silent || goesOnWithout(clause, bounds);

/** It did not answer, and would keep the next request waiting as well. */
const isAway = ({ code, details }: FedwayError): boolean =>
  code === "CIRCUIT_OPEN" ||
  code === "ENDPOINT_UNREACHABLE" ||
  (code === "ENDPOINT_TIMEOUT" && details.upstreamStatus === undefined);

interface ClauseFailure {
  readonly error: FedwayError;
  /** The clause has answered for some keys. */
  readonly isLate: boolean;
}

function tolerates(clause: FederatedClause, bounds: ExecutionBounds, { error, isLate }: ClauseFailure): boolean {
  if (!error.kind.silenceable || bounds.signal.aborted) return false;
  return goesOnWithout(clause, bounds) || (clause.silent && !(isLate && bounds.partial === "subset"));
}

function verdict(clause: FederatedClause, bounds: ExecutionBounds, error: FedwayError): SourceReport["status"] {
  if (bounds.signal.aborted) return "cancelled";
  return clause.silent && error.kind.silenceable ? "silenced" : failureStatus(error);
}
