import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import type { NamedInput } from "../load/input.ts";
import { readStatements } from "../load/read-statements.ts";
import type { Visit } from "../load/statement.ts";
import type { Manifest } from "../materialise/manifest.ts";
import { type AnswerStore, askStore, type OpenStore, type StoreFile } from "../verify/answer-store.ts";
import { isObject, parsedAs } from "../guards.ts";

/** A term of SPARQL results JSON. */
export type JsonTerm = Readonly<Record<string, unknown>>;

/** The lexical form, IRI or label of a term; empty for an unbound variable. */
export const valueOf = (term: JsonTerm | undefined): string => {
  const value = term?.["value"];
  return typeof value === "string" ? value : "";
};

/** A solution of SPARQL results JSON: its bound variables. */
export type Solution = Readonly<Record<string, JsonTerm>>;

/** An answer of the store, as it came. */
export type Answer =
  | { readonly kind: "bindings"; readonly columns: readonly string[]; readonly solutions: readonly Solution[] }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "graph"; readonly lines: readonly string[] };

/** The whole dataset as default graph and, but for datasets with named graphs, each shard as the graph named by its URL. */
export interface WholeStore {
  /** @throws FedwayError as the store */
  ask(query: string): Promise<Answer>;
  /** The shards are there as graphs. */
  readonly hasShards: boolean;
  close(): Promise<void>;
}

/** Finished shards, and the URLs of their endpoints. */
export interface FinishedShards {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly urlOf: (id: string) => string;
}

/** How stores are opened. */
export interface Opening {
  readonly openStore: OpenStore;
  /** Where files go that a store needs of its own. */
  readonly scratch?: string | undefined;
  readonly signal: AbortSignal;
}

/** Loads finished shards into one store. @throws FedwayError `DATASET_INVALID`, or as the store: too little memory */
export function openWholeStore({ folder, manifest, urlOf }: FinishedShards, opening: Opening): Promise<WholeStore> {
  const { format, shards } = manifest;
  return openFiles(
    shards.map(({ id, file }) => ({
      path: join(folder, file),
      format,
      gzip: file.endsWith(".gz"),
      graph: format === "n-triples" ? urlOf(id) : undefined,
    })),
    opening,
  );
}

async function openFiles(files: readonly StoreFile[], { openStore, signal }: Opening): Promise<WholeStore> {
  const store = await openStore(files, signal);
  return {
    hasShards: files.some(({ graph }) => graph !== undefined),
    ask: (query) => answerOf(store, query, signal),
    close: () => store.close(),
  };
}

/** Writes files into a new folder and loads them; closing the store removes the folder. @throws as `openWholeStore` */
export async function openWritten(
  write: (folder: string) => Promise<readonly StoreFile[]>,
  opening: Opening,
): Promise<WholeStore> {
  const folder = await mkdtemp(join(opening.scratch ?? tmpdir(), "fedway-store-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const store = await openFiles(await write(folder), opening);
    return {
      ...store,
      async close(): Promise<void> {
        await store.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Loads files of RDF into one store. @throws as `openWholeStore` */
export const openInputs = (inputs: readonly NamedInput[], opening: Opening): Promise<WholeStore> =>
  openWritten(async (folder) => {
    const path = join(folder, "whole.nq");
    await writeLines(path, inputs, opening.signal);
    return [{ path, format: "n-quads", gzip: false }];
  }, opening);

async function writeLines(path: string, inputs: readonly NamedInput[], signal: AbortSignal): Promise<void> {
  const file = createWriteStream(path);
  const lines: Buffer[] = [];
  const settle = async (): Promise<void> => {
    const isFull = lines.length > 0 && !file.write(Buffer.concat(lines.splice(0)));
    if (isFull) await once(file, "drain");
  };
  const keep: Visit = ({ bytes, start, end }) => void lines.push(Buffer.from(bytes.subarray(start, end)));
  await readStatements(inputs, keep, { phase: "verify", signal, afterChunk: settle });
  await settle();
  file.end();
  await once(file, "close");
}

async function answerOf(store: AnswerStore, query: string, signal: AbortSignal): Promise<Answer> {
  const { mediaType, body } = await askStore(store, query, signal);
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  if (!/\bjson\b/iu.test(mediaType)) return { kind: "graph", lines: text.split("\n").filter((line) => line !== "") };
  const json = parsedAs(text, isObject) ?? {};
  if (typeof json["boolean"] === "boolean") return { kind: "boolean", value: json["boolean"] };
  return readSolutions(json);
}

/** The solutions of an answer in SPARQL results JSON; none for other answers. */
export function readSolutions({ head, results }: Readonly<Record<string, unknown>>): Answer & { kind: "bindings" } {
  const columns: unknown = isObject(head) ? head["vars"] : undefined;
  const solutions: unknown = isObject(results) ? results["bindings"] : undefined;
  return {
    kind: "bindings",
    columns: Array.isArray(columns) ? columns.map(String) : [],
    solutions: Array.isArray(solutions) ? solutions.filter(isSolution) : [],
  };
}

const isSolution = (value: unknown): value is Solution => isObject(value) && Object.values(value).every(isObject);
