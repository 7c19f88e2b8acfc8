import { setTimeout as sleep } from "node:timers/promises";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { FederatedClause } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import { acceptFor } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import type { SparqlAnswer, SparqlClient, SparqlRequest } from "../outbound/sparql-client.ts";
import { type BlockSizes, clauseQuery, type KeyBlock, numberKeys } from "./clause-query.ts";
import { decodedBody } from "../outbound/content-coding.ts";
import { type ClauseRequest, createClauseEvaluator, type EvaluateHere, isEvaluatedHere } from "./evaluated-clause.ts";
import type { ExecutionAccount } from "./execution-account.ts";
import type { ExecutionBounds, SourceReport } from "./federation-engine.ts";
import { SharedAnswers } from "./shared-answers.ts";
import { noteStatus, sourceReport } from "./executor.ts";

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
interface ClauseExecutorOptions {
  readonly client: SparqlClient;
  readonly bounds: ExecutionBounds;
  readonly sizes: BlockSizes;
  /** Memory and row account of the execution. */
  readonly account: ExecutionAccount;
  /** Evaluates the query of a clause whose endpoint does not speak SPARQL, or not all that the clause uses of it. */
  readonly evaluateHere?: EvaluateHere;
}

/** Creates the executor of one execution. */
export function createClauseExecutor(options: ClauseExecutorOptions): ClauseExecutor {
  const { bounds, account, evaluateHere } = options;
  const evaluated = createClauseEvaluator({ bounds, account, evaluateHere });
  const asking: AskOptions = { ...options, answers: new SharedAnswers(account.held) };
  /** What came first of SILENT clauses, whose blocks are asked side by side. */
  const firsts = new Map<string, "answer" | "failure">();

  async function* solutions(clause: FederatedClause, keys?: KeyBlock): AsyncIterable<Bindings> {
    const report = sourceReport(bounds.sources, clause.endpoint.id ?? clause.endpoint.url);
    const isSilenced = (): boolean => clause.silent && firsts.get(clause.iri) === "failure";
    const note = (first: "answer" | "failure"): void => {
      if (clause.silent && !firsts.has(clause.iri)) firsts.set(clause.iri, first);
    };
    try {
      const request = { clause, keys, report };
      const rows = isEvaluatedHere(clause) ? evaluated(request) : askInBlocks(asking, request);
      if (!isSilenced()) {
        for await (const row of rows) {
          note("answer");
          if (isSilenced()) break;
          yield row;
        }
        note("answer");
      }
    } catch (thrown) {
      const error = toFedwayError(thrown);
      noteStatus(report, verdict(clause, bounds, error), error.code);
      if (!tolerates(clause, bounds, error)) throw error;
      note("failure");
      if (clause.silent && !isSilenced()) noteStatus(report, "failed", error.code);
    }
    if (isSilenced()) yield new Map();
  }

  return { solutions };
}

interface AskOptions extends ClauseExecutorOptions {
  readonly answers: SharedAnswers;
}

// An endpoint that refuses this few keys has another reason.
const FEWEST_KEYS = 4;

/** Asks once, and with half of the keys at a time when the endpoint could not take them all. */
async function* askInBlocks(options: AskOptions, request: ClauseRequest): AsyncIterable<Bindings> {
  const { sizes, bounds } = options;
  const { url } = request.clause.endpoint;
  const rows = request.keys?.rows ?? [];
  let delivered = 0;
  try {
    for await (const row of ask(options, request)) {
      delivered++;
      yield row;
    }
    sizes.accepted(url, rows.length);
  } catch (error) {
    if (delivered > 0 || rows.length <= FEWEST_KEYS || bounds.signal.aborted || !mayFitWhenSmaller(error)) throw error;
    sizes.refused(url, rows.length);
    const half = Math.ceil(rows.length / 2);
    for (const part of [rows.slice(0, half), rows.slice(half)]) {
      const keys = { variables: request.keys?.variables ?? [], rows: part };
      yield* askInBlocks(options, { ...request, keys });
    }
  }
}

