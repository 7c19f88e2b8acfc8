import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { makeFolder } from "../../src/make-folder.ts";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { type Guarded, isCount, isShape, isText, parsedAs } from "./guards.ts";

/** How locks are kept. */
interface LockOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Age without a sign of life after which a lock counts as left behind, also when its process seems alive. */
  readonly staleMs?: number;
}

const isHolder = isShape({ pid: isCount, host: isText, token: isText });
type Holder = Guarded<typeof isHolder>;

/** Locks of this process: its own pid in a lock that is not among them is that of a process before it. */
const held = new Set<string>();
const attempts = 5;

/**
 * Takes the lock `<target>.lock`, a file that names process and machine; one that was left behind by a process that is
 * gone is taken over.
 * @throws FedwayError `SHARDS_BUSY` when another build of the same target is under way
 */
export async function lockTarget(target: string, options: LockOptions): Promise<ReturnType<typeof keep>> {
  const path = `${target}.lock`;
  const holder: Holder = { pid: process.pid, host: hostname(), token: randomUUID() };
  await makeFolder(dirname(path));
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    held.add(holder.token);
    if (await claim(path, holder)) return keep(path, holder, options);
    held.delete(holder.token);
    const found = await holderOf(path);
    if (found === undefined) continue;
    if (!(await isStale(path, found, options))) throw busy(found);
    await removeStale(path, found);
  }
  throw busy(undefined);
}

/** The file is never there without its content: it is written aside and linked to its name, which fails when it is taken. */
async function claim(path: string, holder: Holder): Promise<boolean> {
  const aside = `${path}.${holder.token}`;
  await writeFile(aside, JSON.stringify(holder), { flag: "wx" });
  try {
    await link(aside, path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

function keep(path: string, holder: Holder, { now, staleMs = defaultStaleMs }: LockOptions) {
  const lost = new AbortController();
  const beat = async (): Promise<void> => {
    const found = await holderOf(path);
    if (found?.token === holder.token) await utimes(path, now() / 1000, now() / 1000);
    else lost.abort(busy(found));
  };
  // A folder that cannot be reached for a moment is no loss yet; the next beat looks again.
  const timer = setInterval(() => void beat().catch(() => {}), staleMs / 8);
  timer.unref();
  return {
    /** Aborts when another process took the lock over, which happens to one that was stopped for minutes. */
    lost: lost.signal,
    async release(): Promise<void> {
      clearInterval(timer);
      held.delete(holder.token);
      if ((await holderOf(path))?.token === holder.token) await rm(path, { force: true });
    },
  };
}

const defaultStaleMs = 120_000;

async function holderOf(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (parsedAs(text, isHolder) ?? { pid: 0, host: "", token: text });
}

async function isStale(path: string, { pid, host, token }: Holder, options: LockOptions): Promise<boolean> {
  const { now, staleMs = defaultStaleMs } = options;
  if (now() - ((await changedMs(path)) ?? 0) > staleMs) return true;
  if (host !== hostname()) return false;
  return pid === process.pid ? !held.has(token) : !isAlive(pid);
}

function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** One process at a time removes a stale lock: two of them could otherwise remove the one that the first has just taken. */
async function removeStale(path: string, stale: Holder): Promise<void> {
  const guard = `${path}.taking`;
  const isMine = await mkdir(guard).then(
    () => true,
    () => false,
  );
  if (!isMine) return removeOldGuard(guard);
  try {
    if ((await holderOf(path))?.token === stale.token) await rm(path, { force: true });
  } finally {
    await rm(guard, { recursive: true, force: true });
  }
}

const changedMs = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

async function removeOldGuard(guard: string): Promise<void> {
  const mtimeMs = await changedMs(guard);
  if (mtimeMs !== undefined && Date.now() - mtimeMs > 10_000) await rm(guard, { recursive: true, force: true });
}

function busy(holder: Holder | undefined): FedwayError {
  const who = holder === undefined || holder.pid === 0 ? "another process" : `process ${holder.pid}`;
  return new FedwayError("SHARDS_BUSY", `These shards are being built by ${who} already.`, {
    next: "Wait until it is done, or choose another output folder.",
  });
}
