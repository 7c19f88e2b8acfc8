import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CliIo, UsageError } from "../../../src/cli/cli-io.ts";
import { sleep, systemClock } from "../../../src/clock.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { isListOf, isObject } from "../guards.ts";
import type { BenchmarkPackage } from "../package/open-package.ts";

/** How long the descriptions of all shards may take. */
const describeMs = 600_000;

/** Uses a service in this process that hosts the shards of the package and nothing else, at their URLs, and ends it. */
export async function withPackageService<Result>(
  io: CliIo,
  {
    benchmark,
    settings: more,
  }: { readonly benchmark: BenchmarkPackage; readonly settings: Readonly<Record<string, string>> },
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  if (benchmark.folder.includes(",")) throw new UsageError(`the name of the folder "${benchmark.folder}" has a comma`);
  const folder = await mkdtemp(join(tmpdir(), "fedway-evaluate-"));
  const catalog = join(folder, "catalog");
  await mkdir(catalog);
  const settings = {
    FEDWAY_LOG_LEVEL: "silent",
    HOST: "127.0.0.1",
    PORT: "0",
    ROLE: "all",
    REDIS_URL: "",
    FEDWAY_PUBLIC_URL: benchmark.manifest.baseUrl,
    FEDWAY_SHARDS: join(benchmark.folder, "build"),
    FEDWAY_HOSTED_TOTAL_MB: "4096",
    FEDWAY_DATA_DIR: join(folder, "data"),
    FEDWAY_CATALOG: catalog,
    FEDWAY_EXAMPLES: "off",
    FEDWAY_EXPERIENCE: "0",
    FEDWAY_MONITOR: "off",
    FEDWAY_ADMIN_TOKEN: "off",
    ...more,
  };
  try {
    const app = await io.openApp(settings);
    try {
      const url = await app.listen();
      await untilDescribed(io, url, benchmark);
      return await use(url);
    } finally {
      await app.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isJobs = isListOf(isObject);

/** Waits until each shard is described and its labels are read, so that all questions find the same. */
async function untilDescribed(
  { fetch: ask, interrupted }: CliIo,
  url: string,
  { endpoints }: BenchmarkPackage,
): Promise<void> {
  const until = systemClock.now() + describeMs;
  while (systemClock.now() < until) {
    const found = await Promise.all(endpoints.map(({ entry }) => ask(`${url}/api/endpoints/${entry}/schema`)));
    for (const { body } of found) await body?.cancel();
    const listed: unknown = await (await ask(`${url}/api/jobs`)).json();
    const jobs = isObject(listed) && isJobs(listed["jobs"]) ? listed["jobs"] : [];
    const isIdle = jobs.every(({ state }) => state !== "waiting" && state !== "running");
    if (isIdle && found.every(({ ok }) => ok)) return;
    await sleep(200, { clock: systemClock, signal: interrupted });
    interrupted.throwIfAborted();
  }
  throw new FedwayError("DEADLINE_EXCEEDED", "The shards of the package were not described within ten minutes.", {
    next: "Start the run again on a less busy machine, or name a running service with --service.",
  });
}
