/**
 * The process of a local model. Input: `ModelBoot` as its argument, then calls of `embed`. Output: the vectors of each.
 * It runs from source (Node strips the types) and compiled.
 */
import { itemAt } from "../values.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { channelToParent, startChild, yieldToService } from "../workers/child-process.ts";
import { createPeer } from "../workers/peer.ts";

/** Start parameters of the process. */
export interface ModelBoot {
  /** `file:` URL of the module of `onnxruntime-node`. */
  readonly runtime: string;
  readonly modelFile: string;
  /** Holds `tokenizer.json`. */
  readonly folder: string;
  /** How the vectors of the tokens become one: their mean, or that of the first token. */
  readonly pooling: "mean" | "cls";
  /** Tokens of one text, its marks included. */
  readonly maxTokens: number;
  /** Processor threads of the runtime. */
  readonly threads: number;
}

/** Texts of which vectors are wanted. */
export type ModelCall = readonly string[];

/** The vectors one after another. */
export interface ModelReply {
  readonly vectors: Float32Array;
  readonly dimensions: number;
}

/** The part of `onnxruntime-node` that is used; the package is no dependency, so its own types are not there. */
interface Tensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}
interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
}
interface Runtime {
  readonly InferenceSession: { create(file: string, options: object): Promise<Session> };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => Tensor;
}

startChild();
const boot: ModelBoot = JSON.parse(itemAt(process.argv, 2));
const imported: { readonly default?: Runtime } & Runtime = await import(boot.runtime);
const runtime: Runtime = imported.default ?? imported;
const session = await runtime.InferenceSession.create(boot.modelFile, {
  intraOpNumThreads: boot.threads,
  interOpNumThreads: 1,
  executionProviders: ["cpu"],
  // Else the memory of the largest batch ever is kept.
  enableCpuMemArena: false,
});
const tokenizer = new Tokenizer(readJson("tokenizer.json"), {});

function readJson(name: string): object {
  const found: unknown = JSON.parse(readFileSync(join(boot.folder, name), "utf8"));
  if (typeof found !== "object" || found === null) throw new Error(`${name} is not a JSON object.`);
  return found;
}

/** Token ids, cut so that the closing mark stays the last one. */
function idsOf(text: string): readonly number[] {
  const { ids } = tokenizer.encode(text);
  return ids.length <= boot.maxTokens ? ids : [...ids.slice(0, boot.maxTokens - 1), ...ids.slice(-1)];
}

/** One text at a time: in a batch a quantized model's vector of a text would depend on the texts beside it. */
async function embed(texts: ModelCall): Promise<ModelReply> {
  const found: Float32Array[] = [];
  for (const text of texts) found.push(await vectorOf(idsOf(text)));
  const dimensions = found[0]?.length ?? 0;
  const vectors = new Float32Array(found.length * dimensions);
  found.forEach((vector, row) => vectors.set(vector, row * dimensions));
  return { vectors, dimensions };
}

const inputs: Readonly<Record<string, (id: number) => bigint>> = {
  input_ids: BigInt,
  attention_mask: () => 1n,
  token_type_ids: () => 0n,
};

async function vectorOf(ids: readonly number[]): Promise<Float32Array> {
  const feeds = Object.fromEntries(
    session.inputNames.map((name) => {
      const input = inputs[name];
      if (input === undefined) throw new Error(`The model wants an input ${name}, which is not known.`);
      return [name, new runtime.Tensor("int64", BigInt64Array.from(ids, input), [1, ids.length])];
    }),
  );
  const answers = await session.run(feeds);
  return pooled(answers[itemAt(session.outputNames, 0)], ids.length);
}

/** One vector of those of all tokens. */
function pooled(output: Tensor | undefined, tokens: number): Float32Array {
  const [, width, dimensions = 0] = output?.dims ?? [];
  const data = output?.data;
  if (!(data instanceof Float32Array) || width !== tokens || data.length !== tokens * dimensions) {
    throw new Error("The first output of the model is not one vector a token.");
  }
  if (boot.pooling === "cls") return data.slice(0, dimensions);
  const sum = new Float32Array(dimensions);
  data.forEach((value, at) => (sum[at % dimensions]! += value));
  // Of length 1 later, so that a sum is as good as a mean.
  return sum;
}

yieldToService();
// Calls that came while the model was loaded wait in the channel.
createPeer(channelToParent(), { answer: async (texts: ModelCall) => ({ head: await embed(texts) }) });
