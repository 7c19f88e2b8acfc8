import { defineConfig } from "vitest/config";

const project = (name: string, options: Record<string, unknown> = {}) => ({
  test: {
    name,
    root: new URL("..", import.meta.url).pathname,
    include: [`test/${name}/**/*.test.ts`],
    pool: "forks" as const,
    globalSetup: ["test/support/scratch-folder.ts"],
    setupFiles: ["test/support/compile-cache.ts"],
    // Only what never comes about takes all of this time.
    expect: { poll: { timeout: 45_000, interval: 20 } },
    ...options,
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      // Time limits only end what hangs: a busy machine is no failure.
      project("unit", { isolate: false, testTimeout: 60_000 }),
      project("contract", { isolate: false, testTimeout: 60_000 }),
      // One worker more than cores of a small machine: many of these wait for sockets and timers. A group of its own, as
      // vitest wants one number of workers per group.
      project("integration", {
        isolate: false,
        testTimeout: 60_000,
        hookTimeout: 60_000,
        maxWorkers: 3,
        sequence: { groupOrder: 1 },
      }),
      project("redis", { testTimeout: 60_000, hookTimeout: 60_000 }),
      project("endurance", { testTimeout: 120_000 }),
      project("conformance", { testTimeout: 120_000, hookTimeout: 60_000 }),
      project("hostile", { fileParallelism: false }),
      project("interop", { testTimeout: 60_000, hookTimeout: 180_000, fileParallelism: false }),
      project("deploy", { testTimeout: 120_000, hookTimeout: 300_000, fileParallelism: false }),
      project("browser", { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false }),
      project("cluster", { testTimeout: 180_000, hookTimeout: 120_000, fileParallelism: false }),
      project("e2e", { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false }),
    ],
  },
});
