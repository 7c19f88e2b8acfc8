import { createHash } from "node:crypto";
import type { Manifest, ManifestShard } from "../../src/shards/materialise/manifest.ts";
import { literalInterpretation } from "./shard-build.ts";

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
