import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { learn } from "../../shards/src/load/learn.ts";
import type { Progress } from "../../shards/src/load/read-statements.ts";
import { materialise, type MaterialiseOptions } from "../../shards/src/materialise/materialise.ts";
import type { Rule } from "../../shards/src/rules/problem.ts";
import { buildShards, filesIn, requestFor, writeInput } from "../support/shard-build.ts";
import { newFolder } from "../support/scratch-folder.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const rules: readonly Rule[] = [
  { kind: "horizontal", class: "x:C0", buckets: 2 },
  { kind: "vertical", predicates: ["x:p0", "x:p1"] },
  { kind: "class", classes: ["x:C1", "x:C2"] },
];

const lines = Array.from({ length: 6_000 }, (_, at) => {
  const subject = `<x:s${(at * 7_919) % 700}>`;
  return at % 10 === 0 ? `${subject} ${type} <x:C${at % 5}> .\n` : `${subject} <x:p${at % 4}> "é${at % 1_500}" .\n`;
});
const half = lines.length / 2;
const files: Readonly<Record<string, string | Buffer>> = {
  "a.nt": lines.slice(0, half).join(""),
  "b.nt.gz": gzipSync(
    lines
      .slice(half - 500, half + 900)
      .join("")
      .replaceAll(" ", "  "),
  ),
  "c.ttl": lines.slice(half + 800, half + 1_500).join(""),
  "d.nq": lines
    .slice(half + 1_000)
    .join("")
    .replaceAll(/7" \./gu, '7" <x:g> .'),
  // Not canonical, so that it is read anew and not only parted.
  "e.nt": lines.slice(0, 300).join("").replaceAll(" ", "  "),
};
const small = { partBytes: 20_000, sliceBytes: 30_000, noteMs: 0 } satisfies MaterialiseOptions;

let started: Worker[] = [];
/** Test files share a process: the thread of a solver, which another one has left to end, is not counted. */
const isOurs = (worker: Worker): boolean => worker.resourceLimits?.maxOldGenerationSizeMb === 512;
const note = (worker: Worker): void => void (isOurs(worker) && started.push(worker));
beforeEach(() => {
  started = [];
  process.on("worker", note);
});
afterEach(() => {
  process.off("worker", note);
});

/** A folder with the inputs, of which nothing is built yet. */
function folderOfInputs(texts = files): { readonly folder: string; readonly paths: readonly string[] } {
  const folder = newFolder();
  return { folder, paths: Object.entries(texts).map(([name, text]) => writeInput(folder, name, text)) };
}

async function built(options: MaterialiseOptions): Promise<Readonly<Record<string, string>>> {
  const { folder, paths } = folderOfInputs();
  await buildShards(folder, paths, { rules }, { ...small, ...options });
  return filesIn(join(folder, "out"));
}

/** What one thread makes of the inputs, once for all tests. */
let ofOneThread: Promise<Readonly<Record<string, string>>> | undefined;
const builtAlone = (): Promise<Readonly<Record<string, string>>> => (ofOneThread ??= built({ threads: 1 }));

/** Threads that have not ended have a number. */
const running = (): readonly number[] => started.map(({ threadId }) => threadId).filter((id) => id >= 0);

/** What is left of slices that are not complete. */
const unfinished = (folder: string): readonly string[] =>
  readdirSync(join(folder, "out.building", "parts")).filter((name) => !/^\d+$/u.test(name));

describe("shards that several threads build", () => {
  it.each<[string, MaterialiseOptions]>([
    ["of slices and ranges", {}],
    ["of ranges that are too large for threads, and others", { maxPartBytes: 28_000, partBytes: 22_000 }],
  ])("have the same bytes as those of one thread: %s", async (_, options) => {
    const alone = await built({ ...options, threads: 1 });
    expect(started).toHaveLength(0);
    expect(Object.keys(alone).length).toBeGreaterThan(5);
    expect(await built({ ...options, threads: 2 })).toEqual(alone);
    expect(started.length).toBeGreaterThan(1);
    expect(running()).toEqual([]);
  });

  it("are not worth the start of threads when they are small", async () => {
    expect(await built({})).toEqual(await builtAlone());
    expect(started).toHaveLength(0);
  });

  it("tell how far they are of all slices together", async () => {
    const told: Progress[] = [];
    await built({ threads: 2, onProgress: (progress) => told.push(progress) });
    const split = told.filter(({ phase }) => phase === "split");
    expect(split.length).toBeGreaterThan(2);
    for (const [at, { triples, bytes, totalBytes }] of split.entries()) {
      expect(triples).toBeGreaterThanOrEqual(split[at - 1]?.triples ?? 0);
      expect(bytes).toBeGreaterThanOrEqual(split[at - 1]?.bytes ?? 0);
      expect(bytes).toBeLessThanOrEqual(totalBytes);
    }
    expect(split.at(-1)?.bytes).toBe(split.at(-1)?.totalBytes);
    expect(Math.max(...split.map(({ triples }) => triples))).toBe(half + 1_400 + 700 + 2_000 + 300);
  });
});

/** What users are told. */
function publicPart(error: unknown): unknown {
  expect(error).toBeInstanceOf(FedwayError);
  if (!(error instanceof FedwayError)) return undefined;
  const { cause, ...details } = error.details;
  return { code: error.code, message: error.message, details, hasCause: cause !== undefined };
}

describe("a build in threads that fails", () => {
  /** Builds in one thread and in two, after the inputs were changed behind the back of the build. */
  function shouldFailAlike(what: string, change: (folder: string) => void, message: RegExp): void {
    it(`says the same as in one thread: ${what}`, async () => {
      const errors = [];
      for (const threads of [1, 2]) {
        const { folder, paths } = folderOfInputs();
        const request = requestFor(await learn(paths.map((path) => ({ path }))), join(folder, "out"), { rules });
        change(folder);
        errors.push(await materialise(request, { ...small, threads }).catch((error: unknown) => error));
        expect(unfinished(folder)).toEqual([]);
        expect(readdirSync(folder)).not.toContain("out");
      }
      const [alone, together] = errors.map(publicPart);
      expect(alone).toMatchObject({ code: "DATASET_INVALID", message: expect.stringMatching(message) });
      expect(together).toEqual(alone);
      expect(started.length).toBeGreaterThan(1);
      expect(running()).toEqual([]);
    });
  }
  const overwrite = (name: string, text: string | Buffer) => (folder: string) =>
    writeFileSync(join(folder, name), text);
  shouldFailAlike("a line that was in order", overwrite("d.nq", `${lines[0]}nonsense\n`), /^d\.nq: .* was changed/u);
  shouldFailAlike("a gzip", overwrite("b.nt.gz", gzipSync("<x:a> <x:b> <x:c> .\n\n<x:a>\n")), /^b\.nt\.gz, line 3: /u);
  shouldFailAlike(
    "two files, of which the first counts",
    (folder) => {
      overwrite("b.nt.gz", gzipSync(`${lines.join("")}nonsense\n`))(folder);
      overwrite("c.ttl", "nonsense")(folder);
    },
    /^b\.nt\.gz, line 6001: /u,
  );

  it("leaves nothing and nothing running when a thread is ended, and the next one does the rest", async () => {
    const { folder, paths } = folderOfInputs();
    const kill = (worker: Worker): void => {
      if (isOurs(worker) && started.length === 2) worker.once("online", () => void worker.terminate());
    };
    process.on("worker", kill);
    try {
      const build = buildShards(folder, paths, { rules }, { ...small, threads: 2 });
      await expect(build).rejects.toMatchObject({
        code: "INTERNAL",
        message: expect.stringMatching(/thread ended before its work was done/u),
      });
    } finally {
      process.off("worker", kill);
    }
    expect(unfinished(folder)).toEqual([]);
    expect(running()).toEqual([]);
    await buildShards(folder, paths, { rules }, { ...small, threads: 1 });
    expect(filesIn(join(folder, "out"))).toEqual(await builtAlone());
  });

  it.each(["split", "sort"] as const)("ends its threads at once when it is cancelled: %s", async (phase) => {
    const { folder, paths } = folderOfInputs();
    const controller = new AbortController();
    const why = new Error("no more");
    const onProgress = (progress: Progress): void => void (progress.phase === phase && controller.abort(why));
    const options = { ...small, threads: 2, signal: controller.signal, onProgress };
    await expect(buildShards(folder, paths, { rules }, options)).rejects.toBe(why);
    expect(unfinished(folder)).toEqual([]);
    expect(started.length).toBeGreaterThan(1);
    expect(running()).toEqual([]);
    await buildShards(folder, paths, { rules }, { ...small, threads: 2 });
    expect(filesIn(join(folder, "out"))).toEqual(await builtAlone());
  });

  it("fails with what who listens throws", async () => {
    const { folder, paths } = folderOfInputs();
    const why = new Error("cannot listen");
    const onProgress = ({ phase }: Progress): void => {
      if (phase === "split") throw why;
    };
    await expect(buildShards(folder, paths, { rules }, { ...small, threads: 2, onProgress })).rejects.toBe(why);
    expect(running()).toEqual([]);
  });
});
