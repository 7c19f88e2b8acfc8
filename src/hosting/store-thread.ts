/**
 * The thread of one hosted endpoint. Input: `workerData` (`StoreBoot`), then `StoreTask`s. Output: a `StoreReply` to each.
 * It runs from source (Node strips the types) and compiled.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { workerData } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import { FedwayError } from "../errors/fedway-error.ts";
import { serveTasks } from "../workers/threads.ts";
import { hasDatasetClause } from "./query-form.ts";
import { SpelledData } from "./spelled-data.ts";
import { answerCapture, capWasmMemory, memoryKeeper } from "./wasm-limits.ts";

/** A file of N-Triples or N-Quads, `.gz` where compressed. */
interface DataFile {
  readonly path: string;
  /** Hexadecimal; a file with another digest is refused. Absent: not checked. */
  readonly sha256?: string;
  /** The named graph that its triples, which have no blank nodes, are loaded into. */
  readonly graph?: string | undefined;
}

/**
 * N-Triples or N-Quads of a hosted endpoint. The thread reads files itself after every start, so that the main thread
 * never holds their text. Files with a graph, no triple in two of them, are together the default graph, too.
 */
export type HostedSource =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "files";
      readonly files: readonly DataFile[];
      /** Different statements in them; a store that has another number of them does not answer. Absent: not checked. */
      readonly triples?: number | undefined;
    };

/** The triples of one named graph in the place of those that it had, as N-Quads; none remove it. */
export interface GraphUpdate {
  readonly graph: string;
  readonly quads: string;
}

/** Named graphs that change; queries see all of them together as the default graph. */
export interface LiveSource {
  readonly kind: "live";
  /** Changes since the last query; everything for an empty store. Called before each query. */
  readonly updates: (isEmpty: boolean) => AsyncIterable<GraphUpdate>;
  /** When it was looked for changes last, in milliseconds since the epoch. */
  readonly asOfMs: () => number;
}

/** The thread's `workerData`. */
export interface StoreBoot {
  /** Absent: it begins empty, and its graphs together are the default graph. */
  readonly source: HostedSource | undefined;
  /** Cap of the store's memory, answers under construction included. */
  readonly memoryBytes: number;
  readonly maxAnswerBytes: number;
  /** Memory for queries that is there as soon as the data are. */
  readonly roomBytes: number;
}

/** One query; both lists of graphs empty means the stored dataset. */
interface StoreQuery {
  readonly query: string;
  /** Media type to serialise the answer in. */
  readonly mediaType: string;
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
  /**
   * The stored default graph is changed first to have the triples of these named graphs, of which no two share a triple:
   * many queries over sets of graphs that differ little take less time than each over the union of its set.
   */
  readonly composed?: readonly string[] | undefined;
}

/** `load` comes first and once. */
export type StoreTask = "load" | GraphUpdate | StoreQuery;

/** `memoryBytes` is what the store holds. After `crashed` and `unfit`, a fault of the data, the thread is of no further use. */
export type StoreReply =
  | ((
      | { readonly kind: "loaded" }
      | { readonly kind: "answer"; readonly body: Uint8Array<ArrayBuffer> }
      | { readonly kind: "refused"; readonly message: string }
      | { readonly kind: "too-large"; readonly bytes: number }
    ) & { readonly memoryBytes: number })
  | { readonly kind: "crashed"; readonly cause: "memory" | "trap"; readonly message: string }
  | { readonly kind: "unfit"; readonly message: string };

const maxMessageLength = 2_000;
const boot: StoreBoot = workerData;
const capture = answerCapture(boot.maxAnswerBytes);
globalThis.TextDecoder = capture.TextDecoder;

/** Rust reports a panic on the console before the trap; running out of memory traps without a word. */
let panic: string | undefined;
console.error = (...words: unknown[]): void => {
  panic ??= words.map(String).join(" ").slice(0, maxMessageLength);
};

const oxigraph = await import("oxigraph/web.js");
const wasm = readFileSync(fileURLToPath(import.meta.resolve("oxigraph/web_bg.wasm")));
const module = oxigraph.initSync({ module: capWasmMemory(wasm, boot.memoryBytes) });
const memoryBytes = (): number => module.memory.buffer.byteLength;
const keepRoom = memoryKeeper(module, boot.memoryBytes);
const store = new oxigraph.Store();
const spelled = new SpelledData();

/** A trap leaves the WebAssembly instance in an unknown state. */
function crashed(thrown: unknown): StoreReply {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const outOfMemory = panic === undefined && message === "unreachable";
  return { kind: "crashed", cause: outOfMemory ? "memory" : "trap", message: panic ?? message };
}

/** Errors that Oxigraph throws itself; a trap is a `RuntimeError`, an exhausted stack a `RangeError`. */
const ownErrors: ReadonlySet<unknown> = new Set([Error.prototype, URIError.prototype]);
const isOwnError = (thrown: unknown): thrown is Error => ownErrors.has(Object.getPrototypeOf(thrown));

/** Fault of the data. */
class Unfit extends Error {
  override readonly name = "Unfit";
}

function contentOf({ path, sha256 }: DataFile): Buffer {
  const bytes = bytesOf(path);
  if (sha256 !== undefined && createHash("sha256").update(bytes).digest("hex") !== sha256) {
    throw new Unfit("a file has changed since it was written");
  }
  // A longer text does not fit into the store either.
  return path.endsWith(".gz") ? gunzipSync(bytes, { maxOutputLength: boot.memoryBytes }) : bytes;
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new Unfit("a file is missing, or may not be read", { cause });
  }
}

