import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { steadyClock } from "../clock.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { channelTo, childEnd, forkScript, scriptBeside } from "../workers/child-process.ts";
import { createPeer, type Peer } from "../workers/peer.ts";
import { type Model, prefixesOf, type TextRole } from "./embedder.ts";
import type { ModelBoot, ModelCall, ModelReply } from "./model-process.ts";

/** A model in a folder, as model hubs lay it out. */
export interface LocalModel {
  readonly model: Model;
  /** Prefixes of its texts. */
  readonly prefixes: Readonly<Record<TextRole, string>>;
}

/** Major and minor version of the runtime that this code was tried with. */
export const runtimeVersion = "1.30";
/** Places of the model in its folder, best first. */
export const modelFiles = ["model_quantized.onnx", "model.onnx", "onnx/model_quantized.onnx", "onnx/model.onnx"];
const batchSize = 16;
const maxTokens = 256;
/** JavaScript heap: a tokenizer's vocabulary; the model itself lies outside. */
const memoryMb = 256;
/** Rest between two starts of a process that was lost, in milliseconds. */
const restMs = 30_000;

/**
 * Finds model, tokenizer and runtime; the model is loaded with the first text, in a process of its own.
 * @param folder has `tokenizer.json` and one of `modelFiles`; optionally `1_Pooling/config.json` and
 *   `config_sentence_transformers.json`, as the sentence-transformers library writes them
 * @throws FedwayError `CONFIG_INVALID` when something of it is missing
 */
export function openLocalModel(folder: string): LocalModel {
  const root = resolve(folder);
  const modelFile = modelFiles.map((name) => join(root, name)).find((file) => existsSync(file));
  if (modelFile === undefined || !existsSync(join(root, "tokenizer.json"))) {
    throw new FedwayError("CONFIG_INVALID", `The model folder ${folder} has no tokenizer.json or no ONNX model.`, {
      next: "Put tokenizer.json and model.onnx of an embedding model there: fedway embeddings install does that.",
    });
  }
  const boot: ModelBoot = {
    runtime: findRuntime(root, folder),
    modelFile,
    folder: root,
    pooling: poolingOf(root, basename(root)),
    maxTokens,
    threads: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
  };
  const name = basename(root);
  return { model: new ProcessModel(name, boot), prefixes: promptsOf(root) ?? prefixesOf(name) };
}

/** The runtime is beside a model in this folder, where it outlives every `npm install` of Fedway, or among Fedway's own packages. */
export const hasRuntime = (root: string): boolean => runtimeFor(root) !== undefined;

function runtimeFor(root: string): string | undefined {
  for (const from of [join(root, "package.json"), import.meta.url]) {
    try {
      return pathToFileURL(createRequire(from).resolve("onnxruntime-node")).href;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

function findRuntime(root: string, folder: string): string {
  const found = runtimeFor(root);
  if (found !== undefined) return found;
  throw new FedwayError("CONFIG_INVALID", "Local embeddings need onnxruntime-node, which is not installed.", {
    next: `Run: npm install --prefix ${folder} --ignore-scripts onnxruntime-node@${runtimeVersion}`,
  });
}

/** Settings from the folder's own files; undefined when there is no such file or it is no JSON. */
function readSettings(root: string, name: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(join(root, name), "utf8"));
    return typeof found === "object" && found !== null ? { ...found } : undefined;
  } catch {
    return undefined;
  }
}

/** Without its file by the family of the model: BGE says with the first token what it makes of a text. */
function poolingOf(root: string, name: string): ModelBoot["pooling"] {
  const settings = readSettings(root, "1_Pooling/config.json");
  const isCls = settings === undefined ? /(?:^|[^a-z])bge/iu.test(name) : settings["pooling_mode_cls_token"] === true;
  return isCls ? "cls" : "mean";
}

function promptsOf(root: string): Readonly<Record<TextRole, string>> | undefined {
  const prompts = readSettings(root, "config_sentence_transformers.json")?.["prompts"];
  if (typeof prompts !== "object" || prompts === null) return undefined;
  const byName: Readonly<Record<string, unknown>> = { ...prompts };
  const { query, passage = byName["document"] } = byName;
  if (typeof query !== "string") return undefined;
  return { query, passage: typeof passage === "string" ? passage : "" };
}

/** The model in its process; one that is lost is started again for the next batch. */
class ProcessModel implements Model {
  readonly name: string;
  readonly batchSize = batchSize;
  readonly concurrency = 1;
  readonly #boot: ModelBoot;
  readonly #closing = new AbortController();
  #process: ModelProcess | undefined;
  /** Why the process was lost last, and until when that stays so. */
  #failure: { readonly error: FedwayError; readonly untilMs: number } | undefined;

  constructor(name: string, boot: ModelBoot) {
    this.name = name;
    this.#boot = boot;
  }

  async run(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const { head } = await this.#running().call<ModelReply, unknown>(texts, { signal }).catch(this.#explain);
    const { vectors, dimensions } = head;
    return texts.map((_, row) => vectors.slice(row * dimensions, (row + 1) * dimensions));
  }

  async close(): Promise<void> {
    this.#closing.abort(new FedwayError("CANCELLED", "The service is shutting down."));
    await this.#process?.close();
  }

  #running(): Peer<ModelCall> {
    if (this.#failure !== undefined && steadyClock.now() < this.#failure.untilMs) throw this.#failure.error;
    this.#process ??= startProcess(this.#boot, (lost) => {
      this.#process = undefined;
      this.#failure = { error: this.#failed(lost), untilMs: steadyClock.now() + restMs };
    });
    return this.#process.peer;
  }

  /** Passes on the message of a process that cannot load its model: the operator needs it. */
  readonly #explain = (thrown: unknown): never => {
    const error = toFedwayError(thrown);
    throw error.code === "CANCELLED" ? error : this.#failed(error);
  };

  #failed(error: FedwayError): FedwayError {
    const cause = error.details.cause ?? error;
    const why = cause instanceof Error ? cause.message.replaceAll(/\s+/g, " ").slice(0, 300) : "unknown";
    return new FedwayError("MODEL_FAILED", `The embedding model ${this.name} failed: ${why}`, {
      next: "See whether the files of the model's folder belong together and are whole.",
      cause: error,
    });
  }
}

interface ModelProcess {
  readonly peer: Peer<ModelCall>;
  /** Ends it, whatever it does. */
  close(): Promise<void>;
}

/** @param onLost hears that the process has ended, and why, before the calls in it do */
function startProcess(boot: ModelBoot, onLost: (error: FedwayError) => void): ModelProcess {
  const child = forkScript(scriptBeside(import.meta.url, "model-process"), { memoryMb, args: [JSON.stringify(boot)] });
  const peer = createPeer<ModelCall>(channelTo(child));
  const end = async (): Promise<void> => {
    const { detail } = await childEnd(child);
    // Node prints of an uncaught error the line of its source, then its message and its stack.
    const start = detail.search(/^\w*Error: /mu);
    const length = start < 0 ? -1 : detail.slice(start).search(/\n +at /u);
    const message = length < 0 ? detail : detail.slice(start, start + length);
    const lost = new FedwayError("INTERNAL", "The process of the model ended.", { cause: new Error(message) });
    onLost(lost);
    peer.close(lost);
  };
  const ended = end();
  return {
    peer,
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
