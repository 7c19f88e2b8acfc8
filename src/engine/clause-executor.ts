import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { FederatedClause } from "../plan/query-plan.ts";
import { inBatches } from "../results/item-reader.ts";
import type { Bindings } from "../results/model.ts";
import { isPlainString } from "../results/terms.ts";
import { type BlockSizes, blocksOfValues, type KeyBlock } from "./clause-query.ts";
import {
  type ClauseRequest,
  createClauseEvaluator,
  type EvaluateHere,
  isEvaluatedHere,
  sourceOf,
} from "./evaluated-clause.ts";
import type { SourceReport } from "./reports.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";
import { fetchRows, type FetchOptions } from "./fetch-rows.ts";
import { asMemberFailure } from "./member-time.ts";
import { type KeyForm, KeyForms, mostFiltered } from "./key-forms.ts";
import { areStringsApart, judgeOf } from "./key-questions.ts";
import { sentAs } from "./sent-clause.ts";
import { SharedAnswers } from "./shared-answers.ts";
import { stepOf } from "./step-reports.ts";
import { withUnwritableKeys } from "./unwritable-keys.ts";
import { failureStatus, goesOnWithout, noteLearned, noteStatus, takesInPart } from "./executor.ts";

/** Asks endpoints for the solutions of clauses within one execution. */
export interface ClauseExecutor {
  /**
   * Solutions of a clause, compatible with the keys when given. A SILENT clause that fails before it has answered for any
   * keys gives one empty solution, then and for all other keys. One that fails later gives no more: rows already given cannot be
   * called back, so the answer is partial. With `partial`, a clause that fails gives none; any other failure is thrown.
   * Blank nodes differ from answer to answer.
   * @param onDivided called before the first solutions when they come in several answers
   */
  solutions(clause: FederatedClause, keys?: KeyBlock, onDivided?: () => void): AsyncIterable<readonly Bindings[]>;
  /** Substitute rows for the clause's endpoint, reported like its own, failures included. */
  reported(clause: ReportedClause, read: ReadRows): AsyncIterable<readonly Bindings[]>;
}

type ReportedClause = Pick<FederatedClause, "iri" | "endpoint" | "silent" | "nonMonotone">;
type ReadRows = (report: SourceReport) => AsyncIterable<readonly Bindings[]>;

/** Options of an executor. */
interface ClauseExecutorOptions extends FetchOptions {
  /** How endpoints take join keys; default: nothing is known. */
  readonly keyForms?: KeyForms | undefined;
  readonly sizes: BlockSizes;
  /** Evaluates the query of a clause whose endpoint does not speak SPARQL, or not all that the clause uses of it. */
  readonly evaluateHere?: EvaluateHere;
}

/** Creates the executor of one execution. */
export function createClauseExecutor(options: ClauseExecutorOptions): ClauseExecutor {
  const { bounds, account, evaluateHere } = options;
  const evaluated = createClauseEvaluator({ bounds, account, evaluateHere });
  const { keyForms = new KeyForms() } = options;
  const asking: AskOptions = { ...options, keyForms, answers: new SharedAnswers(account.held) };
  const silent = new SilentClauses();
  /** Endpoints that other requests of this execution need not wait for: why. */
  const gone = new Map<string, FedwayError>();

  function rowsOf(request: ClauseRequest): AsyncIterable<readonly Bindings[]> {
    const { clause } = request;
    // A FILTER binds nothing, so it substitutes nothing.
    const isHere = isEvaluatedHere(clause) || (clause.substituted && keyForms.of(clause) === "filter");
    return withUnwritableKeys(request, isHere ? evaluated : (one: ClauseRequest) => askByValues(asking, one));
  }

  async function* reported(clause: ReportedClause, read: ReadRows): AsyncIterable<readonly Bindings[]> {
    const { name, report, traced } = sourceOf(clause, bounds);
    try {
      const failure = isTolerated(clause, bounds) ? gone.get(clause.endpoint.url) : undefined;
      if (failure) throw failure;
      for await (const batch of silent.isSilenced(clause) ? [] : read(report)) {
        silent.note(clause, "answer");
        if (silent.isSilenced(clause)) break;
        yield traced(batch);
      }
      silent.note(clause, "answer");
    } catch (thrown) {
      const error = asMemberFailure(toFedwayError(thrown), name, bounds);
      if (isAway(error)) gone.set(clause.endpoint.url, error);
      noteStatus(report, verdict(clause, bounds, error), error.code);
      const { coolingDown } = error.details;
      if (coolingDown) report.leftAlone = coolingDown;
      if (!tolerates(clause, bounds, { error, isLate: silent.hasAnswered(clause) })) throw error;
      silent.note(clause, "failure");
      if (silent.hasAnswered(clause)) noteStatus(report, failureStatus(error), error.code);
    }
    if (silent.isSilenced(clause)) yield [new Map()];
  }

  return {
    reported,
    solutions: (clause, keys, onDivided) => reported(clause, (report) => rowsOf({ clause, keys, report, onDivided })),
  };
}