const isTooLong = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE";

function load({ source }: StoreBoot): StoreReply {
  if (source === undefined) return { kind: "loaded", memoryBytes: memoryBytes() };
  if (source.kind === "text") return loadContents([Buffer.from(source.text)]);
  try {
    const reply = loadFiles(source.files);
    const { triples = store.size } = source;
    if (reply.kind !== "loaded" || store.size === triples) return reply;
    return { kind: "unfit", message: `the store has ${store.size} statements where the files have ${triples}` };
  } catch (thrown) {
    if (thrown instanceof Unfit) return { kind: "unfit", message: thrown.message };
    if (!isTooLong(thrown)) throw thrown;
    return { kind: "crashed", cause: "memory", message: "A file is longer than the store's memory." };
  }
}

/** Blank nodes of one name are one node in files of one load. */
function loadFiles(files: readonly DataFile[]): StoreReply {
  const isAlone = ({ graph }: DataFile): boolean => graph !== undefined;
  let reply = loadContents(files.filter((file) => !isAlone(file)).map(contentOf));
  for (const file of files.filter(isAlone))
    if (reply.kind === "loaded") reply = loadContents([contentOf(file)], file.graph);
  return reply;
}

function loadContents(contents: readonly Buffer[], graph?: string): StoreReply {
  const format = graph === undefined ? "application/n-quads" : "application/n-triples";
  const named = graph === undefined ? {} : { to_graph_name: oxigraph.namedNode(graph) };
  try {
    // Its reader would refuse language tags with more than eight letters between hyphens, which data have.
    store.load(slicesOf(contents), { format, lenient: true, ...named });
    return { kind: "loaded", memoryBytes: memoryBytes() };
  } catch (thrown) {
    return isOwnError(thrown) ? { kind: "unfit", message: thrown.message } : crashed(thrown);
  }
}

function* slicesOf(contents: readonly Buffer[]): Generator<string> {
  for (const slice of spelled.marked(contents)) {
    keepRoom();
    yield slice;
  }
}

function update({ graph, quads }: GraphUpdate): StoreReply {
  store.update(`DROP SILENT GRAPH <${graph}>`);
  return loadContents([Buffer.from(quads)]);
}

/** The default graph is all that the named ones have. */
const isUnion =
  boot.source === undefined || (boot.source.kind === "files" && boot.source.files.some(({ graph }) => graph));

/** The protocol has no way to ask for an empty dataset: no graph named means that of the query, else the stored one. */
function datasetOf({ query, defaultGraphs, namedGraphs }: StoreQuery) {
  if (defaultGraphs.length + namedGraphs.length === 0) {
    // Oxigraph would take the union for what FROM names, too.
    return { use_default_graph_as_union: isUnion && !hasDatasetClause(query) };
  }
  return {
    default_graph: defaultGraphs.map((iri) => oxigraph.namedNode(iri)),
    named_graphs: namedGraphs.map((iri) => oxigraph.namedNode(iri)),
  };
}

/** Named graphs that the default graph is composed of now. */
let composedOf: ReadonlySet<string> = new Set();

function compose(graphs: readonly string[]): void {
  const wanted = new Set(graphs);
  for (const iri of composedOf) {
    if (!wanted.has(iri)) store.update(`DELETE { ?s ?p ?o } WHERE { GRAPH <${iri}> { ?s ?p ?o } }`);
  }
  for (const iri of wanted) if (!composedOf.has(iri)) store.update(`ADD SILENT GRAPH <${iri}> TO DEFAULT`);
  composedOf = wanted;
}

/** Most stores need no parser, which costs their start as much again. */
const queries = () => import("../sparql/query.ts");

/** The query for the terms of the store. @throws FedwayError `QUERY_TOO_LARGE` */
async function ownQuery({ query }: StoreQuery): Promise<string> {
  return spelled.concerns(query) ? (await queries()).spelledQuery(query, spelled) : query;
}

async function answer(query: StoreQuery): Promise<StoreReply> {
  try {
    const text = await ownQuery(query);
    capture.reset();
    keepRoom();
    if (query.composed !== undefined) compose(query.composed);
    const result = store.query(text, {
      results_format: query.mediaType,
      ...datasetOf(query),
    });
    const written = capture.bytes ?? new TextEncoder().encode(typeof result === "string" ? result : "");
    const body = spelled.unmarked(written);
    const bytes = capture.skippedBytes ?? body.byteLength;
    if (bytes > boot.maxAnswerBytes) return { kind: "too-large", bytes, memoryBytes: memoryBytes() };
    return { kind: "answer", body, memoryBytes: memoryBytes() };
  } catch (thrown) {
    if (!isOwnError(thrown) && !(thrown instanceof FedwayError)) return crashed(thrown);
    return { kind: "refused", message: thrown.message.slice(0, maxMessageLength), memoryBytes: memoryBytes() };
  }
}

serveTasks<StoreTask, StoreReply>(
  async (task) => {
    if (task === "load") {
      const reply = load(boot);
      // Not in the time of the first query.
      if (spelled.concerns("")) await queries();
      if (reply.kind !== "loaded") return reply;
      keepRoom(boot.roomBytes);
      return { ...reply, memoryBytes: memoryBytes() };
    }
    return "quads" in task ? update(task) : answer(task);
  },
  (reply) => (reply.kind === "answer" ? [reply.body.buffer] : []),
);
