import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { requireProgram, wrapped } from "../../support/engines/server-process.ts";

/** One run of the load generator. */
export interface Load {
  readonly origin: string;
  /** Path with query string; `NEW` in it is replaced by a fresh number in each request when `run` is given. */
  readonly path: string;
  readonly run?: number;
  readonly connections: number;
  readonly seconds: number;
}

/** What it measured. */
export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly bytesPerSecond: number;
  /** Complete ones; bytes count from incomplete ones too. */
  readonly requests: number;
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The line that wrk.lua prints. */
type Printed = Readonly<Record<"requests" | "bytes" | "durationUs" | "p50Us" | "p99Us" | "failed", number>>;

const script = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** Runs wrk with one thread. @throws Error when any request failed or wrk itself did */
export async function runLoad(load: Load, wrapper: readonly string[]): Promise<LoadResult> {
  const wrk = requireProgram("wrk", "apt-get install wrk");
  const options = ["-t1", `-c${load.connections}`, `-d${load.seconds}s`, "--timeout", "30s", "-s", script];
  const header = ["-H", "Accept: application/sparql-results+json"];
  const scriptArgs = load.run === undefined ? [load.path] : [load.path, String(load.run)];
  const output = await run(...wrapped(wrapper, wrk, [...options, ...header, load.origin, "--", ...scriptArgs]));
  const line = /^RESULT (\{.*\})$/mu.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result:\n${output}`);
  const result: Printed = JSON.parse(line);
  if (result.failed > 0 || result.bytes === 0) {
    throw new Error(`${result.failed} failed of ${result.requests} requests to ${load.origin}${load.path}:\n${output}`);
  }
  const seconds = result.durationUs / 1e6;
  return {
    requestsPerSecond: result.requests / seconds,
    bytesPerSecond: result.bytes / seconds,
    requests: result.requests,
    bytes: result.bytes,
    p50Ms: result.p50Us / 1e3,
    p99Ms: result.p99Us / 1e3,
  };
}

function run(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}:\n${output}`)),
    );
  });
}