/** Not sent: the endpoint is known not to take so many. */
const tooManyKeys = (): FedwayError =>
  new FedwayError("ENDPOINT_REJECTED_QUERY", "The endpoint does not take so many join keys in one request.");

/** Failures that a smaller request may not have: too long, too complex or too slow. */
function mayFitWhenSmaller(error: unknown): boolean {
  const { code, details } = toFedwayError(error);
  if (code === "ENDPOINT_REJECTED_QUERY" || code === "ENDPOINT_TIMEOUT" || code === "ENDPOINT_FAILED") return true;
  return details.upstreamStatus === 413 || details.upstreamStatus === 414;
}

async function* ask(options: AskOptions, { clause, keys, report }: ClauseRequest): AsyncIterable<Bindings> {
  const { account, bounds, answers } = options;
  if (keys && keys.rows.length > (clause.endpoint.maxValuesRows ?? keys.rows.length)) throw tooManyKeys();
  const sent = numberKeys(keys, clause.variables);
  const query = clauseQuery(clause, sent.keys);
  const acceptPartial = bounds.partial || clause.silent;
  const apart = account.nextAnswer();
  const send = () => fetched(options, { endpoint: clause.endpoint, query, acceptPartial, report });
  for await (const row of answers.rows(`${clause.endpoint.url} ${acceptPartial} ${query}`, send)) {
    account.count();
    yield* sent.own(row).map(apart);
  }
}

interface Fetch extends Pick<SparqlRequest, "endpoint" | "query" | "acceptPartial"> {
  readonly report: SourceReport;
}

async function* fetched({ client, bounds, account }: AskOptions, { report, ...asked }: Fetch): AsyncIterable<Bindings> {
  account.elapsed(report);
  report.requests++;
  const answer = await queryInTurn(client, account, {
    ...asked,
    kind: "bindings",
    accept: acceptFor("bindings"),
    encoding: "decode",
    signal: bounds.signal,
    deadlineMs: bounds.deadlineMs,
    client: bounds.client,
    trace: bounds.trace,
  });
  report.requests += answer.requests - 1;
  // Looked at again below; a body that is left early rejects it with nobody waiting.
  answer.end.catch(() => {});
  try {
    for await (const row of rowsOf(answer, bounds.signal)) {
      report.rows = (report.rows ?? 0) + 1;
      yield row;
    }
    report.rows ??= 0;
    const end = await answer.end;
    report.bytes += end.decodedBytes;
    noteStatus(report, end.partial ? "partial" : "ok", end.partial?.how);
  } finally {
    account.open--;
    report.ms = account.elapsed(report);
    if (!Buffer.isBuffer(answer.body)) answer.body.destroy();
  }
}

const TURN_MS = 25;

/** Sends a request; one that finds the queue full of this very execution's requests waits for its turn. */
async function queryInTurn(
  client: SparqlClient,
  account: ExecutionAccount,
  request: SparqlRequest,
): Promise<SparqlAnswer> {
  account.open++;
  for (;;) {
    try {
      return await client.query(request);
    } catch (error) {
      const ownQueue = toFedwayError(error).code === "ENDPOINT_BUSY" && account.open > 1;
      if (!ownQueue || request.signal.aborted) {
        account.open--;
        throw error;
      }
      await sleep(TURN_MS);
    }
  }
}

async function* rowsOf(answer: SparqlAnswer, signal: AbortSignal): AsyncIterable<Bindings> {
  const check = (): void => signal.throwIfAborted();
  const result = await parseAnswer(decodedBody(answer), { mediaType: answer.mediaType, kind: "bindings", check });
  if (result.kind === "bindings") yield* result.rows;
}

function tolerates(clause: FederatedClause, bounds: ExecutionBounds, error: FedwayError): boolean {
  return error.kind.silenceable && !bounds.signal.aborted && (clause.silent || bounds.partial);
}

function verdict(clause: FederatedClause, bounds: ExecutionBounds, error: FedwayError): SourceReport["status"] {
  if (bounds.signal.aborted) return "cancelled";
  return clause.silent && error.kind.silenceable ? "silenced" : "failed";
}
