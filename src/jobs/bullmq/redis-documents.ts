import type { Clock } from "../../clock.ts";
import type { JobState } from "../job-queue.ts";
import type { JobDocuments } from "../life/job-core.ts";
import { isOver, type JobRecord, readRecord, type VersionedRecord } from "../life/job-record.ts";
import { asArray, type RedisLink } from "./redis-link.ts";
import { ticketOf } from "./tickets.ts";

/** The documents of a queue in Redis. */
export interface RedisJobDocuments extends JobDocuments {
  /** Newest first. */
  list(wanted: WantedJobs): Promise<readonly JobRecord[]>;
  /** The version of each of these jobs; 0 for one that is not there. */
  versions(ids: readonly string[]): Promise<readonly number[]>;
}

/** Which jobs are listed. */
export interface WantedJobs {
  readonly kind?: string;
  readonly state?: JobState;
  readonly limit: number;
}

/** How long and how many documents are kept. */
export interface RedisDocumentOptions {
  readonly link: () => RedisLink;
  readonly clock: Clock;
  readonly keepFinishedMs: number;
  readonly keepFinished: number;
  readonly leaseMs: number;
}

/** Jobs that one script looks at: a script keeps all other clients of Redis waiting. */
const mostPerScript = 200;

/** The documents of the deployment behind a link. */
export function createRedisDocuments(options: RedisDocumentOptions): RedisJobDocuments {
  const { link, clock, keepFinished, keepFinishedMs, leaseMs } = options;
  return {
    async read(id) {
      return versioned(await link().run("read", id));
    },
    async isOpen(job) {
      return (await link().run("isOpen", job.id, ticketOf(job))) === 1;
    },
    async write(record, ifVersion) {
      const { id, kind, state, order, resultKey = "", finishedAtMs } = record;
      const end = isOver(record) ? (finishedAtMs ?? clock.now()) : "";
      const parent = record.parent === undefined ? "" : ticketOf(record.parent);
      const fields = [kind, state, order, ticketOf(record), resultKey, parent, end] as const;
      const text = JSON.stringify(record);
      const limits = [clock.now(), keepFinishedMs, keepFinished] as const;
      const version = await link().run("write", id, text, `${ifVersion}`, ...fields, ...limits);
      return typeof version === "number" ? version : undefined;
    },
    async writeResult({ id, order, attempts }, text) {
      // Each run has its own key: a run that has lost its job cannot overwrite what its successor gave.
      const key = `result:${id}:${order}:${attempts}`;
      await link().run("keep", key, text, keepFinishedMs);
      return key;
    },
    async readResult(key) {
      const text = await link().run("value", key);
      return typeof text === "string" ? JSON.parse(text) : undefined;
    },
    async removeResult(key) {
      await link().run("forget", key);
    },
    async lease(id, owner) {
      return (await link().run("acquire", id, owner, leaseMs)) === 1;
    },
    async release(id, owner) {
      await link().run("release", id, owner);
    },
    list: (wanted) => list(link(), wanted),
    async versions(ids) {
      const found: number[] = [];
      for (let from = 0; from < ids.length; from += mostPerScript) {
        found.push(...asArray(await link().run("versions", ...ids.slice(from, from + mostPerScript))).map(Number));
      }
      return found;
    },
  };
}

async function list(link: RedisLink, { kind, state, limit }: WantedJobs): Promise<readonly JobRecord[]> {
  // Jobs that come in meanwhile move the others back: those are met twice.
  const found = new Map<string, JobRecord>();
  for (let from = 0, looked = mostPerScript; looked > 0 && found.size < limit; from += looked) {
    const wanted = Math.min(limit - found.size, mostPerScript);
    const [count, ...texts] = asArray(await link.run("list", from, mostPerScript, wanted, kind ?? "", state ?? ""));
    looked = Number(count);
    for (const text of texts) {
      const record = readRecord(String(text));
      if (record !== undefined) found.set(record.id, record);
    }
  }
  return Array.from(found.values());
}

function versioned(answer: unknown): VersionedRecord | undefined {
  if (!Array.isArray(answer)) return undefined;
  const [text, version] = asArray(answer);
  const record = readRecord(String(text));
  return record && { record, version: Number(version) };
}
