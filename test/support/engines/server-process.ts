import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A server program that a test or the bench starts in a scratch folder of its own. */
export interface ServerProgram {
  /** Name in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What the command line begins with, e.g. `["taskset", "-c", "0"]`. */
  readonly wrapper?: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves to true once the server answers; asked every 50 ms. */
  readonly ready: () => Promise<boolean>;
  readonly readyWithinMs: number;
}

/** A running server; it belongs to whoever started it and is only ever ended by its own pid. */
export interface ServerProcess {
  readonly pid: number;
  /** What the program wrote to stdout and stderr so far (the last 64 KiB); it is kept in a file of the scratch folder. */
  output(): string;
  /** SIGTERM, then SIGKILL after five seconds; resolves when the process is gone. */
  stop(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

const outputLimit = 65_536;

/** Fails with the name of the Debian package when a program is not on the PATH. */
export function requireProgram(command: string, install: string): string {
  const searchPath = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;
  const found = spawnSync("sh", ["-c", 'command -v "$0"', command], { env: { PATH: searchPath }, encoding: "utf8" });
  const path = found.stdout.trim();
  if (found.status !== 0 || path === "") throw new Error(`${command} is not installed; install it with: ${install}`);
  return path;
}

/** True when an HTTP GET is answered with one of the statuses. */
export async function answers(url: string, statuses: readonly number[] = [200]): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return statuses.includes(response.status);
  } catch {
    return false;
  }
}

/** A command line behind a wrapper that starts it, e.g. taskset. */
export function wrapped(
  wrapper: readonly string[],
  command: string,
  args: readonly string[],
): [command: string, args: string[]] {
  const [first, ...rest] = wrapper;
  return first === undefined ? [command, [...args]] : [first, [...rest, command, ...args]];
}

/** Starts a program and waits until it is ready. @throws Error with the program's output when it is not in time */
export async function startServer(program: ServerProgram): Promise<ServerProcess> {
  const log = join(program.cwd, `${program.name}.log`);
  const descriptor = openSync(log, "a");
  const [command, args] = wrapped(program.wrapper ?? [], program.command, program.args);
  const child = spawn(command, args, {
    cwd: program.cwd,
    env: { ...process.env, ...program.env },
    stdio: ["ignore", descriptor, descriptor],
  });
  closeSync(descriptor);
  let failure = "";
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", (error) => {
      failure = error.message;
      resolve();
    });
  });
  const server: ServerProcess = {
    pid: child.pid ?? -1,
    output: () => readFileSync(log, "utf8").slice(-outputLimit) + failure,
    stop: () => end(child, gone, "SIGTERM"),
    kill: () => end(child, gone, "SIGKILL"),
  };
  const endsAt = Date.now() + program.readyWithinMs;
  while (!(await program.ready())) {
    const ended = child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    if (ended || Date.now() > endsAt) {
      await server.kill();
      throw new Error(
        `${program.name} ${ended ? "ended" : `was not ready after ${program.readyWithinMs} ms`}:\n${server.output()}`,
      );
    }
    await sleep(50);
  }
  return server;
}

async function end(child: ChildProcess, gone: Promise<void>, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  const forced = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await gone;
  clearTimeout(forced);
}
