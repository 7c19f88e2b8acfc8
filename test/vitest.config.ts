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

/** A group of its own: vitest wants one number of workers per group. */
const waiting = { maxWorkers: 3, sequence: { groupOrder: 1 } };

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ["default", new URL("support/processor-time-reporter.ts", import.meta.url).pathname],
    projects: [
      project("unit", { isolate: false }),
      project("contract", { isolate: false }),
      // One worker more than cores of a small machine: many of these wait for sockets, timers and other processes.
      project("integration", { ...waiting, isolate: false, exclude: wholeServices }),
      project("services", { ...waiting, isolate: false, include: wholeServices }),
      ...["faults", "shards"].map((name) => project(name, { ...waiting, isolate: false })),
      ...["browser", "cluster", "conformance", "deploy", "e2e", "endurance", "engines", "interop", "redis"].map(
        (name) => project(name, waiting),
      ),
      // What is measured here has the machine to itself.
      project("hostile", { fileParallelism: false, sequence: { groupOrder: 2 } }),
    ],
  },
});
