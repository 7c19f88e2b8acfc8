import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { answerTooLarge, AnswerMonitor } from "./answer.ts";
import { bringsDataset, splitGraphs } from "../sparql/default-graphs.ts";
import type { QueryTask } from "./task.ts";
import { answerMediaType } from "./media-types.ts";
import { noSigns } from "./partial-answers.ts";
import { refusalError } from "./refusals.ts";
import type { SparqlAnswer, SparqlRequest } from "./sparql-request.ts";

/** A SPARQL request that is answered inside this process instead of over a connection. */
export interface LocalQuery extends Pick<SparqlRequest, "query" | "kind" | "accept" | "client" | "signal"> {
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
  readonly timeoutMs: number;
}

/** Its answer; errors are thrown as `FedwayError`. */
interface LocalAnswer {
  readonly mediaType: string;
  readonly body: Buffer;
  /** The same bytes, to be read or destroyed, where they count in the account of their maker. */
  readonly stream?: Readable;
}

/** An endpoint that this process itself hosts: another object when its data may be others. */
export interface LocalEndpoint {
  query(query: LocalQuery): Promise<LocalAnswer>;
  /** Names the data, which never change; absent: they may. */
  readonly build?: string | undefined;
}

/** Finds the endpoint that this process itself hosts under a URL; those URLs are never dialled. */
export type LocalDispatch = (url: string) => LocalEndpoint | undefined;

/** Answers a query inside this process, under the same deadline, caps and checks as over a connection. */
export async function answerLocally(task: QueryTask, endpoint: LocalEndpoint): Promise<SparqlAnswer> {
  const { request, maxBytes } = task;
  const { kind } = request;
  let answer: LocalAnswer;
  try {
    answer = await ask(task, endpoint);
  } catch (thrown) {
    throw asEndpointError(thrown);
  }
  const { body, stream } = answer;
  try {
    const mediaType = answerMediaType(answer.mediaType, kind);
    if (mediaType === undefined) {
      throw refusalError({ status: 200, headers: { "content-type": answer.mediaType }, text: "" }, kind);
    }
    if (body.length > maxBytes) throw answerTooLarge(maxBytes);
    const monitor = new AnswerMonitor({ mediaType, request, signs: noSigns, status: 200, maxBytes });
    const outcome = (await seeInTurns(monitor, body)) ?? monitor.conclude(body.length);
    if (outcome instanceof FedwayError) throw outcome;
    task.check();
    task.wireBytes = body.length;
    task.finish(outcome);
    const end = stream === undefined ? Promise.resolve(outcome) : finished(stream).then(() => outcome, asCancelled);
    // A reader of the body need not look at `end`.
    end.catch(() => {});
    return {
      status: 200,
      mediaType,
      contentEncoding: "identity",
      body: stream ?? body,
      requests: task.requests,
      whole: stream === undefined ? outcome : undefined,
      end,
    };
  } catch (error) {
    stream?.destroy();
    throw error;
  }
}

/** A syntax error of an endpoint in this process is a rejection by that endpoint, as it would be over HTTP. */
function asEndpointError(thrown: unknown): FedwayError {
  const error = toFedwayError(thrown);
  if (error.code !== "QUERY_SYNTAX" && error.code !== "UPDATE_REFUSED") return error;
  return new FedwayError("ENDPOINT_REJECTED_QUERY", error.message, { fault: "http-4xx", ...error.details });
}

/** A stream that its reader closed before the end is reported as the body of a remote answer is. */
function asCancelled(thrown: unknown): never {
  if (thrown instanceof FedwayError) throw thrown;
  throw new FedwayError("CANCELLED", "The answer was not wanted any more.", { cause: thrown });
}

function ask(task: QueryTask, endpoint: LocalEndpoint): Promise<LocalAnswer> {
  task.check();
  task.sent();
  const { query, kind, accept, namedGraphs = [], client, signal } = task.request;
  const own = splitGraphs(task.request.endpoint.url).defaultGraphs;
  const { defaultGraphs = [] } =
    own.length === 0 || bringsDataset(task.request) ? task.request : { defaultGraphs: own };
  const interrupted = new Promise<never>((_resolve, reject) => {
    task.underWay = { abort: reject };
  });
  const answered = endpoint.query({
    query,
    kind,
    accept,
    client,
    signal,
    defaultGraphs,
    namedGraphs,
    timeoutMs: Math.max(1, task.leftMs),
  });
  // A late answer is not read.
  interrupted.catch(() => answered.then(({ stream }) => stream?.destroy())).catch(() => {});
  return Promise.race([answered, interrupted]);
}

const turnBytes = 4_194_304;

/** Checks a large body in turns of the event loop. */
async function seeInTurns(monitor: AnswerMonitor, body: Buffer): Promise<FedwayError | undefined> {
  for (let at = 0; at < body.length; at += turnBytes) {
    if (at > 0) await setImmediate();
    const error = monitor.see(body.subarray(at, at + turnBytes));
    if (error !== undefined) return error;
  }
  return undefined;
}
