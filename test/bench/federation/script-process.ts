import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Starts a script, which prints one line when it is ready. @throws Error when it ends before */
export async function startScript(name: string, args: readonly string[] = []) {
  const script = new URL(`./${name}.ts`, import.meta.url).pathname;
  const child = spawn(process.execPath, ["--max-old-space-size=4096", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const lines = createInterface(child.stdout);
  const [line]: unknown[] = await Promise.race([once(lines, "line"), ended.then(() => [])]);
  if (typeof line !== "string") throw new Error(`${name} ended before it was ready.`);
  return {
    /** What it printed. */
    line,
    pid: child.pid ?? 0,
    async stop(): Promise<void> {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
