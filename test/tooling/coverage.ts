/**
 * What of `src/` and `shards/src/` runs: V8's precise coverage of this process, and of its children and their threads, which import this
 * file too (with the folder of their reports as the query of its URL).
 */
import childProcess from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { stripTypeScriptTypes, syncBuiltinESMExports } from "node:module";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import workerThreads, { isMainThread, parentPort, threadId } from "node:worker_threads";

/** A file's lines and functions by their places, such as `src/app.ts` and `L12`, `F340`; comments and empty lines are none. */
export type Visited = ReadonlyMap<string, ReadonlySet<string>>;

type Script = Profiler.ScriptCoverage;

const root = new URL("../../", import.meta.url).href;
const isOurs = ({ url }: Script): boolean => url.startsWith(`${root}src/`) || url.startsWith(`${root}shards/src/`);
const session = new Session();

function begin(): void {
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
}

/** All since the last call; the call sets V8's counters back to 0. */
function take(): readonly Script[] {
  let scripts: readonly Script[] = [];
  session.post("Profiler.takePreciseCoverage", (_, taken) => (scripts = taken?.result.filter(isOurs) ?? []));
  return scripts;
}

/** Lines of a file by offset; lines without code have none. */
const sources = new Map<string, { readonly lineAt: Uint32Array; readonly code: ReadonlySet<number> }>();

function sourceOf(url: string) {
  const known = sources.get(url);
  if (known !== undefined) return known;
  // V8 compiled the same text: types are blanked, so that all offsets stay.
  const text = stripTypeScriptTypes(readFileSync(fileURLToPath(url), "utf8"));
  const lineAt = new Uint32Array(text.length);
  const code = new Set<number>();
  let offset = 0;
  for (const [index, line] of text.split("\n").entries()) {
    lineAt.fill(index + 1, offset, offset + line.length + 1);
    offset += line.length + 1;
    if (!/^\s*(?:$|\/\/|\/\*|\*(?:\s|\/|$))/u.test(line)) code.add(index + 1);
  }
  const source = { lineAt, code };
  sources.set(url, source);
  return source;
}

function visitedOf({ url, functions }: Script): ReadonlySet<string> {
  const { lineAt, code } = sourceOf(url);
  const places = new Set<string>();
  const counts = new Float64Array(lineAt.length);
  // The function at offset 0 is the module itself, which runs once, when it is loaded.
  const inner = functions.filter(({ ranges: [whole] }) => whole!.startOffset > 0);
  for (const { ranges } of inner) if (ranges[0]!.count > 0) places.add(`F${ranges[0]!.startOffset}`);
  const size = (range: Profiler.CoverageRange): number => range.endOffset - range.startOffset;
  const ranges = inner.flatMap((each) => each.ranges).toSorted((one, other) => size(other) - size(one));
  for (const { startOffset, endOffset, count } of ranges) counts.fill(count, startOffset, endOffset);
  for (const [offset, count] of counts.entries()) {
    const line = lineAt[offset]!;
    if (count > 0 && code.has(line)) places.add(`L${line}`);
  }
  return places;
}

function addTo(all: Map<string, Set<string>>, scripts: readonly Script[]): boolean {
  let isNew = false;
  for (const script of scripts) {
    const found = visitedOf(script);
    if (found.size === 0) continue;
    isNew = true;
    const file = script.url.slice(root.length);
    all.set(file, (all.get(file) ?? new Set()).union(found));
  }
  return isNew;
}

/** Runs in a child process: a report at each SIGUSR2 and at its end. In a thread, which may be ended at any time: at each message. */
function reportTo(folder: string): void {
  begin();
  // A child that yields to others gets no time on a busy machine.
  os.setPriority = () => {};
  syncBuiltinESMExports();
  let reports = 0;
  const report = (): void => {
    const name = join(folder, `${process.pid}-${threadId}-${reports++}`);
    writeFileSync(`${name}.part`, JSON.stringify(take()));
    renameSync(`${name}.part`, `${name}.json`);
  };
  process.on("exit", report);
  if (isMainThread) process.on("SIGUSR2", report);
  // Who has reported once takes the signal.
  report();
  if (parentPort !== null) {
    const post = parentPort.postMessage.bind(parentPort);
    parentPort.postMessage = (...message: Parameters<typeof post>) => {
      report();
      post(...message);
    };
  }
}

