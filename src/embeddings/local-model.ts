import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { steadyClock } from "../clock.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { Threads } from "../workers/threads.ts";
import { type Model, prefixesOf, type TextRole } from "./embedder.ts";
import type { ModelBoot, ModelReply, ModelTask } from "./model-thread.ts";

/** A model in a folder, as model hubs lay it out. */
export interface LocalModel {
  readonly model: Model;
  /** What its texts begin with. */
  readonly prefixes: Readonly<Record<TextRole, string>>;
}

/** Major and minor version of the runtime that this code was tried with. */
const runtimeVersion = "1.30";
const modelFiles = ["model_quantized.onnx", "model.onnx", "onnx/model_quantized.onnx", "onnx/model.onnx"];
const batchSize = 16;
const maxTokens = 256;
/** JavaScript heap: a tokenizer's vocabulary; the model itself lies outside. */
const heapMb = 256;
/** Rest between two starts of a thread that was lost, in milliseconds. */
const restMs = 30_000;

/**
 * Finds model, tokenizer and runtime; the model is loaded with the first text, in a thread of its own.
 * @param folder has `tokenizer.json` and one of `modelFiles`; optionally `1_Pooling/config.json` and
 *   `config_sentence_transformers.json`, as the sentence-transformers library writes them
 * @throws FedwayError `CONFIG_INVALID` when something of it is missing
 */
export function openLocalModel(folder: string): LocalModel {
  const root = resolve(folder);
  const modelFile = modelFiles.map((name) => join(root, name)).find((file) => existsSync(file));
  if (modelFile === undefined || !existsSync(join(root, "tokenizer.json"))) {
    throw new FedwayError("CONFIG_INVALID", `The model folder ${folder} has no tokenizer.json or no ONNX model.`, {
      next: `Put tokenizer.json and model.onnx of an embedding model there, or unset FEDWAY_EMBEDDINGS.`,
    });
  }
  const boot: ModelBoot = {
    runtime: findRuntime(root, folder),
    modelFile,
    folder: root,
    pooling: poolingOf(root),
    maxTokens,
    threads: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
  };
  const name = basename(root);
  return { model: new ThreadModel(name, boot), prefixes: promptsOf(root) ?? prefixesOf(name) };
}

/** The runtime beside the model, where it outlives every `npm install` of Fedway, or among Fedway's own packages. */
function findRuntime(root: string, folder: string): string {
  for (const from of [join(root, "package.json"), import.meta.url]) {
    try {
      return pathToFileURL(createRequire(from).resolve("onnxruntime-node")).href;
    } catch {
      // Not here.
    }
  }
  throw new FedwayError("CONFIG_INVALID", "Local embeddings need onnxruntime-node, which is not installed.", {
    next: `Run: npm install --prefix ${folder} --ignore-scripts onnxruntime-node@${runtimeVersion}`,
  });
}

/** What the folder's own files say; undefined when there is no such file or it is no JSON. */
function readSettings(root: string, name: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(join(root, name), "utf8"));
    return typeof found === "object" && found !== null ? { ...found } : undefined;
  } catch {
    return undefined;
  }
}

const poolingOf = (root: string): ModelBoot["pooling"] =>
  readSettings(root, "1_Pooling/config.json")?.["pooling_mode_cls_token"] === true ? "cls" : "mean";

function promptsOf(root: string): Readonly<Record<TextRole, string>> | undefined {
  const prompts = readSettings(root, "config_sentence_transformers.json")?.["prompts"];
  if (typeof prompts !== "object" || prompts === null) return undefined;
  const byName: Readonly<Record<string, unknown>> = { ...prompts };
  const { query, passage = byName["document"] } = byName;
  if (typeof query !== "string") return undefined;
  return { query, passage: typeof passage === "string" ? passage : "" };
}

/** The model in its thread; one that is lost is started again for the next batch. */
class ThreadModel implements Model {
  readonly name: string;
  readonly batchSize = batchSize;
  readonly concurrency = 1;
  readonly #boot: ModelBoot;
  readonly #closing = new AbortController();
  #thread: Threads<ModelTask, ModelReply> | undefined;
  /** Why the thread was lost last, and until when it stays so. */
  #failure: { readonly error: FedwayError; readonly untilMs: number } | undefined;

  constructor(name: string, boot: ModelBoot) {
    this.name = name;
    this.#boot = boot;
  }

  async run(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const { vectors, dimensions } = await this.#running().run({ texts }).catch(this.#explain);
    return texts.map((_, row) => vectors.slice(row * dimensions, (row + 1) * dimensions));
  }

  async close(): Promise<void> {
    this.#closing.abort(new FedwayError("CANCELLED", "The service is shutting down."));
    await this.#thread?.close();
  }

  #running(): Threads<ModelTask, ModelReply> {
    this.#closing.signal.throwIfAborted();
    if (this.#failure !== undefined && steadyClock.now() < this.#failure.untilMs) throw this.#failure.error;
    if (this.#thread === undefined || this.#thread.isOver) {
      const script = new URL("./model-thread.ts", import.meta.url);
      const { signal } = this.#closing;
      this.#thread = new Threads({ script, data: this.#boot, count: 1, heapMb, signal });
    }
    return this.#thread;
  }

  /** What a thread that cannot load its model says is news for the operator. */
  readonly #explain = (thrown: unknown): never => {
    const error = toFedwayError(thrown);
    if (error.code === "CANCELLED") throw error;
    const cause = error.details.cause ?? error;
    const why = cause instanceof Error ? cause.message.replaceAll(/\s+/g, " ").slice(0, 300) : "unknown";
    const failed = new FedwayError("MODEL_FAILED", `The embedding model ${this.name} failed: ${why}`, {
      next: "See whether the files of the folder that FEDWAY_EMBEDDINGS names belong together and are whole.",
      cause: error,
    });
    if (this.#thread?.isOver === true) this.#failure = { error: failed, untilMs: steadyClock.now() + restMs };
    throw failed;
  };
}
