import { storeOpener } from "../../src/hosting/file-store.ts";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { createShardCommands } from "../../shards/src/service/commands.ts";
import type { ShardCommands } from "../../shards/src/cli/shard-commands.ts";
import type { BuildResult } from "../../shards/src/build.ts";
import type { Job } from "../../src/jobs/job-queue.ts";
import type { Verification } from "../../shards/src/verify/verification.ts";
import { newFolder } from "./scratch-folder.ts";

/** A small example: the ferries of `shards/example` with a tenth of its data. */
export const exampleFolder = fileURLToPath(new URL("../fixtures/harbour/", import.meta.url));

export interface ExampleQuery {
  readonly id: string;
  readonly sparql: string;
}

export const exampleQueries = async (): Promise<readonly ExampleQuery[]> =>
  JSON.parse(await readFile(join(exampleFolder, "queries.json"), "utf8")) as readonly ExampleQuery[];

/** A data folder of its own, with the example among what may be read. */
export interface ShardWorkspace {
  readonly dataDir: string;
  /** Where the example's files lie, to be changed at will. */
  readonly input: string;
  build(options?: Partial<Parameters<ShardCommands["build"]>[1]>): Promise<BuildResult>;
  /** The same for a description of several datasets. */
  buildAll(options?: Partial<Parameters<ShardCommands["build"]>[1]>): Promise<readonly BuildResult[]>;
  verify(folder: string, inputs?: readonly string[]): Promise<Verification>;
  /** Changes the description. */
  describe(changes: object): Promise<void>;
}

const never = new AbortController().signal;
const ignore = (): void => {};

export async function openWorkspace(): Promise<ShardWorkspace> {
  const dataDir = newFolder();
  const input = join(dataDir, "shards-input");
  await mkdir(input);
  await cp(exampleFolder, input, { recursive: true });
  const commands = createShardCommands(dataDir, storeOpener);
  const spec = join(input, "spec.json");
  const buildAll: ShardWorkspace["buildAll"] = (options = {}) =>
    commands.build(spec, { dryRun: false, allow: [], signal: never, onProgress: ignore, ...options });
  return {
    dataDir,
    input,
    buildAll,
    async build(options = {}) {
      const [outcome, ...more] = await buildAll(options);
      if (outcome === undefined || more.length > 0) throw new Error(`${more.length} outcomes more than one`);
      return outcome;
    },
    verify: (folder, inputs = []) =>
      commands.verify(folder, { inputs, answers: true, signal: never, onProgress: ignore }),
    async describe(changes) {
      const before: object = JSON.parse(await readFile(spec, "utf8"));
      await writeFile(spec, JSON.stringify({ ...before, ...changes }));
    },
  };
}

/** One with many small shards of all kinds: what tests ask of parts of classes. */
export async function openFineWorkspace(): Promise<ShardWorkspace> {
  const workspace = await openWorkspace();
  await workspace.describe({ maxShards: 100, shares: {} });
  return workspace;
}

/** The shards of the example as one build left them, for all test files of this process. */
let example: Promise<string> | undefined;

/** A data folder in which the example has been built, and the folder of its shards: a copy, quicker than a build. */
export async function openBuiltWorkspace(): Promise<ShardWorkspace & { readonly folder: string }> {
  example ??= openFineWorkspace().then(async (built) => (await built.build()).folder ?? "");
  const workspace = await openFineWorkspace();
  const folder = join(workspace.dataDir, "shards", "harbour");
  await cp(await example, folder, { recursive: true });
  const origins = { inputs: [join(workspace.input, "harbour.nt")] };
  await writeFile(join(folder, "origins.json"), JSON.stringify(origins));
  return { ...workspace, folder };
}

const town = (name: string): string => `<http://x.example/${name}>`;

/** The query of `openTowns`. */
export const townsQuery = `SELECT * { ?x ${town("name")} ?name ; ${town("size")} ?size }`;

/** Nine triples of three properties, each in a shard of its own: soon built, hosted and described. */
export async function openTowns(): Promise<ShardWorkspace & { readonly folder: string }> {
  const workspace = await openWorkspace();
  const triples = ["a", "b", "c"].flatMap((name) =>
    [`${town("name")} "${name}"`, `${town("size")} "1"`, `${town("in")} ${town("land")}`].map(
      (rest) => `${town(name)} ${rest} .\n`,
    ),
  );
  await writeFile(join(workspace.input, "towns.nt"), triples.join(""));
  const queries = [
    { id: "sizes", question: "How large is each town?", sparql: townsQuery },
    {
      id: "count",
      question: "How many towns have a size and a land?",
      sparql: `SELECT (COUNT(*) AS ?n) { ?x ${town("size")} ?size ; ${town("in")} ?land }`,
    },
  ];
  await writeFile(join(workspace.input, "towns.json"), JSON.stringify(queries));
  const spec = { dataset: "towns", inputs: ["towns.nt"], queries: "towns.json", mode: "paper", reading: "literal" };
  await workspace.describe(spec);
  const { folder = "" } = await workspace.build();
  return { ...workspace, folder };
}

/** A job of a running service when it has ended. */
export async function finishedJob(url: string, id: string): Promise<Job> {
  for (;;) {
    const job = (await (await fetch(`${url}/api/jobs/${id}`)).json()) as Job;
    if (job.state !== "waiting" && job.state !== "running") return job;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** The job that a response accepts, when it has ended. */
export async function acceptedJob(url: string, kind: string, response: Response): Promise<Job> {
  const job = (await response.json()) as Job;
  expect({ status: response.status, job }).toMatchObject({ status: 202, job: { kind } });
  expect(response.headers.get("location")).toBe(`/api/jobs/${job.id}`);
  return finishedJob(url, job.id);
}
