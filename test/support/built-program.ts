import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "./listening.ts";
import { newFolder } from "./scratch-folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The built service as a process of its own. */
export interface BuiltService {
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything written to standard error so far. */
  log(): string;
  /** Sends SIGTERM and resolves to the exit code. */
  stop(): Promise<number | null>;
}

/** What a command printed and how it ended. */
export interface CommandOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Each process has a data folder of its own, and takes changes without a token, unless the test says otherwise. */
function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const FEDWAY_DATA_DIR = env["FEDWAY_DATA_DIR"] ?? newFolder();
  return { PATH: process.env["PATH"], HOME: process.env["HOME"], FEDWAY_DATA_DIR, FEDWAY_ADMIN_TOKEN: "off", ...env };
}

/** Starts `node dist/main.js` and waits until it is ready; with `shell`, by these shell commands, `"$@"` being it. */
export async function startBuiltService(
  env: Readonly<Record<string, string>> = {},
  shell?: string,
): Promise<BuiltService> {
  const port = env["PORT"] ?? String(await freePort());
  const command = [process.execPath, "dist/main.js"];
  const [program = "", ...args] = shell === undefined ? command : ["/bin/bash", "-c", shell, "bash", ...command];
  const child = spawn(program, args, {
    cwd: root,
    // Probes would count among the requests of tests that are about something else.
    env: environment({ PORT: port, FEDWAY_MONITOR: "off", ...env }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    const ready = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) break;
    if (tries === 300 || child.exitCode !== null) throw new Error(`The service did not start:\n${log}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    process: child,
    log: () => log,
    async stop() {
      if (child.exitCode !== null) return child.exitCode;
      child.kill("SIGTERM");
      const [code] = (await once(child, "exit")) as [number | null];
      return code;
    },
  };
}

/** Runs the built command line to its end. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandOutcome> {
  const child = spawn(process.execPath, ["dist/cli/main.js", ...args], { cwd: root, env: environment(env) });
  child.stdin.end();
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...output };
}
