import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../../shards/src/materialise/manifest.ts";

/** What a process that builds shards is told. */
export interface BuildTask {
  readonly input: string;
  readonly target: string;
  readonly gzip: boolean;
  /** Time that each report of progress takes, so that there is time to be killed in. */
  readonly pauseMs: number;
}

/** The same of a build from a description, `spec.json` in a folder. */
export interface WholeBuildTask extends Pick<BuildTask, "target" | "pauseMs"> {
  readonly folder: string;
}

/** What it says: the phases as they come, and what came of it at the end. */
export type BuildMessage =
  | { readonly phase: string }
  | { readonly manifest: Manifest }
  | { readonly shards: number }
  | { readonly error: string };

const script = fileURLToPath(new URL("killed-builds/build-process.ts", import.meta.url));

/** Starts a build in a process of its own. */
export const startBuild = (task: BuildTask, shell?: string): ChildProcess =>
  shell === undefined
    ? fork(script, [JSON.stringify(task)], { execArgv: [] })
    : // The shell sets limits and becomes the build.
      fork(script, [JSON.stringify(task)], {
        execArgv: ["-c", `${shell}; exec "$@"`, "sh", process.execPath],
        execPath: "/bin/sh",
      });

const wholeScript = fileURLToPath(new URL("killed-builds/whole-build-process.ts", import.meta.url));

/** Starts a build from a description in a process of its own. */
export const startWholeBuild = (task: WholeBuildTask): ChildProcess =>
  fork(wholeScript, [JSON.stringify(task)], { execArgv: [] });

/** How a build ended. */
export interface BuildEnd {
  /** The last phase that it spoke of. */
  readonly phase: string | undefined;
  readonly manifest?: Manifest;
  readonly shards?: number;
  readonly error?: string;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Waits for the end of a build. With `killIn`, it is killed as soon as it is in that phase, or `afterMs` later.
 */
export async function endOf(
  child: ChildProcess,
  kill?: { readonly killIn: string; readonly afterMs: number },
): Promise<BuildEnd> {
  let phase: string | undefined;
  let told: Partial<Pick<BuildEnd, "manifest" | "shards" | "error">> = {};
  child.on("message", (message: BuildMessage) => {
    if (!("phase" in message)) {
      told = message;
      return;
    }
    if (message.phase === phase) return;
    phase = message.phase;
    if (phase === kill?.killIn) void sleep(kill.afterMs).then(() => child.kill("SIGKILL"));
  });
  const [, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return { phase, ...told, signal };
}
