import { FedwayError } from "../errors/fedway-error.ts";
import type { OwnedRecord, RunRecord, RunStatus } from "./run-log.ts";

/** Which runs are listed, and in which order. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  /** Catalogue id, or URL of one that has none. */
  readonly endpoint?: string | undefined;
  /** Name of a client's key. */
  readonly client?: string | undefined;
  /** Session that its owner chose for it. */
  readonly session?: string | undefined;
  /** Took, or takes by now, at least so long. */
  readonly minMs?: number | undefined;
  /** Began at this moment or later (ISO 8601). */
  readonly since?: string | undefined;
  readonly order?: "newest" | "longest" | undefined;
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** A page of runs; `next` is absent behind the last one. */
export interface ListedRuns<Listed = RunRecord> {
  readonly runs: readonly Listed[];
  readonly next?: string | undefined;
}

interface Place {
  /** When the first page was asked for: what is under way is as old on each page. */
  readonly atMs: number;
  readonly rank: number;
  readonly id: string;
}

/** Milliseconds that a run has taken, by this moment when it is under way. */
export const elapsedMs = (
  { startedAt, durationMs }: Pick<RunRecord, "startedAt" | "durationMs">,
  nowMs: number,
): number => durationMs ?? Math.max(0, nowMs - Date.parse(startedAt));

type Ranked = Pick<Place, "rank" | "id">;

const compare = (a: Ranked, b: Ranked): number => b.rank - a.rank || (a.id < b.id ? 1 : -Number(a.id > b.id));

/** Gathers a page from records in any order; keeps no more of them than the page has. */
export function pageOf(filter: RunFilter, nowMs: number) {
  const { order = "newest", limit = 50, cursor } = filter;
  const from = cursor === undefined ? undefined : placeOf(cursor);
  const atMs = from?.atMs ?? Math.floor(nowMs);
  const rankOf = (record: RunRecord): number =>
    order === "newest" ? Date.parse(record.startedAt) : Math.round(elapsedMs(record, atMs));
  const ranked = (record: OwnedRecord) => ({ record, rank: rankOf(record), id: record.id });
  let kept: ReturnType<typeof ranked>[] = [];
  return {
    add(records: readonly OwnedRecord[]): void {
      const found = records.filter((record) => fits(record, filter, atMs)).map(ranked);
      const behind = from ? found.filter((each) => compare(from, each) < 0) : found;
      kept = [...kept, ...behind].toSorted(compare).slice(0, limit + 1);
    },
    end(): ListedRuns<OwnedRecord> {
      const runs = kept.slice(0, limit);
      const last = kept.length > limit ? runs.at(-1) : undefined;
      return { runs: runs.map(({ record }) => record), next: last && `${atMs}~${last.rank}~${last.id}` };
    },
  };
}

const isOther = (wanted: string | undefined, found: string | undefined): boolean =>
  wanted !== undefined && wanted !== found;

function fits(record: OwnedRecord, { endpoint, minMs = 0, since, ...exact }: RunFilter, atMs: number): boolean {
  const { sources, asked, startedAt, status, client } = record;
  if (isOther(exact.status, status) || isOther(exact.client, client)) return false;
  if (isOther(exact.session, asked?.session) || elapsedMs(record, atMs) < minMs) return false;
  if (since !== undefined && Date.parse(startedAt) < Date.parse(since)) return false;
  return endpoint === undefined || asked?.endpoint === endpoint || sources.some((each) => each.endpoint === endpoint);
}

/** @throws FedwayError `REQUEST_INVALID` */
function placeOf(cursor: string): Place {
  const [, atMs, rank, id] = /^(\d{1,15})~(\d{1,15})~([0-9a-z-]{1,100})$/.exec(cursor) ?? [];
  if (id !== undefined) return { atMs: Number(atMs), rank: Number(rank), id };
  throw new FedwayError("REQUEST_INVALID", "The cursor is not one that a page of runs gave.", {
    next: "Leave it out to begin with the first page.",
  });
}
