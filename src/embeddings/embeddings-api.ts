import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { sleep, steadyClock } from "../clock.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { JsonClient, JsonReply } from "../outbound/json-client.ts";
import type { Model } from "./embedder.ts";

/** An OpenAI-compatible API. */
export interface EmbeddingsApiOptions {
  /** Base URL, such as `http://127.0.0.1:11434/v1`; without a trailing slash. */
  readonly url: string;
  /** Name of the model there. */
  readonly model: string;
  /** Bearer token; never in a message or a log. */
  readonly key?: string | undefined;
  readonly client: Pick<JsonClient, "post">;
  /** Time limit of one request, in milliseconds; default 30,000. */
  readonly timeoutMs?: number;
  /** Waits before the next try of a request that the API refused for the moment, where it names no time itself. */
  readonly retryMs?: readonly number[];
}

const batchSize = 64;
const maxAnswerBytes = 16 * 1024 * 1024;
/** The largest vectors on offer have 8,192 numbers. */
const maxDimensions = 16_384;
const defaultTimeoutMs = 30_000;
const defaultRetryMs = [500, 2_000];
/** A longer wait is the caller's decision. */
const longestWaitMs = 10_000;

const isAnswer = Compile(
  Type.Object({
    data: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, maximum: batchSize - 1 }),
        embedding: Type.Array(Type.Number(), { minItems: 1, maxItems: maxDimensions }),
      }),
    ),
  }),
);

/** A model behind the `/embeddings` of an OpenAI-compatible API. */
export function createEmbeddingsApi(options: EmbeddingsApiOptions): Model {
  return {
    name: options.model,
    batchSize,
    concurrency: 2,
    run: async (texts, signal) => vectorsOf(await answered(texts, signal, options), texts.length, options),
    close: async () => {},
  };
}

/** Sends one batch, again where the API says that it may. */
async function answered(texts: readonly string[], signal: AbortSignal, options: EmbeddingsApiOptions): Promise<string> {
  const { url, model, key, client, timeoutMs = defaultTimeoutMs, retryMs = defaultRetryMs } = options;
  const request = {
    url: `${url}/embeddings`,
    headers: { accept: "application/json", ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, input: texts, encoding_format: "float" }),
    signal,
    timeoutMs,
    maxAnswerBytes,
  };
  for (let attempt = 0; ; attempt += 1) {
    const reply = await client.post(request).catch((error: unknown) => {
      throw unreachable(error, options);
    });
    if (reply.status === 200 && reply.text !== undefined) return reply.text;
    const waitMs = isBusy(reply) ? (reply.retryAfterMs ?? retryMs[attempt]) : undefined;
    if (waitMs === undefined || waitMs > longestWaitMs || attempt >= retryMs.length) throw refused(reply, options);
    await sleep(waitMs, { clock: steadyClock, signal });
    signal.throwIfAborted();
  }
}

const isBusy = ({ status }: JsonReply): boolean => status === 429 || status === 503;

/** @throws FedwayError `MODEL_FAILED` when the answer is not what was asked for */
function vectorsOf(text: string, count: number, options: EmbeddingsApiOptions): readonly Float32Array[] {
  const answer = parsed(text);
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count });
  if (!isAnswer.Check(answer)) throw malformed("is not a list of embeddings", options);
  for (const { index, embedding } of answer.data) vectors[index] = Float32Array.from(embedding);
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length !== count || answer.data.length !== count) {
    throw malformed(`has ${answer.data.length} vectors for ${count} texts`, options);
  }
  if (whole.some(({ length }) => length !== whole[0]?.length)) throw malformed("has vectors of unlike length", options);
  return whole;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The API by its host alone: its path is of no use to a reader, and may be a secret. */
const nameOf = ({ url, model }: EmbeddingsApiOptions): string =>
  `The embeddings API at ${URL.parse(url)?.host} (model ${model})`;

const malformed = (how: string, options: EmbeddingsApiOptions): FedwayError =>
  new FedwayError("MODEL_FAILED", `${nameOf(options)} gave an answer that ${how}.`);

function unreachable(thrown: unknown, options: EmbeddingsApiOptions): FedwayError {
  const error = toFedwayError(thrown);
  if (error.code === "CANCELLED") return error;
  const next =
    error.code === "ADDRESS_REFUSED"
      ? "Name its address in FEDWAY_ALLOW_ADDRESSES, or another API in FEDWAY_EMBEDDINGS."
      : "See whether the API that FEDWAY_EMBEDDINGS names is up.";
  const why = error.message.replace(/^The (?:endpoint|answer)/, (subject) => `the ${subject.slice(4)}`);
  return new FedwayError("MODEL_FAILED", `${nameOf(options)} cannot be used: ${why}`, { next, cause: error });
}

function refused(reply: JsonReply, options: EmbeddingsApiOptions): FedwayError {
  const { status, retryAfterMs, text = "" } = reply;
  const isKey = status === 401 || status === 403;
  return new FedwayError("MODEL_FAILED", `${nameOf(options)} answered with HTTP status ${status}.`, {
    next: isKey
      ? "Correct FEDWAY_EMBEDDINGS_KEY."
      : "Compare FEDWAY_EMBEDDINGS and FEDWAY_EMBEDDINGS_MODEL with the API.",
    upstreamStatus: status,
    retryAfterMs,
    // Of the API; some repeat a part of the key, so it goes nowhere but into the log, and there without the key.
    cause: new Error(withoutKey(text.slice(0, 500), options.key)),
  });
}

const withoutKey = (text: string, key: string | undefined): string =>
  key === undefined ? text : text.replaceAll(key, "[key]");
