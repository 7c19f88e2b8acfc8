import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Ledger, RunStep } from "./ledger.ts";
import type { WorkPlace } from "./open-work.ts";

/** What a worker process is told at its start. */
export interface WorkerTask extends WorkPlace {
  /** File of the ledger. */
  readonly ledger: string;
  /** Folder of the effects of jobs, and one for effects in the making. */
  readonly effects: string;
  readonly drafts: string;
  /** Enqueues jobs, too: a few at the start, and one for each that ends. */
  readonly feeds: boolean;
}

/** What a worker process is told later. */
export type WorkerMessage =
  | { readonly order: "go" | "drain" }
  /** The next stamp that comes so far stays there. */
  | { readonly order: "hold"; readonly at: RunStep };

/** A process that runs jobs. */
export interface WorkerProcess {
  readonly name: string;
  tell(message: WorkerMessage): void;
  /** Looks again and again until it is so. @throws Error when the process ends before */
  until(isSo: () => boolean, everyMs?: number): Promise<void>;
  /** SIGKILL; resolves when the process is gone, which is noted. */
  kill(): Promise<void>;
  /** Resolves to the exit code when all jobs have ended. */
  drain(): Promise<number | null>;
}

/** Worker processes, one after the other. */
export interface WorkerFleet {
  /** Sends a new one to work; resolves when it works. */
  deploy(): Promise<WorkerProcess>;
  /** Ends all that are left. */
  close(): Promise<void>;
}

const program = fileURLToPath(new URL("worker.ts", import.meta.url));

/** Keeps a process or two ready, so that a killed one is replaced at once. */
export function createWorkerFleet(task: Omit<WorkerTask, "name">, ledger: Ledger): WorkerFleet {
  const ready: { readonly name: string; readonly child: ChildProcess; readonly loaded: Promise<unknown> }[] = [];
  const all: ChildProcess[] = [];
  const begin = (): void => {
    const name = `worker-${all.length + 1}`;
    const text = JSON.stringify({ ...task, name } satisfies WorkerTask);
    const child = fork(program, [text], { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
    all.push(child);
    ready.push({ name, child, loaded: once(child, "message") });
  };
  begin();
  begin();
  return {
    async deploy() {
      begin();
      const next = ready.shift();
      if (next === undefined) throw new Error("There is no process left");
      await next.loaded;
      const working = once(next.child, "message");
      const worker = workerOf(next.name, next.child, ledger);
      worker.tell({ order: "go" });
      let works = false;
      void working.then(() => (works = true));
      await worker.until(() => works);
      return worker;
    },
    async close() {
      await Promise.all(all.map(end));
    },
  };
}

const isGone = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

async function end(child: ChildProcess): Promise<void> {
  if (isGone(child)) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

function workerOf(name: string, child: ChildProcess, ledger: Ledger): WorkerProcess {
  const tell = (message: WorkerMessage): void => void child.send(message);
  return {
    name,
    tell,
    async until(isSo, everyMs = 5) {
      while (!isSo()) {
        if (isGone(child)) throw new Error(`${name} has ended: ${child.exitCode ?? child.signalCode}`);
        await sleep(everyMs);
      }
    },
    async kill() {
      await end(child);
      ledger.note({ worker: name, step: "killed" });
    },
    async drain() {
      const gone = once(child, "exit");
      tell({ order: "drain" });
      const [code] = await gone;
      return code as number | null;
    },
  };
}
