import { sleep, steadyClock } from "../clock.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { JsonClient, JsonReply, JsonRequest } from "./json-client.ts";
import { foreignJson } from "../results/json-structure.ts";

/** An OpenAI-compatible API, and the settings that name it; the operator alone can have written its URL. */
export interface ModelApi {
  /** Its name for readers, such as "embeddings API". */
  readonly what: string;
  /** Base URL, such as `http://127.0.0.1:11434/v1`; without a trailing slash. */
  readonly url: string;
  /** Name of the model there. */
  readonly model: string;
  /** Bearer token; never in a message or a log. */
  readonly key?: string | undefined;
  /** The variable with the URL; those with the model and the key are named after it. */
  readonly setting: string;
  readonly client: Pick<JsonClient, "post">;
}

/** One request. */
interface ModelRequest {
  /** Below the base URL. */
  readonly path: string;
  readonly body: object;
  readonly signal: AbortSignal;
  /** Milliseconds from now, of one try. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Waits before the next try of a request that the API refused for the moment, where it names no time itself. */
  readonly retryMs: readonly number[];
}

/** A longer wait is the caller's decision. */
const longestWaitMs = 10_000;

/**
 * Sends a request to a model, again where the API says that it may; gives the answer, parsed, or undefined when it is no JSON.
 * @throws FedwayError `MODEL_FAILED`, `CANCELLED`
 */
export async function askModel(api: ModelApi, request: ModelRequest): Promise<unknown> {
  const { url, model, key, client } = api;
  const { path, body, signal, timeoutMs, maxAnswerBytes, retryMs } = request;
  const sent: JsonRequest = {
    url: url + path,
    urlBy: "operator",
    headers: { accept: "application/json", ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, ...body }),
    signal,
    timeoutMs,
    maxAnswerBytes,
  };
  for (let attempt = 0; ; attempt += 1) {
    const reply = await client.post(sent).catch((error: unknown) => {
      throw unreachable(error, api);
    });
    if (reply.status === 200 && reply.text !== undefined) return foreignJson(reply.text);
    const waitMs = isBusy(reply) ? (reply.retryAfterMs ?? retryMs[attempt]) : undefined;
    if (waitMs === undefined || waitMs > longestWaitMs || attempt >= retryMs.length) throw refused(reply, api);
    await sleep(waitMs, { clock: steadyClock, signal });
    signal.throwIfAborted();
  }
}

const isBusy = ({ status }: JsonReply): boolean => status === 429 || status >= 500;

/** The API by its host alone: its path is of no use to a reader, and may be a secret. */
const nameOf = ({ what, url, model }: ModelApi): string => `The ${what} at ${URL.parse(url)?.host} (model ${model})`;

/** The error for an unexpected answer. */
export const malformedModelAnswer = (how: string, api: ModelApi): FedwayError =>
  new FedwayError("MODEL_FAILED", `${nameOf(api)} gave an answer that ${how}.`);

function unreachable(thrown: unknown, api: ModelApi): FedwayError {
  const error = toFedwayError(thrown);
  if (error.code === "CANCELLED") return error;
  const next =
    error.code === "ADDRESS_REFUSED"
      ? `Name its address in FEDWAY_ALLOW_ADDRESSES, or another API in ${api.setting}.`
      : `See whether the API that ${api.setting} names is up.`;
  const why = error.message.replace(/^The (?:endpoint|answer)/, (subject) => `the ${subject.slice(4)}`);
  return new FedwayError("MODEL_FAILED", `${nameOf(api)} cannot be used: ${why}`, { next, cause: error });
}

function refused(reply: JsonReply, api: ModelApi): FedwayError {
  const { status, retryAfterMs, text = "" } = reply;
  const { setting, key } = api;
  const isKey = status === 401 || status === 403;
  return new FedwayError("MODEL_FAILED", `${nameOf(api)} answered with HTTP status ${status}.`, {
    next: isKey ? `Correct ${setting}_KEY.` : `Compare ${setting} and ${setting}_MODEL with the API.`,
    upstreamStatus: status,
    retryAfterMs,
    // Of the API; some repeat a part of the key, so it goes nowhere but into the log, and there without the key.
    cause: new Error(withoutKey(text.slice(0, 500), key)),
  });
}

const withoutKey = (text: string, key: string | undefined): string =>
  key === undefined ? text : text.replaceAll(key, "[key]");
