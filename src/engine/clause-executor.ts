import { setTimeout as sleep } from "node:timers/promises";
import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { FederatedClause } from "../plan/federated-clause.ts";
import type { PlannedEndpoint } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import { acceptFor } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import { blankNodeFromLabel } from "../results/terms.ts";
import type { SparqlAnswer, SparqlClient, SparqlRequest } from "../transport/sparql-client.ts";
import type { BlockSizes } from "./block-sizes.ts";
import { clauseQuery, type KeyBlock } from "./clause-query.ts";
import { decodedBody } from "./decoded-body.ts";
import type { ExecutionBounds, SourceReport } from "./federation-engine.ts";
import { noteStatus, sourceReport } from "./source-reports.ts";
import { tooManySolutions } from "./too-many-solutions.ts";

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
  /** Solutions that may be taken in during one execution, all clauses together. */
  readonly maxSolutions: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  /** Evaluates the query of a clause whose endpoint does not speak SPARQL. */
  readonly evaluateHere?: EvaluateHere;
}

/** Solutions of a SELECT over the triples of an endpoint; `bounds.sources` are told what that took. */
export type EvaluateHere = (
  endpoint: PlannedEndpoint,
  query: string,
  bounds: ExecutionBounds,
) => AsyncIterable<Bindings>;

/** Creates the executor of one execution. */
export function createClauseExecutor(options: ClauseExecutorOptions): ClauseExecutor {
  const { bounds } = options;
  const account = createAccount(options);

  async function* solutions(clause: FederatedClause, keys?: KeyBlock): AsyncIterable<Bindings> {
    const report = sourceReport(bounds.sources, clause.endpoint.id ?? clause.endpoint.url);
    let delivered = 0;
    try {
      const asked = clause.endpoint.interface === undefined ? askInBlocks : askHere;
      for await (const row of asked(options, account, { clause, keys, report })) {
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

interface Account {
  /** Counts a solution; throws when the execution has taken in too many. */
  count(): void;
  /** Milliseconds since the endpoint's first request. */
  elapsed(report: SourceReport): number;
  /** A name for an answer, unique within the execution. */
  nextAnswer(): string;
  /** Requests of this execution that are under way. */
  open: number;
}

function createAccount({ maxSolutions, now }: ClauseExecutorOptions): Account {
  let taken = 0;
  let answers = 0;
  const startedAt = new Map<SourceReport, number>();
  return {
    count() {
      taken++;
      if (taken > maxSolutions) throw tooManySolutions(maxSolutions);
    },
    elapsed(report) {
      const start = startedAt.get(report) ?? now();
      startedAt.set(report, start);
      return Math.round(now() - start);
    },
    nextAnswer: () => `e${answers++}_`,
    open: 0,
  };
}

/** The row with its blank nodes named apart from those of all other answers (SPARQL 1.1 Federated Query, section 4). */
function scoped(row: Bindings, scope: string): Bindings {
  let renamed: Map<string, RDF.Term> | undefined;
  for (const [name, term] of row) {
    if (term.termType !== "BlankNode") continue;
    renamed ??= new Map(row);
    renamed.set(name, blankNodeFromLabel(scope + term.value));
  }
  return renamed ?? row;
}

interface Ask {
  readonly clause: FederatedClause;
  readonly keys: KeyBlock | undefined;
  readonly report: SourceReport;
}

// An endpoint that chokes on this few keys has another reason to.
const FEWEST_KEYS = 4;

/** Asks once, and with half of the keys at a time when the endpoint could not digest them all. */
async function* askInBlocks(options: ClauseExecutorOptions, account: Account, request: Ask): AsyncIterable<Bindings> {
  const { sizes, bounds } = options;
  const { url } = request.clause.endpoint;
  const rows = request.keys?.rows ?? [];
  let delivered = 0;
  try {
    for await (const row of ask(options, account, request)) {
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
      yield* askInBlocks(options, account, { ...request, keys });
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
  { client, bounds }: ClauseExecutorOptions,
  account: Account,
  { clause, keys, report }: Ask,
): AsyncIterable<Bindings> {
  if (keys && keys.rows.length > (clause.endpoint.maxValuesRows ?? keys.rows.length)) throw tooManyKeys();
  account.elapsed(report);
  report.requests++;
  const answer = await queryInTurn(client, account, {
    endpoint: clause.endpoint,
    query: clauseQuery(clause, keys),
    kind: "bindings",
    accept: acceptFor("bindings"),
    encoding: "decode",
    acceptPartial: bounds.partial || clause.silent,
    signal: bounds.signal,
    deadlineMs: bounds.deadlineMs,
  });
  report.requests += answer.requests - 1;
  // Looked at again below; a body that is left early rejects it with nobody waiting.
  answer.end.catch(() => {});
  try {
    const scope = account.nextAnswer();
    for await (const row of rowsOf(answer)) {
      report.rows = (report.rows ?? 0) + 1;
      account.count();
      yield scoped(row, scope);
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

/** The solutions of a clause whose endpoint does not speak SPARQL: its query is evaluated here, over the endpoint's triples. */
async function* askHere(
  { bounds, evaluateHere }: ClauseExecutorOptions,
  account: Account,
  { clause, keys, report }: Ask,
): AsyncIterable<Bindings> {
  if (!evaluateHere) throw new Error(`Nothing here reads ${clause.endpoint.url}`);
  const sources: ExecutionBounds["sources"] = new Map();
  account.elapsed(report);
  try {
    const scope = account.nextAnswer();
    for await (const row of evaluateHere(clause.endpoint, clauseQuery(clause, keys), { ...bounds, sources })) {
      account.count();
      yield scoped(row, scope);
    }
    noteStatus(report, "ok");
  } finally {
    report.ms = account.elapsed(report);
    for (const { requests, rows, bytes } of sources.values()) {
      report.requests += requests;
      report.bytes += bytes;
      if (rows !== undefined) report.rows = (report.rows ?? 0) + rows;
    }
  }
}

const TURN_MS = 25;

/** Sends a request; one that finds the queue full of this very execution's requests waits for its turn. */
async function queryInTurn(client: SparqlClient, account: Account, request: SparqlRequest): Promise<SparqlAnswer> {
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

async function* rowsOf(answer: SparqlAnswer): AsyncIterable<Bindings> {
  const result = await parseAnswer(decodedBody(answer), { mediaType: answer.mediaType, kind: "bindings" });
  if (result.kind === "bindings") yield* result.rows;
}

function tolerates(clause: FederatedClause, bounds: ExecutionBounds, error: FedwayError): boolean {
  return error.kind.silenceable && !bounds.signal.aborted && (clause.silent || bounds.partial);
}

function verdict(clause: FederatedClause, bounds: ExecutionBounds, error: FedwayError): SourceReport["status"] {
  if (bounds.signal.aborted) return "cancelled";
  return clause.silent && error.kind.silenceable ? "silenced" : "failed";
}
