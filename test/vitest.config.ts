import { defineConfig } from "vitest/config";

const project = (name: string, options: Record<string, unknown> = {}) => ({
  test: {
    name,
    root: new URL("..", import.meta.url).pathname,
    include: [`test/${name}/**/*.test.ts`],
    pool: "forks" as const,
    globalSetup: ["test/support/scratch-folder.ts"],
    setupFiles: ["test/support/compile-cache.ts"],
    runner: "test/support/processor-time-runner.ts",
    // Time limits only end what hangs: a busy machine is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 40 } },
    ...options,
  },
});

/** Integration tests of the whole service and of whole engines: evaluators, builds and federated queries cost the most. */
const wholeServices = [
  "test/integration/{agent,app,engine,hosting,mcp,monitor}/**/*.test.ts",
  "test/integration/{registry,selection,service,shards,telemetry,watch}/**/*.test.ts",
];

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ["default", new URL("support/processor-time-reporter.ts", import.meta.url).pathname],
    projects: [
      project("unit", { isolate: false }),
      project("contract", { isolate: false }),
      // One worker more than cores of a small machine: many of these wait for sockets and timers. A group of its own, as
      // vitest wants one number of workers per group.
      project("integration", { isolate: false, maxWorkers: 3, sequence: { groupOrder: 1 }, exclude: wholeServices }),
      project("services", { isolate: false, maxWorkers: 3, sequence: { groupOrder: 1 }, include: wholeServices }),
      // Suites that keep a processor busy for long: processes that are lost, builds in processes of their own.
      project("faults", { isolate: false }),
      project("shards", { isolate: false }),
      project("redis"),
      project("endurance"),
      project("conformance"),
      ...["hostile", "interop", "deploy", "browser", "cluster", "e2e"].map((name, index) =>
        project(name, { fileParallelism: false, sequence: { groupOrder: 2 + index } }),
      ),
    ],
  },
});
