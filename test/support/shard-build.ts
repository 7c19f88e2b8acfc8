import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Learned, learn } from "../../shards/src/load/learn.ts";
import {
  type MaterialiseOptions,
  materialise,
  type MaterialiseRequest,
} from "../../shards/src/materialise/materialise.ts";
import type { Manifest, ManifestShard } from "../../shards/src/materialise/manifest.ts";
import { createHash } from "node:crypto";
import type { Interpretation } from "../../shards/src/rules/problem.ts";

/** The literal reading of the paper. */
const literalInterpretation: Interpretation = {
  name: "literal",
  classRule: "pair",
  verticalRule: "pair",
  typeIsPredicate: true,
  horizontalCoversJoins: false,
  infer: false,
  exists: false,
  buckets: 2,
};

/** Writes a file of that name into a new folder and returns its path. */
export function writeInput(folder: string, name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A request with what tests do not care about filled in. */
export const requestFor = (
  learned: Learned,
  target: string,
  request: Partial<MaterialiseRequest> = {},
): MaterialiseRequest => ({
  gather: { learned, buckets: 6, patterns: [] },
  target,
  rules: [],
  reading: literalInterpretation,
  precedence: ["horizontal", "vertical", "class"],
  source: { dataset: "test", title: "Test", licence: "https://example.org/licence" },
  gzip: false,
  ...request,
});

/** Learns and materialises files into `<folder>/out`. */
export async function buildShards(
  folder: string,
  paths: readonly string[],
  request: Partial<MaterialiseRequest> = {},
  options: MaterialiseOptions = {},
): Promise<Manifest> {
  const learned = await learn(paths.map((path) => ({ path })));
  return materialise(requestFor(learned, join(folder, "out"), request), options);
}

/** Every file below a folder by its path there, as text of one byte a character. */
export function filesIn(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const entries = files.map((entry): [string, string] => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(folder.length + 1), readFileSync(path, "latin1")];
  });
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** The sha256 of a text or of bytes, in hex. */
export const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** The manifest of some shards, with what tests do not care about filled in. */
export function manifestWith(shards: readonly ManifestShard[], more: Partial<Manifest> = {}): Manifest {
  const triples = shards.reduce((sum, shard) => sum + shard.triples, 0);
  return {
    version: 1,
    fingerprint: sha256("fingerprint"),
    dataset: "x",
    title: "X",
    licence: "https://example.org/licence",
    rules: [],
    reading: literalInterpretation,
    precedence: ["horizontal", "vertical", "class"],
    format: "n-triples",
    gzip: false,
    inputs: [],
    statements: triples,
    triples,
    untypedSubjects: { count: 0, isAtLeast: false },
    shards,
    ...more,
  };
}
