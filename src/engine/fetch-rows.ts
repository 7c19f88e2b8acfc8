import { setTimeout as sleep } from "node:timers/promises";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { EndpointTarget, SparqlAnswer, SparqlClient, SparqlRequest } from "../outbound/sparql-request.ts";
import { bytesOf, isWhole } from "../results/gathered-body.ts";
import { inBatches, itemsOf } from "../results/item-reader.ts";
import type { Bindings } from "../results/model.ts";
import { acceptFor, formatOf } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import { literalFromParts } from "../results/terms.ts";
import { KEY_NUMBER } from "./clause-query.ts";
import type { ExecutionAccount } from "./execution-account.ts";
import { noteLearned, noteStatus } from "./executor.ts";
import type { SourceReport, StepReport } from "./reports.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";
import { latestWaitMs, MemberTime, memberTimeMs } from "./member-time.ts";
import { noteRequest } from "./step-reports.ts";

/** Options of requests. */
export interface FetchOptions {
  readonly client: SparqlClient;
  readonly bounds: ExecutionBounds;
  readonly account: ExecutionAccount;
  /** Variables that the query compares, joins or distinguishes; default: none. */
  readonly identified?: ((variable: string) => boolean) | undefined;
}

/** A SELECT query for one endpoint. */
export interface RowsRequest {
  readonly endpoint: EndpointTarget;
  readonly query: string;
  readonly columns: SparqlRequest["columns"];
  readonly limit?: number | undefined;
  /** Variables that the query binds in each row. */
  readonly certain: readonly string[];
  /** Where it is noted what that took. */
  readonly report: SourceReport;
  readonly step?: StepReport | undefined;
  /** An answer without the endpoint is wanted when there is no other; one with part of its rows is. */
  readonly tolerated: boolean;
  readonly inPart: boolean;
}

/**
 * The rows of an endpoint's answer, within the time that it has.
 * @throws FedwayError as `SparqlClient.query`; `ENDPOINT_MALFORMED` for a row that no solution can have
 */
export const fetchRows = (options: FetchOptions, request: RowsRequest): AsyncIterable<Bindings> =>
  itemsOf(fetched(options, request));

async function* fetched(options: FetchOptions, request: RowsRequest): AsyncIterable<readonly Bindings[]> {
  const { bounds, account } = options;
  const { report, step, tolerated } = request;
  const noted = noteRequest(account, report, step);
  const nowMs = account.now();
  const timeMs = memberTimeMs(bounds, nowMs, tolerated);
  const latestMs = latestWaitMs(bounds, nowMs);
  const time = new MemberTime({ signal: bounds.signal, timeMs, latestMs, now: account.now });
  let answer: SparqlAnswer | undefined;
  account.open++;
  try {
    const asked = toSparqlRequest(request, bounds, time);
    answer = await time.waitFor(queryInTurn(options, asked));
    noted.add({ requests: answer.requests - 1 });
    noteSaved(report, answer);
    // Awaited again below; a body that is left early rejects it before that.
    answer.end.catch(() => {});
    const isUntyped = untypedIn(answer, options);
    const toWhole = wholeRowOf(answer, request);
    for await (const read of rowsOf(answer, time)) {
      const rows = read.map(toWhole);
      const [name] = rows.flatMap(isUntyped);
      if (name !== undefined) throw untyped(name, request);
      noted.add({ rows: rows.length });
      yield rows;
    }
    const end = await time.waitFor(answer.end);
    // Bytes received for another query count there.
    if (answer.saved === undefined) noted.add({ rows: 0, bytes: end.decodedBytes, requests: end.requests ?? 0 });
    noteStatus(report, end.partial ? "partial" : "ok", end.partial?.how);
  } finally {
    time.stop();
    account.open--;
    noted.over();
    if (answer !== undefined && !Buffer.isBuffer(answer.body)) answer.body.destroy();
  }
}

