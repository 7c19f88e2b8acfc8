import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { OpenStores, StoreLimits } from "../verify/answer-store.ts";
import { type PackageOptions, type PackageResult, packageShards } from "./package-shards.ts";

/** A query that takes longer, or whose answer is larger, has no gold answer; nearly all the memory that WebAssembly can address. */
export const packageLimits = { timeoutMs: 60_000, memoryMb: 3_584, maxAnswerBytes: 256 * 1024 * 1024 };

/** A request to a packager; `timeoutMs` is that of each query. */
export type PackageRequest = Omit<PackageOptions, "openStore" | "now"> &
  Partial<{ readonly [Name in "timeoutMs" | "memoryMb"]: StoreLimits[Name] | undefined }>;

/**
 * A URL that others can be built upon: http(s) without credentials, query and fragment, and no slash at its end.
 * @throws FedwayError `REQUEST_INVALID`
 */
export function plainUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/u.test(url.protocol) && `${url.username}${url.search}${url.hash}` === "";
  if (isPlain) return url.href.replace(/(?<!\/)\/+$/u, "");
  const shown = JSON.stringify(text.slice(0, 100));
  throw new FedwayError("REQUEST_INVALID", `The base URL has to be like https://benchmark.example, not ${shown}.`);
}

/** The place of a dataset's package in a data folder. */
export const packageFolder = (dataDir: string, dataset: string): string => join(dataDir, "packages", dataset);

/** Makes packages of finished shards with stores of this process. */
export const createPackager =
  (openStores: OpenStores) =>
  (folder: string, request: PackageRequest): Promise<PackageResult> => {
    const { timeoutMs = packageLimits.timeoutMs, memoryMb = packageLimits.memoryMb, ...options } = request;
    return packageShards(folder, {
      ...options,
      openStore: openStores({ ...packageLimits, timeoutMs, memoryMb }),
      now: systemClock.now,
    });
  };
