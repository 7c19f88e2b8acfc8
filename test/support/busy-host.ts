import { spawn } from "node:child_process";
import { once } from "node:events";

/** Processes that use all the time of the first processor that they get, until `stop` and for `seconds` at most. */
export function startBusyLoops(count: number, seconds: number) {
  const script = `const end = Date.now() + ${seconds * 1_000}; while (Date.now() < end);`;
  const loops = Array.from({ length: count }, () =>
    spawn("taskset", ["--cpu-list", "0", process.execPath, "-e", script], { stdio: "ignore" }),
  );
  return {
    async stop(): Promise<void> {
      const over = loops
        .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
        .map((loop) => once(loop, "exit"));
      for (const loop of loops) loop.kill("SIGKILL");
      await Promise.all(over);
    },
  };
}