/** Children and threads that are started from now on write reports; they get no flags of ours otherwise. */
function followStarts(folder: string, onFork: (child: childProcess.ChildProcess) => void): void {
  const flags = ["--import", `${import.meta.url.split("?")[0]}?reports=${encodeURIComponent(folder)}`];
  const { fork } = childProcess;
  childProcess.fork = ((script: string | URL, args: readonly string[], options: childProcess.ForkOptions) => {
    const child = fork(script, args, { ...options, execArgv: [...(options.execArgv ?? []), ...flags] });
    onFork(child);
    return child;
  }) as typeof fork;
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(script: string | URL, options: workerThreads.WorkerOptions) {
      super(script, { ...options, execArgv: [...(options.execArgv ?? []), ...flags] });
    }
  };
  syncBuiltinESMExports();
}

/** Timers that were set before a request do not go off while it is measured: background work is no part of it. */
class HeldTimers {
  #held: (() => void)[] | undefined;
  #round = 0;

  constructor() {
    const { setInterval: repeat, setTimeout: set } = globalThis;
    type Run = (...given: unknown[]) => void;
    globalThis.setTimeout = ((run: Run, ms?: number, ...given: unknown[]) => {
      const round = this.#round;
      return set(() => {
        if (this.#held === undefined || round === this.#round) run(...given);
        else this.#held.push(() => run(...given));
      }, ms);
    }) as typeof set;
    Object.defineProperties(globalThis.setTimeout, Object.getOwnPropertyDescriptors(set));
    globalThis.setInterval = ((run: Run, ms?: number, ...given: unknown[]) => {
      const round = this.#round;
      return repeat(() => {
        if (this.#held === undefined || round === this.#round) run(...given);
      }, ms);
    }) as typeof repeat;
  }

  hold(): void {
    this.#round += 1;
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const run of held) run();
  }
}

/** Measures what requests visit; to be made before anything of `src/` is loaded. */
export function startCoverage() {
  const folder = mkdtempSync(join(tmpdir(), "fedway-walks-"));
  const children = new Set<childProcess.ChildProcess>();
  const ready = new WeakSet<childProcess.ChildProcess>();
  begin();
  followStarts(folder, (child) => {
    children.add(child);
    child.once("exit", () => children.delete(child));
  });
  const timers = new HeldTimers();

  function read(): readonly Script[] {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => {
        const path = join(folder, name);
        for (const child of children) if (name.startsWith(`${child.pid}-0-`)) ready.add(child);
        const scripts = JSON.parse(readFileSync(path, "utf8")) as Script[];
        rmSync(path);
        return scripts;
      });
  }

  async function reports(): Promise<readonly Script[]> {
    const earlier = read();
    const asked = [...children].filter((child) => ready.has(child) && child.connected && child.kill("SIGUSR2"));
    const hasAnswered = (child: childProcess.ChildProcess): boolean =>
      !children.has(child) || readdirSync(folder).some((name) => name.startsWith(`${child.pid}-0-`));
    while (!asked.every(hasAnswered) || readdirSync(folder).some((name) => name.endsWith(".part"))) await sleep(20);
    return [...earlier, ...read()];
  }

  return {
    /**
     * What runs from the start of a request until nothing has run for 300 ms, of a job 1 s; or, `inChild`, until a child that it
     * started has ended.
     */
    async visited({ request, isJob, inChild, timers: isTimed }: Measured): Promise<readonly [Visited, Visited]> {
      const here = new Map<string, Set<string>>();
      const there = new Map<string, Set<string>>();
      const before = children.size;
      let hasStarted = false;
      await reports();
      take();
      if (!isTimed) timers.hold();
      await request();
      for (let isBusy = true; isBusy; ) {
        await sleep(isJob ? 1_000 : 300);
        const isRunning = children.size > before;
        hasStarted ||= isRunning;
        const isActive = [addTo(here, take()), addTo(there, await reports())].includes(true);
        isBusy = inChild ? isRunning || !hasStarted : isActive;
      }
      timers.release();
      return [here, there];
    },
    close: (): void => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A request that is measured. */
interface Measured {
  readonly request: () => Promise<unknown>;
  /** It goes on after its answer, with pauses. */
  readonly isJob: boolean;
  readonly inChild: boolean;
  /** Those that were set before go off too. */
  readonly timers: boolean;
}

const folderOfReports = new URL(import.meta.url).searchParams.get("reports");
if (folderOfReports !== null) reportTo(folderOfReports);