/** First answers of SILENT clauses, whose blocks are asked side by side. */
class SilentClauses {
  readonly #firsts = new Map<string, "answer" | "failure">();

  note({ silent, iri }: ReportedClause, first: "answer" | "failure"): void {
    if (silent && !this.#firsts.has(iri)) this.#firsts.set(iri, first);
  }

  isSilenced({ iri }: ReportedClause): boolean {
    return this.#firsts.get(iri) === "failure";
  }

  hasAnswered({ iri }: ReportedClause): boolean {
    return this.#firsts.get(iri) === "answer";
  }
}

interface AskOptions extends ClauseExecutorOptions {
  readonly keyForms: KeyForms;
  readonly answers: SharedAnswers;
}

// An endpoint that refuses this few keys has another reason.
const FEWEST_KEYS = 4;
// After a failure that does not speak of size, as many show whether it was one of size.
const TRIED_AFTER_FAILURE = 16;

/** Asks for keys that are one value in several spellings one after the other. */
async function* askByValues(options: AskOptions, request: ClauseRequest): AsyncIterable<readonly Bindings[]> {
  const blocks = request.keys === undefined ? [undefined] : blocksOfValues(request.keys);
  if (blocks.length > 1) request.onDivided?.();
  for (const keys of blocks) yield* askInBlocks(options, { ...request, keys });
}

/**
 * Asks once; in the other form of keys when the endpoint may not know the one in use, and in smaller blocks when it could not
 * take all of the keys.
 */
async function* askInBlocks(options: AskOptions, request: ClauseRequest): AsyncIterable<readonly Bindings[]> {
  const { sizes, bounds, keyForms } = options;
  const { endpoint } = request.clause;
  const form = keyForms.of(request.clause);
  const count = request.keys?.rows.length ?? 0;
  let delivered = 0;
  try {
    for await (const rows of ask(options, request, form)) {
      // Not at the end: MINUS and EXISTS leave as soon as they know enough.
      if (delivered === 0 && rows.length > 0) sizes.accepted(endpoint.url, count);
      delivered += rows.length;
      yield rows;
    }
    sizes.accepted(endpoint.url, count);
    if (count > 0) keyForms.answered(endpoint, form);
  } catch (error) {
    if (delivered > 0 || count === 0 || bounds.signal.aborted) throw error;
    yield* askAgain(options, request, toFedwayError(error));
  }
}

async function* askAgain(
  options: AskOptions,
  request: ClauseRequest,
  refused: FedwayError,
): AsyncIterable<readonly Bindings[]> {
  const { clause, keys } = request;
  const other = options.keyForms.other(clause, refused);
  if (other !== undefined && (yield* askOtherwise(options, request, other))) return;
  if ((keys?.rows.length ?? 0) <= FEWEST_KEYS || !mayFitWhenSmaller(refused)) throw refused;
  yield* askSmaller(options, request, refused);
}

/** Some of the keys of a request. */
const part = (request: ClauseRequest, from: number, to?: number): ClauseRequest => {
  const { variables = [], rows = [] } = request.keys ?? {};
  const some = rows.slice(from, to);
  if (some.length < rows.length) request.onDivided?.();
  return { ...request, keys: { variables, rows: some } };
};

/** Asks for a few of the keys in the other form, then for the rest; false when that is refused, too. */
async function* askOtherwise(
  options: AskOptions,
  request: ClauseRequest,
  other: KeyForm,
): AsyncGenerator<readonly Bindings[], boolean> {
  const { keyForms } = options;
  const { clause, keys, report } = request;
  const refused = keyForms.of(clause);
  let delivered = 0;
  try {
    for await (const rows of ask(options, part(request, 0, TRIED_AFTER_FAILURE), other)) {
      delivered += rows.length;
      yield rows;
    }
  } catch (error) {
    if (delivered > 0 || options.bounds.signal.aborted) throw error;
    keyForms.tried(clause.endpoint);
    return false;
  }
  keyForms.learned(clause.endpoint, other);
  noteLearned(report, `Join keys as ${shownForms[refused]} were refused, ${shownForms[other]} works.`);
  if ((keys?.rows.length ?? 0) > TRIED_AFTER_FAILURE) yield* askInBlocks(options, part(request, TRIED_AFTER_FAILURE));
  return true;
}

const shownForms: Readonly<Record<KeyForm, string>> = {
  values: "VALUES",
  filter: "FILTER",
  nested: "VALUES in a subquery",
};

/**
 * Half of the keys at a time. A failure that may have another reason than their number (a plain 5xx) is tried once with
 * a few of them. When the first smaller request fails too, the failure of the whole block counts.
 */
async function* askSmaller(
  options: AskOptions,
  request: ClauseRequest,
  first: FedwayError,
): AsyncIterable<readonly Bindings[]> {
  const rows = request.keys?.rows ?? [];
  const form = options.keyForms.of(request.clause);
  const refused = (): void => options.sizes.refused(request.clause.endpoint.url, rows.length);
  const isPlain = first.code === "ENDPOINT_FAILED";
  const half = Math.ceil(rows.length / 2);
  const cut = isPlain ? Math.min(half, TRIED_AFTER_FAILURE) : half;
  if (!isPlain) refused();
  let delivered = 0;
  try {
    for await (const batch of isPlain
      ? ask(options, part(request, 0, cut), form)
      : askInBlocks(options, part(request, 0, cut))) {
      delivered += batch.length;
      yield batch;
    }
  } catch (error) {
    throw delivered > 0 ? error : first;
  }
  if (isPlain) refused();
  if (cut < half) yield* askInBlocks(options, part(request, cut, half));
  yield* askInBlocks(options, part(request, half));
}

/** Not sent: the endpoint is known to take fewer. */
const tooManyKeys = (): FedwayError =>
  new FedwayError("ENDPOINT_REJECTED_QUERY", "The endpoint does not take this many join keys in one request.");

/** Failures that a smaller request may not have: too long, too complex or too slow. */
function mayFitWhenSmaller({ code, details }: FedwayError): boolean {
  if (code === "ENDPOINT_REJECTED_QUERY" || code === "ENDPOINT_FAILED") return true;
  // Without a status the cause may lie elsewhere than in the request.
  if (code === "ENDPOINT_TIMEOUT") return details.upstreamStatus !== undefined;
  return details.upstreamStatus === 413 || details.upstreamStatus === 414;
}

const noBindings: Bindings = new Map();

const hasStrings = (keys: KeyBlock | undefined): boolean =>
  keys?.rows.some((row) => row.some((term) => isPlainString(term))) === true;

async function* ask(
  options: AskOptions,
  { clause, keys, report }: ClauseRequest,
  form: KeyForm,
): AsyncIterable<readonly Bindings[]> {
  const { account, bounds, answers } = options;
  const most = form === "filter" ? mostFiltered : clause.endpoint.maxValuesRows;
  if (keys && keys.rows.length > (most ?? keys.rows.length)) throw tooManyKeys();
  const tolerated = isTolerated(clause, bounds);
  const inPart = isTakenInPart(clause, bounds);
  const of = { clause, report, tolerated, inPart };
  const apart = hasStrings(keys) && (await areStringsApart(options, of));
  const { query, columns, certain, own } = sentAs(form, clause, keys, apart);
  const ofThisAnswer = account.nextAnswer();
  const namesNothing = clause.variables.length === 0 && (keys?.variables.length ?? 0) === 0;
  const { endpoint, limit } = clause;
  const asked = { endpoint, query, columns, certain, limit, tolerated, inPart, report };
  const send = () => fetchRows(options, { ...asked, step: stepOf(bounds.steps, clause, keys) });
  const request = `${clause.endpoint.url} ${tolerated} ${inPart} ${query}`;
  for await (const rows of inBatches(answers.rows(request, send))) {
    account.count(rows.length);
    const solutions = namesNothing
      ? rows.map(() => noBindings)
      : (await own(rows, () => judgeOf(options, of))).map(ofThisAnswer);
    if (solutions.length > 0) yield solutions;
  }
}

/** An answer with some of the clause's rows is wanted when its endpoint gives no more. */
const isTakenInPart = (clause: ReportedClause, bounds: ExecutionBounds): boolean =>
  takesInPart(clause, bounds) || (clause.silent && bounds.partial !== "subset");

/** An answer without the clause is wanted when its endpoint fails. */
const isTolerated = (clause: ReportedClause, bounds: ExecutionBounds): boolean =>
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

function tolerates(clause: ReportedClause, bounds: ExecutionBounds, { error, isLate }: ClauseFailure): boolean {
  if (!error.kind.silenceable || bounds.signal.aborted) return false;
  return goesOnWithout(clause, bounds) || (clause.silent && !(isLate && bounds.partial === "subset"));
}

function verdict(clause: ReportedClause, bounds: ExecutionBounds, error: FedwayError): SourceReport["status"] {
  if (bounds.signal.aborted) return "cancelled";
  return clause.silent && error.kind.silenceable ? "silenced" : failureStatus(error);
}
