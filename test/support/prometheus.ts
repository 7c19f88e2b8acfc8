import { execFile, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./listening.ts";
import { newFolder } from "./scratch-folder.ts";

const missing = (program: string): Error =>
  new Error(
    `${program} is not installed. Get it with: RUNLEVEL=1 apt-get install -y --no-install-recommends prometheus (Debian).`,
  );

/** Runs promtool in a folder; resolves to its exit code and everything it said. */
export function promtool(args: readonly string[], folder: string): Promise<{ code: number; said: string }> {
  return new Promise((resolve, reject) => {
    execFile("promtool", args, { cwd: folder }, (error, stdout, stderr) => {
      if (error?.code === "ENOENT") reject(missing("promtool"));
      else resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, said: stdout + stderr });
    });
  });
}

/** One result of an instant query. */
interface PrometheusSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A real Prometheus in a scratch folder. */
export interface RunningPrometheus {
  /** @throws Error what the server says of a query that is not valid */
  query(expression: string): Promise<readonly PrometheusSample[]>;
  close(): Promise<void>;
}

/** Starts it with a configuration file on a free port of 127.0.0.1. @throws Error when it does not get ready */
export async function startPrometheus(configFile: string): Promise<RunningPrometheus> {
  const data = newFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    "prometheus",
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  let failure: Error | undefined;
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000);
  });
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      failure = error.code === "ENOENT" ? missing("prometheus") : error;
      resolve();
    });
    child.once("exit", () => {
      failure ??= new Error(`prometheus has ended: ${said}`);
      resolve();
    });
  });
  const close = async (): Promise<void> => {
    if (child.pid !== undefined) child.kill("SIGTERM");
    await ended;
  };
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let tries = 0; !(await isReady()); tries += 1) {
    if (failure === undefined && tries < 600) {
      await sleep(100);
      continue;
    }
    await close();
    throw failure ?? new Error(`prometheus does not get ready: ${said}`);
  }
  return {
    close,
    async query(expression) {
      const response = await fetch(`${url}/api/v1/query`, {
        method: "POST",
        body: new URLSearchParams({ query: expression }),
      });
      const answer = (await response.json()) as {
        readonly status: string;
        readonly error?: string;
        readonly data?: { readonly result: readonly PrometheusSample[] };
      };
      if (answer.status !== "success") throw new Error(answer.error ?? `status ${response.status}`);
      return answer.data?.result ?? [];
    },
  };
}
