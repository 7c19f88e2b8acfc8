import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "./listening.ts";
import { newFolder } from "./scratch-folder.ts";

type Environment = Readonly<Record<string, string>>;

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A program of the repository as a process of its own. */
export type Program = ReturnType<typeof startProgram>;

/** Starts a command in a folder, the root of the repository by default, with no other environment than `env`. */
export function startProgram([command = process.execPath, ...args]: readonly string[], env: Environment, cwd = root) {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
  });
  child.stdin.end();
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  const ended = once(child, "close").then(() => child.exitCode);
  return {
    process: child,
    output,
    /** Resolves to the exit code. */
    ended,
    /** Everything written to standard error so far. */
    log: (): string => output.stderr,
    /** Sends SIGTERM and resolves to the exit code. */
    stop(): Promise<number | null> {
      if (child.exitCode === null) child.kill("SIGTERM");
      return ended;
    },
    /** Waits until something is there. @throws Error when the program has ended before */
    async until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It has ended:\n${output.stderr}`);
        await sleep(50);
      }
    },
  };
}

/** Starts `src/main.ts`; it says itself at which URL it listens. */
export function startSourceProgram(env: Environment) {
  const program = startProgram([process.execPath, "--import", "tsx", "src/main.ts"], { FEDWAY_DRAIN_MS: "0", ...env });
  return { ...program, url: () => program.until(() => /listens at (http:\/\/\S+)/.exec(program.log())?.[1]) };
}

/** Each process has a data folder of its own, takes changes without a token, and ends without a drain, unless the test says otherwise. */
const withDefaults = (env: Environment): Environment => ({
  FEDWAY_DATA_DIR: env["FEDWAY_DATA_DIR"] ?? newFolder(),
  FEDWAY_ADMIN_TOKEN: "off",
  FEDWAY_DRAIN_MS: "0",
  ...env,
});

/** The built service as a process of its own. */
export type BuiltService = Awaited<ReturnType<typeof startBuiltService>>;

/** Starts `dist/main.js` as `npm run serve` does and waits until it is ready; with `shell`, by these shell commands, `"$@"` being it. */
export async function startBuiltService(env: Environment = {}, shell?: string) {
  const port = env["PORT"] ?? String(await freePort());
  const command = [process.execPath, "--max-semi-space-size=16", "dist/main.js"];
  const program = startProgram(
    shell === undefined ? command : ["/bin/bash", "-c", shell, "bash", ...command],
    // Probes would count among the requests of tests that are about something else.
    withDefaults({ PORT: port, FEDWAY_MONITOR: "off", FEDWAY_FACTS: "off", ...env }),
  );
  const url = `http://127.0.0.1:${port}`;
  await program.until(async () => (await fetch(`${url}/health/ready`).catch(() => undefined))?.ok || undefined);
  return { ...program, url };
}

/** What a command says that runs a service of its own. */
export const startNote =
  'No service is running: this command runs one and ends it afterwards. "fedway serve" keeps one.\n';

/** What a command printed and how it ended. */
export type CommandOutcome = Awaited<ReturnType<typeof runCommand>>;

/** Runs the built command line to its end. */
export async function runCommand(args: readonly string[], env: Environment = {}) {
  const { ended, output } = startProgram([process.execPath, "dist/cli/main.js", ...args], withDefaults(env));
  return { code: await ended, ...output };
}
