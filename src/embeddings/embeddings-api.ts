import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { askModel, malformedModelAnswer, type ModelApi } from "../outbound/model-api.ts";
import type { Model } from "./embedder.ts";

/** An OpenAI-compatible API. */
export interface EmbeddingsApiOptions extends Pick<ModelApi, "url" | "model" | "key" | "client"> {
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
  const { url, model, key, client, timeoutMs = defaultTimeoutMs, retryMs = defaultRetryMs } = options;
  const api: ModelApi = { what: "embeddings API", setting: "FEDWAY_EMBEDDINGS", url, model, key, client };
  const limits = { timeoutMs, maxAnswerBytes, retryMs };
  return {
    name: model,
    batchSize,
    concurrency: 2,
    async run(texts, signal) {
      const body = { input: texts, encoding_format: "float" };
      return vectorsOf(await askModel(api, { path: "/embeddings", body, signal, ...limits }), texts.length, api);
    },
    close: async () => {},
  };
}

/** @throws FedwayError `MODEL_FAILED` when the answer is not what was asked for */
function vectorsOf(answer: unknown, count: number, api: ModelApi): readonly Float32Array[] {
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count });
  if (!isAnswer.Check(answer)) throw malformedModelAnswer("is not a list of embeddings", api);
  for (const { index, embedding } of answer.data) vectors[index] = Float32Array.from(embedding);
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length !== count || answer.data.length !== count) {
    throw malformedModelAnswer(`has ${answer.data.length} vectors for ${count} texts`, api);
  }
  if (whole.some(({ length }) => length !== whole[0]?.length)) {
    throw malformedModelAnswer("has vectors of unlike length", api);
  }
  return whole;
}
