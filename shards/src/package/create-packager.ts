import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { readManifest } from "../materialise/manifest.ts";
import type { OpenStores } from "../verify/answer-store.ts";
import { type PackageOptions, type PackageResult, packageShards } from "./package-shards.ts";

/** A query that takes longer, or whose answer is larger, has no gold answer; nearly all the memory that WebAssembly can address. */
export const packageLimits = { timeoutMs: 60_000, memoryMb: 3_584, maxAnswerBytes: 256 * 1024 * 1024 };

type Request = Omit<PackageOptions, "output" | "openStore" | "now"> & { readonly output?: string | undefined };

/** Makes packages of finished shards with stores of this process. */
export const createPackager =
  (dataDir: string, openStores: OpenStores) =>
  async (folder: string, { output, ...options }: Request): Promise<PackageResult> => {
    const { dataset } = await readManifest(folder);
    return packageShards(folder, {
      ...options,
      output: output ?? join(dataDir, "packages", dataset),
      openStore: openStores(packageLimits),
      now: systemClock.now,
    });
  };
