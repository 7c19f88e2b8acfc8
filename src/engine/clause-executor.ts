import { setTimeout as sleep } from "node:timers/promises";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { FederatedClause } from "../plan/federated-clause.ts";
import type { Bindings } from "../results/model.ts";
import { acceptFor } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import type { SparqlAnswer, SparqlClient, SparqlRequest } from "../transport/sparql-client.ts";
import type { BlockSizes } from "./block-sizes.ts";
import { clauseQuery, type KeyBlock } from "./clause-query.ts";
import { decodedBody } from "./decoded-body.ts";
import { type ClauseRequest, createClauseEvaluator, type EvaluateHere, isEvaluatedHere } from "./evaluated-clause.ts";
import type { ExecutionAccount } from "./execution-account.ts";
import type { ExecutionBounds, SourceReport } from "./federation-engine.ts";
import { numberKeys } from "./numbered-keys.ts";
import { noteStatus, sourceReport } from "./source-reports.ts";

/** Asks endpoints for the solutions of clauses within one execution. */
export interface ClauseExecutor {
  /**
   * Solutions of a clause, compatible with the keys when given. A SILENT clause that fails gives one empty solution;
   * with `partial`, a failing one gives none; any other failure is thrown. Blank nodes differ from answer to answer.
   */
  solutions(clause: FederatedClause, keys?: KeyBlock): AsyncIterable<Bindings>;
}

/** What an executor works with. */
export interface ClauseExecutorOptions {
  readonly client: SparqlClient;
  readonly bounds: ExecutionBounds;
  readonly sizes: BlockSizes;
  /** Of the execution. */
  readonly account: ExecutionAccount;
  /** Evaluates the query of a clause whose endpoint does not speak SPARQL, or not all that the clause uses of it. */
  readonly evaluateHere?: EvaluateHere;
}

/** Creates the executor of one execution. */
export function createClauseExecutor(options: ClauseExecutorOptions): ClauseExecutor {
  const { bounds, account, evaluateHere } = options;
  const evaluated = createClauseEvaluator({ bounds, account, evaluateHere });

  async function* solutions(clause: FederatedClause, keys?: KeyBlock): AsyncIterable<Bindings> {
    const report = sourceReport(bounds.sources, clause.endpoint.id ?? clause.endpoint.url);
    let delivered = 0;
    try {
      const request = { clause, keys, report };
      for await (const row of isEvaluatedHere(clause) ? evaluated(request) : askInBlocks(options, request)) {
        delivered++;
        yield row;
      }
    } catch (thrown) {
      const error = toFedwayError(thrown);
      noteStatus(report, verdict(clause, bounds, error), error.code);
      if (!tolerates(clause, bounds, error)) throw error;
      // What was delivered cannot be called back, so a SILENT failure after the first row leaves a partial answer.
      if (clause.silent && delivered > 0) noteStatus(report, "failed", error.code);
      if (clause.silent && delivered === 0) yield new Map();
    }
  }

  return { solutions };
}

// An endpoint that chokes on this few keys has another reason to.
const FEWEST_KEYS = 4;

/** Asks once, and with half of the keys at a time when the endpoint could not digest them all. */
async function* askInBlocks(options: ClauseExecutorOptions, request: ClauseRequest): AsyncIterable<Bindings> {
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
    if (delivered > 0 || rows.length <= FEWEST_KEYS || bounds.signal.aborted || !isIndigestion(error)) throw error;
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
function isIndigestion(error: unknown): boolean {
  const { code, details } = toFedwayError(error);
  if (code === "ENDPOINT_REJECTED_QUERY" || code === "ENDPOINT_TIMEOUT" || code === "ENDPOINT_FAILED") return true;
  return details.upstreamStatus === 413 || details.upstreamStatus === 414;
}

async function* ask(
  { client, bounds, account }: ClauseExecutorOptions,
  { clause, keys, report }: ClauseRequest,
): AsyncIterable<Bindings> {
  if (keys && keys.rows.length > (clause.endpoint.maxValuesRows ?? keys.rows.length)) throw tooManyKeys();
  account.elapsed(report);
  report.requests++;
  const sent = numberKeys(keys, clause.variables);
  const answer = await queryInTurn(client, account, {
    endpoint: clause.endpoint,
    query: clauseQuery(clause, sent.keys),
    kind: "bindings",
    accept: acceptFor("bindings"),
    encoding: "decode",
    acceptPartial: bounds.partial || clause.silent,
    signal: bounds.signal,
    deadlineMs: bounds.deadlineMs,
    client: bounds.client,
    trace: bounds.trace,
  });
  report.requests += answer.requests - 1;
  // Looked at again below; a body that is left early rejects it with nobody waiting.
  answer.end.catch(() => {});
  try {
    const apart = account.nextAnswer();
    for await (const row of rowsOf(answer, bounds.signal)) {
      report.rows = (report.rows ?? 0) + 1;
      account.count();
      yield* sent.own(row).map(apart);
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
