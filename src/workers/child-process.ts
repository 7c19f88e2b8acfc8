import { type ChildProcess, fork } from "node:child_process";
import type { Channel, Message } from "./peer.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { constants, setPriority } from "node:os";
import { dirname, parse } from "node:path";

/** How a script of ours is started as a child process. */
interface ForkOptions {
  /** V8 heap of the child in MiB; a child that needs more is aborted by V8, and nothing else is. */
  readonly memoryMb: number;
  /** Half of V8's space for new objects in MiB; a small one keeps a process small that makes many short-lived strings. */
  readonly newSpaceMb?: number;
  readonly args?: readonly string[];
}

/** How a child process ended. */
export interface ChildEnd {
  /** `memory`: V8 aborted it because its heap was full. `killed`: by a signal. `exit`: it exited. */
  readonly reason: "memory" | "killed" | "exit";
  /** The code or signal, and the last lines that it wrote to standard error. */
  readonly detail: string;
}

const STDERR_KEPT = 4_096;

/**
 * Starts a script of ours as a child process with a message channel (structured clone, `Buffer`s included). It gets none
 * of our environment, where secrets are, and no inspector or loader flags, but our cache of compiled code where we have
 * one. The script calls `startChild` first.
 *
 * A process and not a worker thread: V8 aborts the whole process when the heap of a thread overflows in some operations
 * (growing a Map, hashing a string), whatever its `resourceLimits` say.
 */
export function forkScript(script: URL, { memoryMb, newSpaceMb, args = [] }: ForkOptions): ChildProcess {
  const newSpace = newSpaceMb === undefined ? [] : [`--max-semi-space-size=${newSpaceMb}`];
  const child = fork(script, [...args], {
    execArgv: [`--max-old-space-size=${memoryMb}`, ...newSpace],
    env: compileCacheEnv(),
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const { pid } = child;
  if (pid !== undefined) {
    living.set(pid, parse(script.pathname).name);
    for (const end of ["exit", "error"]) child.once(end, () => living.delete(pid));
  }
  return child;
}

/** Names of the scripts of children that live, by their process ids. */
const living = new Map<number, string>();

/** Child processes by script, with the memory of each; undefined where the system does not show it. */
export const childrenNow = (): readonly { readonly script: string; readonly residentBytes: number | undefined }[] =>
  [...living].map(([pid, script]) => ({ script, residentBytes: residentBytesOf(pid) }));

function residentBytesOf(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

/** All that a child or a thread gets as its environment: where this process has a cache of compiled code, that one. */
export function compileCacheEnv(): NodeJS.ProcessEnv {
  const compiled = getCompileCacheDir();
  return compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) };
}

/** Settles when the child has ended or could not be started; never rejects. */
export function childEnd(child: ChildProcess): Promise<ChildEnd> {
  let stderr = "";
  child.stderr?.on("data", (piece: Buffer) => {
    stderr = (stderr + piece.toString()).slice(-STDERR_KEPT);
  });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ reason: "exit", detail: error.message }));
    child.once("exit", (code, signal) => {
      const reason = stderr.includes("heap out of memory") ? "memory" : signal === null ? "exit" : "killed";
      resolve({ reason, detail: `${signal ?? `code ${code}`}\n${stderr}`.trim() });
    });
  });
}

/** The script `name` beside the module `from` (its `import.meta.url`): TypeScript or compiled, as that module is. */
export function scriptBeside(from: string, name: string): URL {
  return new URL(`./${name}.${from.endsWith(".ts") ? "ts" : "js"}`, from);
}

/** The channel to a child process. Messages after its end are dropped: waiting callers are notified of the end. */
export function channelTo(child: ChildProcess): Channel {
  return {
    send(message) {
      if (child.connected) child.send(message, () => {});
    },
    onMessage: (listener) => listen(child, listener),
  };
}

/** The channel of a child process to its parent. */
export function channelToParent(): Channel {
  return {
    send(message) {
      if (process.connected) process.send?.(message, undefined, undefined, () => {});
    },
    onMessage: (listener) => listen(process, listener),
  };
}

function listen(emitter: NodeJS.EventEmitter, listener: (message: Message) => void): void {
  emitter.on("message", listener);
}

/**
 * First step of every script that `forkScript` starts: it ends with its parent and not before. Signals of a terminal or
 * a process manager reach the whole group; the parent decides what they mean, since it may still have answers to send.
 */
export function startChild(): void {
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => process.exit(0));
  try {
    // Where the kernel runs out of memory, a child goes before the service (proc(5), oom_score_adj).
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // Not Linux, or not allowed.
  }
}

/**
 * The service's own loop comes first: what a child computes may wait. A child calls it when it has started: a start that
 * waits behind everything else of a busy host takes minutes.
 */
export const yieldToService = (): void => setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
