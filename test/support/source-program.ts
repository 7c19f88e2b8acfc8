import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The service as a process of its own, run from its sources. */
export interface SourceProgram {
  /** Everything written to standard error so far. */
  log(): string;
  /** The URL at which it listens; rejects when it ends before. */
  readonly url: Promise<string>;
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>;
  /** Sends SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
}

async function announced(child: ChildProcess, log: () => string): Promise<string> {
  for (;;) {
    const [, url] = /listens at (http:\/\/\S+)/.exec(log()) ?? [];
    if (url !== undefined) return url;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It has ended: ${log()}`);
    await sleep(50);
  }
}

/** Starts `src/main.ts` with nothing in its environment but what is given. */
export function startSourceProgram(env: Readonly<Record<string, string>>): SourceProgram {
  const child = spawn(process.execPath, ["--import", "tsx", "src/main.ts"], {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const log = (): string => text;
  const ended = once(child, "close").then(() => child.exitCode);
  return {
    log,
    ended,
    get url() {
      return announced(child, log);
    },
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
