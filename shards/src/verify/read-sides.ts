import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { itemAt } from "../../../src/values.ts";
import { type Input, type NamedInput, namedInputs } from "../load/input.ts";
import { readStatements } from "../load/read-statements.ts";
import type { Visit } from "../load/statement.ts";
import type { Manifest } from "../materialise/manifest.ts";
import type { Findings } from "./verification.ts";

/** Where the shards are. */
type ShardSide = { readonly folder: string; readonly manifest: Manifest };

/** Inputs of reading. */
export interface Reading {
  readonly findings: Findings;
  readonly signal: AbortSignal;
  /** Statements and bytes since the last call. */
  readonly onProgress: (triples: number, bytes: number) => void;
  /** A file was read, to its end or to where it is damaged. */
  readonly onFile: () => void;
  /** Awaited now and then, between statements. */
  readonly settle?: (() => Promise<void>) | undefined;
}

/** A file as the manifest has it. */
type Expected = { readonly sha256: string; readonly bytes: number; readonly triples?: number };

/** Files that a shard's name stands for, as inputs. */
export const shardInputs = ({ folder, manifest }: ShardSide): readonly NamedInput[] =>
  manifest.shards.map(({ id, file }) => ({ path: join(folder, file), name: id, format: manifest.format }));

/** Inputs of which lines were left out are read as the build read them. */
export const inputsAsBuilt = (manifest: Manifest, inputs: readonly Input[]): readonly NamedInput[] =>
  namedInputs(inputs).map((input) => {
    const built = manifest.inputs.find(({ name }) => name === input.name);
    return Object.assign(input, { skipBadLines: built?.badLines !== undefined });
  });

/** Reads one file to its end; undefined when it cannot be read, which is a finding. */
async function readOne(
  input: NamedInput,
  visit: Visit,
  { findings, signal, onProgress, onFile, settle }: Reading,
): Promise<(Expected & { readonly triples: number }) | undefined> {
  let [triples, bytes] = [0, 0];
  try {
    const read = await readStatements([input], visit, {
      phase: "verify",
      signal,
      afterChunk: settle,
      onProgress: (now) => {
        onProgress(now.triples - triples, now.bytes - bytes);
        ({ triples, bytes } = now);
      },
    });
    await settle?.();
    onFile();
    const { sha256, bytes: size } = itemAt(read, 0);
    return { sha256, bytes: size, triples };
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = toFedwayError(error);
    // Whatever else fails, the disk for instance, is no fault of the file.
    if (code !== "DATASET_INVALID") throw error;
    findings.wrongIs(input.name, message);
    onFile();
    return undefined;
  }
}

function compareFacts(name: string, found: Expected, [expected, findings]: readonly [Expected, Findings]): void {
  if (found.bytes !== expected.bytes) {
    findings.wrongIs(name, `The file has ${found.bytes} bytes, the manifest says ${expected.bytes}.`);
  } else if (found.sha256 !== expected.sha256) {
    findings.wrongIs(name, "The checksum of the file is not the manifest's.");
  }
  if (expected.triples !== undefined && found.triples !== expected.triples) {
    findings.wrongIs(name, `The file has ${found.triples} triples, the manifest says ${expected.triples}.`);
  }
}

const cutShort = "A file could not be read to its end.";

/** Reads the shards, each with a visit of its own; resolves to why not all of them is known, where that is so. */
export async function readShards(
  sides: ShardSide,
  visitOf: (shard: number) => Visit,
  reading: Reading,
): Promise<string | undefined> {
  let isWhole = true;
  for (const [at, input] of shardInputs(sides).entries()) {
    const found = await readOne(input, visitOf(at), reading);
    isWhole &&= found !== undefined;
    const expected = itemAt(sides.manifest.shards, at);
    if (found !== undefined) compareFacts(input.name, found, [expected, reading.findings]);
  }
  return isWhole ? undefined : cutShort;
}

/** Writes the lines of statements to a new file, so that a store can load them as the shards have them. */
export async function createCopy(path: string) {
  const file: FileHandle = await open(path, "wx");
  let lines: Buffer[] = [];
  const visit: Visit = ({ bytes, start, end }) => void lines.push(Buffer.from(bytes.subarray(start, end)));
  return {
    visit,
    settle: async (): Promise<void> => {
      const ready = lines;
      lines = [];
      if (ready.length > 0) await file.appendFile(Buffer.concat(ready));
    },
    close: () => file.close(),
  };
}

/** Reads the inputs; resolves to why not all of them is known, where that is so. */
export async function readInputs(
  sides: ShardSide & { readonly inputs: readonly Input[] },
  visit: Visit,
  reading: Reading,
): Promise<string | undefined> {
  const inputs = inputsAsBuilt(sides.manifest, sides.inputs);
  let isWhole = true;
  for (const input of inputs) {
    const found = await readOne(input, visit, reading);
    isWhole &&= found !== undefined;
    const expected = sides.manifest.inputs.find(({ name }) => name === input.name);
    if (expected === undefined) reading.findings.wrongIs(input.name, "The manifest knows no such input.");
    else if (found !== undefined) compareFacts(input.name, found, [expected, reading.findings]);
  }
  if (!isWhole) return cutShort;
  return inputs.length < sides.manifest.inputs.length ? notGiven(sides.manifest, inputs, reading.findings) : undefined;
}

function notGiven({ inputs }: Manifest, given: readonly NamedInput[], findings: Findings): string {
  const names = new Set(given.map(({ name }) => name));
  for (const { name } of inputs) if (!names.has(name)) findings.unknownIs(name, "It was not given.");
  return "Not all inputs were given.";
}
