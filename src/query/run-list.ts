import { FedwayError } from "../errors/fedway-error.ts";
import { type Static, Type } from "typebox";
import type { Given } from "../shapes.ts";
import { type RunRecord, RunStatus, sessionName } from "./records.ts";
import type { OwnedRecord } from "./run-log.ts";

const words = Type.String({ minLength: 1, maxLength: 500 });

/** The runs to list, and their order. */
export const RunFilter = Type.Partial(
  Type.Object({
    status: RunStatus,
    endpoint: Type.Intersect([words], {
      description: "Catalogue id of an endpoint that was asked; URL of one without.",
    }),
    client: Type.Intersect([words], { description: "Name of the key of the client." }),
    session: Type.Intersect([sessionName], {
      description: "The header Fedway-Session that the query was sent with.",
    }),
    minMs: Type.Integer({ minimum: 0, maximum: 86_400_000, description: "Least milliseconds taken, by now." }),
    since: Type.String({ format: "date-time", description: "Earliest start." }),
    order: Type.Enum(["newest", "longest"], { description: "newest when absent" }),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    cursor: Type.String({ maxLength: 200, description: "`next` of the page before." }),
  }),
  { additionalProperties: false },
);
export type RunFilter = Given<Static<typeof RunFilter>>;

/** A page of runs; `next` is absent behind the last one. */
export interface ListedRuns<Listed = RunRecord> {
  readonly runs: readonly Listed[];
  readonly next?: string | undefined;
}

interface Ranked {
  readonly rank: number;
  readonly id: string;
}

interface Place extends Ranked {
  /** When the first page was requested: pending runs are equally old on each page. */
  readonly atMs: number;
}

/** Milliseconds that a run has taken, by this moment when it is under way. */
export const elapsedMs = ({ startedAt, durationMs }: RunRecord, nowMs: number): number =>
  durationMs ?? Math.max(0, nowMs - Date.parse(startedAt));

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
