/**
 * The worker thread of one hosted endpoint. Input: `workerData` (`WorkerBoot`), then `WorkerQuery` messages. Output:
 * `WorkerMessage`s. It runs from source (Node strips the types) and compiled, and imports nothing from outside hosting.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { answerCapture, capWasmMemory } from "./wasm-limits.ts";
import type { HostedSource, WorkerBoot, WorkerMessage, WorkerQuery } from "./store-worker.ts";

const maxMessageLength = 2_000;
const boot: WorkerBoot = workerData;
const capture = answerCapture(boot.maxAnswerBytes);
globalThis.TextDecoder = capture.TextDecoder;

/** Rust reports a panic on the console before the trap; running out of memory traps without a word. */
let panic: string | undefined;
console.error = (...words: unknown[]): void => {
  panic ??= words.map(String).join(" ").slice(0, maxMessageLength);
};

const oxigraph = await import("oxigraph/web.js");
const wasm = readFileSync(fileURLToPath(import.meta.resolve("oxigraph/web_bg.wasm")));
const { memory } = oxigraph.initSync({ module: capWasmMemory(wasm, boot.memoryBytes) });
const memoryBytes = (): number => memory.buffer.byteLength;

function send(message: WorkerMessage, transfer: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

/** A trap leaves the WebAssembly instance in an unknown state: the thread ends and a new one loads the data. */
function crash(thrown: unknown): void {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const outOfMemory = panic === undefined && message === "unreachable";
  send({ kind: "crashed", cause: outOfMemory ? "memory" : "trap", message: panic ?? message });
  parentPort?.close();
}

/** What Oxigraph throws by itself; a trap is a `RuntimeError`, an exhausted stack a `RangeError`. */
const ownErrors: ReadonlySet<unknown> = new Set([Error.prototype, URIError.prototype]);
const isOwnError = (thrown: unknown): thrown is Error => ownErrors.has(Object.getPrototypeOf(thrown));

async function readSource(source: HostedSource): Promise<string> {
  if (source.kind === "text") return source.text;
  const module: Readonly<Record<string, (argument: string) => string>> = await import(source.url);
  const build = module[source.name];
  if (build === undefined) throw new Error(`The data module has no export ${source.name}.`);
  return build(source.argument);
}

/** The protocol has no way to ask for an empty dataset: no graph named means the stored dataset. */
function datasetOf({ defaultGraphs, namedGraphs }: WorkerQuery) {
  if (defaultGraphs.length + namedGraphs.length === 0) return {};
  return {
    default_graph: defaultGraphs.map((iri) => oxigraph.namedNode(iri)),
    named_graphs: namedGraphs.map((iri) => oxigraph.namedNode(iri)),
  };
}

function answer(store: InstanceType<typeof oxigraph.Store>, query: WorkerQuery): void {
  const { id } = query;
  try {
    capture.reset();
    const result = store.query(query.query, { results_format: query.mediaType, ...datasetOf(query) });
    const body = capture.bytes ?? new TextEncoder().encode(typeof result === "string" ? result : "");
    const bytes = capture.skippedBytes ?? body.byteLength;
    const known = { id, memoryBytes: memoryBytes() };
    if (bytes > boot.maxAnswerBytes) send({ kind: "too-large", bytes, ...known });
    else send({ kind: "answer", body, ...known }, [body.buffer]);
  } catch (thrown) {
    if (!isOwnError(thrown)) return crash(thrown);
    const message = thrown.message.slice(0, maxMessageLength);
    send({ kind: "refused", id, message, memoryBytes: memoryBytes() });
  }
}

try {
  const store = new oxigraph.Store();
  store.load(await readSource(boot.source), { format: "application/n-quads" });
  parentPort?.on("message", (query: WorkerQuery) => {
    answer(store, query);
  });
  send({ kind: "ready", memoryBytes: memoryBytes() });
} catch (thrown) {
  crash(thrown);
}