/** Gives rows with all variables that the query binds: in CSV an empty field of theirs can only be the empty string. */
function wholeRowOf({ mediaType }: SparqlAnswer, { certain, endpoint }: RowsRequest): (row: Bindings) => Bindings {
  return (row) => {
    if (certain.every((name) => row.has(name))) return row;
    const unbound = certain.filter((name) => !row.has(name));
    if (isCsv(mediaType)) return new Map([...row, ...unbound.map((name) => [name, literalFromParts("")] as const)]);
    const names = unbound.map((name) => (name === KEY_NUMBER ? "the number of its join key" : `?${name}`)).join(", ");
    throw new FedwayError(
      "ENDPOINT_MALFORMED",
      `A row of the endpoint's answer leaves ${names} unbound, which the query binds in each row.`,
      { fault: "malformed", where: { endpoint: endpoint.id ?? endpoint.url } },
    );
  };
}

const isCsv = (mediaType: string): boolean => formatOf(mediaType, "bindings")?.name === "csv";

/**
 * The variables of a row whose values cannot be relied on: CSV has neither datatypes nor languages (SPARQL 1.1 CSV and TSV,
 * section 3), so a value that the query looks at may be another term than the endpoint's.
 */
function untypedIn({ mediaType }: SparqlAnswer, { identified }: FetchOptions): (row: Bindings) => string[] {
  if (!isCsv(mediaType) || !identified) return () => [];
  return (row) =>
    [...row].flatMap(([name, { termType }]) =>
      termType === "Literal" && name !== KEY_NUMBER && identified(name) ? [name] : [],
    );
}

const untyped = (name: string, { endpoint: { id, url } }: RowsRequest): FedwayError =>
  new FedwayError(
    "ENDPOINT_NOT_SPARQL",
    `The endpoint answers in CSV, which has neither datatypes nor languages, and the query compares or joins its ?${name}.`,
    {
      fault: "wrong-media-type",
      where: { endpoint: id ?? url },
      next: `Compare ?${name} inside the SERVICE, where the endpoint does it, or join with STR(?${name}) that it computes.`,
    },
  );

function noteSaved(report: SourceReport, { saved, mirror, learned }: SparqlAnswer): void {
  if (learned !== undefined) noteLearned(report, learned);
  if (mirror !== undefined) report.mirror = mirror;
  if (saved !== undefined) report[saved] = (report[saved] ?? 0) + 1;
}

const toSparqlRequest = (
  { endpoint, query, columns, inPart, limit }: RowsRequest,
  { deadlineMs, client, trace }: ExecutionBounds,
  { signal }: MemberTime,
): SparqlRequest => ({
  endpoint,
  query,
  columns,
  limit,
  acceptPartial: inPart,
  checksForSilentCut: true,
  kind: "bindings",
  accept: acceptFor("bindings"),
  encoding: "decode",
  signal,
  deadlineMs,
  client,
  trace,
});

const TURN_MS = 25;

/** Sends a request; one that finds the queue full of this very execution's requests waits for its turn. */
async function queryInTurn({ client, account }: FetchOptions, request: SparqlRequest): Promise<SparqlAnswer> {
  for (;;) {
    try {
      return await client.query(request);
    } catch (error) {
      const ownQueue = toFedwayError(error).code === "ENDPOINT_BUSY" && account.open > 1;
      if (!ownQueue || request.signal.aborted) throw error;
      await sleep(TURN_MS);
    }
  }
}

async function* rowsOf({ body, mediaType }: SparqlAnswer, time: MemberTime): AsyncIterable<readonly Bindings[]> {
  const check = (): void => time.signal.throwIfAborted();
  const bytes = isWhole(body) ? bytesOf(body) : time.waitForEach(bytesOf(body));
  const result = await parseAnswer(bytes, { mediaType, kind: "bindings", check });
  if (result.kind === "bindings") yield* inBatches(result.rows);
}
