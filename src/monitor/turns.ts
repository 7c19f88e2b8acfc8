import { randomUUID } from "node:crypto";
import { type Static, Type } from "typebox";
import { createCollection } from "../store/collection.ts";
import { Mirror } from "../store/mirror.ts";
import type { Store } from "../store/store.ts";
import type { Heartbeat } from "./monitor.ts";

/** When an endpoint is to be probed. */
interface Turn {
  readonly endpoint: string;
  /** Milliseconds since the epoch, whole. */
  readonly atMs: number;
}

/** How often turns come. */
interface TurnRules {
  /** Milliseconds between two turns of an endpoint, jitter left aside. */
  readonly everyMs: number;
  /** How far a turn may be from its place, as a share of `everyMs`; 0 to 0.5. */
  readonly jitter: number;
}

const twoTo32 = 2 ** 32;

/** FNV-1a over UTF-16 code units, and the last steps of MurmurHash3 that spread similar inputs. */
function hashOf(text: string, seed: number): number {
  let hash = seed ^ 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The moment of turn number `n`: a place in the interval that is the endpoint's own, and a jitter that is the turn's own. */
export function turnAtMs(endpoint: string, n: number, { everyMs, jitter }: TurnRules): number {
  const place = (hashOf(endpoint, 0) / twoTo32) * everyMs;
  const away = ((hashOf(endpoint, n + 1) / twoTo32) * 2 - 1) * jitter * everyMs;
  return Math.floor(n * everyMs + place + away);
}

/**
 * The turns with `fromMs < atMs <= toMs`, soonest first. A function of its arguments alone: whoever asks, and however
 * the time is cut into spans, every endpoint has one turn for each interval number and every turn is in one span.
 */
export function turnsBetween(ids: Iterable<string>, rules: TurnRules, span: Span): readonly Turn[] {
  const { everyMs, jitter } = rules;
  const turns: Turn[] = [];
  for (const endpoint of ids) {
    const place = (hashOf(endpoint, 0) / twoTo32) * everyMs;
    const last = Math.ceil((span.toMs - place) / everyMs + jitter);
    for (let n = Math.floor((span.fromMs - place) / everyMs - jitter); n <= last; n += 1) {
      const atMs = turnAtMs(endpoint, n, rules);
      if (atMs > span.fromMs && atMs <= span.toMs) turns.push({ endpoint, atMs });
    }
  }
  return turns.toSorted((left, right) => left.atMs - right.atMs);
}

/** A span of time, its beginning left out, its end included. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `turnsBetween` for spans that follow each other closely: the turns of an interval are worked out once. */
type TurnTable = (ids: readonly string[], span: Span) => readonly Turn[];

interface Block {
  readonly ids: readonly string[];
  readonly number: number;
  readonly turns: readonly Turn[];
}

/** A table that remembers the latest intervals of the list of ids it was asked for last. */
export function createTurnTable(rules: TurnRules): TurnTable {
  const { everyMs } = rules;
  let blocks: readonly Block[] = [];
  const blockOf = (ids: readonly string[], number: number): Block => {
    const known = blocks.find((block) => block.number === number && block.ids === ids);
    if (known !== undefined) return known;
    const span = { fromMs: number * everyMs, toMs: (number + 1) * everyMs };
    const block = { ids, number, turns: turnsBetween(ids, rules, span) };
    blocks = [...blocks.slice(-1), block];
    return block;
  };
  return (ids, { fromMs, toMs }) => {
    const [first, end] = [Math.floor(fromMs / everyMs), Math.ceil(toMs / everyMs)];
    return Array.from({ length: Math.max(0, end - first) }, (_, n) => blockOf(ids, first + n).turns).flatMap((turns) =>
      turns.filter(({ atMs }) => atMs > fromMs && atMs <= toMs),
    );
  };
}

/** Which turns this process has to see to. */
export type TurnClaims = ReturnType<typeof createTurnClaims>;

interface TurnClaimsOptions {
  readonly store: Store;
  readonly table: TurnTable;
  readonly everyMs: number;
}

const claimSchema = Type.Object({
  untilMs: Type.Integer(),
  /** Names the claim, so that its maker knows it again when the store's answer was lost. */
  claim: Type.String(),
});

type Claimed = Static<typeof claimSchema> & { readonly version: number };

/** A document that somebody else wrote counts as one that claims nothing; it is written over. */
const noClaim = { untilMs: Number.NEGATIVE_INFINITY, claim: "" };

/** Clocks of two processes, or one clock before and after it was set, may be apart so far without anything being done. */
const leastSkewMs = 60_000;

/** Claims by compare-and-set on one document. */
export function createTurnClaims({ store, table, everyMs }: TurnClaimsOptions) {
  let held: Claimed | undefined;
  let unsure: { readonly claim: string; readonly span: Span } | undefined;
  // One document, the only one of its collection.
  const claims = createCollection({
    store,
    prefix: "monitor/turns",
    schema: claimSchema,
    lost: "Endpoints may be probed twice in this turn.",
  });
  const read = async (): Promise<Claimed | undefined> => {
    const found = await claims.getVersioned("");
    return found && { ...(found.document ?? noClaim), version: found.version };
  };

  /** The turns of a claim of ours whose success was in doubt. */
  const made = (ids: readonly string[]): readonly Turn[] => {
    const doubtful = unsure;
    unsure = undefined;
    return doubtful !== undefined && held?.claim === doubtful.claim ? latest(table(ids, doubtful.span)) : [];
  };

  return {
    /**
     * Claims the time since the last claim of any process, and gives the turns in it; none when another process was
     * faster. Of several turns of one endpoint, as there may be after a pause, only the latest is given.
     * @throws FedwayError `STORE_FAILED`; a claim that took effect all the same is made good by the next call
     */
    async claim(ids: readonly string[], nowMs: number): Promise<readonly Turn[]> {
      held ??= await read();
      if (unsure !== undefined) return made(ids);
      const span = spanOf(held, nowMs, everyMs);
      if (span === undefined) return [];
      const turns = table(ids, span);
      if (turns.length === 0 && !isWorthWriting(held, nowMs, everyMs)) return [];
      const claim = randomUUID();
      const ifVersion = held?.version ?? 0;
      held = undefined;
      unsure = { claim, span };
      const version = await claims.put("", { untilMs: span.toMs, claim }, { ifVersion });
      unsure = undefined;
      if (version === undefined) return [];
      held = { untilMs: span.toMs, claim, version };
      return latest(turns);
    },
  };
}

/** Time span to claim; undefined when it is claimed already. */
function spanOf(held: Claimed | undefined, nowMs: number, everyMs: number): Span | undefined {
  // There was no probe before: first probes come at their places in the interval, not all at once.
  if (held === undefined) return { fromMs: nowMs, toMs: nowMs };
  // The clock was set back by much: the claim is no longer waited for.
  if (held.untilMs > nowMs + Math.max(everyMs, leastSkewMs)) return { fromMs: nowMs, toMs: nowMs };
  if (held.untilMs >= nowMs) return undefined;
  return { fromMs: Math.max(held.untilMs, nowMs - everyMs), toMs: nowMs };
}

/** Time without a turn is claimed now and then, so that the document shows about when the last process looked. */
function isWorthWriting(held: Claimed | undefined, nowMs: number, everyMs: number): boolean {
  return held === undefined || Math.abs(nowMs - held.untilMs) >= everyMs / 2;
}

/** The last turn of each endpoint. */
function latest(turns: readonly Turn[]): readonly Turn[] {
  const byEndpoint = new Map(turns.map((turn) => [turn.endpoint, turn]));
  return byEndpoint.size === turns.length ? turns : [...byEndpoint.values()];
}

/** Options of a heartbeat. */
interface HeartbeatOptions {
  readonly store: Store;
  readonly enabled: boolean;
  /** Silence that is longer is a gap. */
  readonly quietMs: number;
}

/** Shows all processes if any of them probes. */
export type HeartbeatRepository = ReturnType<typeof createHeartbeat>;

const beatsSchema = Type.Object({
  lastMs: Type.Number(),
  gaps: Type.Array(Type.Object({ fromMs: Type.Number(), toMs: Type.Number() })),
});
type Beats = Static<typeof beatsSchema>;

const writeEveryMs = 10_000;
const mostGaps = 1_000;
const gapsKeptMs = 90 * 24 * 3_600_000;

/** The heartbeat in one document. */
export function createHeartbeat({ store, enabled, quietMs }: HeartbeatOptions) {
  // The only document of its collection.
  const id = "";
  const mirror = new Mirror(
    createCollection({
      store,
      prefix: "monitor/heartbeat",
      schema: beatsSchema,
      lost: "Times in which the monitor did not run are not known.",
    }),
  );
  const beaten = (beats: Beats | undefined, nowMs: number): Beats | undefined => {
    const { lastMs, gaps = [] } = beats ?? {};
    const isFresh = lastMs !== undefined && nowMs - lastMs < writeEveryMs && lastMs - nowMs <= quietMs;
    if (isFresh) return undefined;
    const isGap = lastMs !== undefined && nowMs - lastMs > quietMs;
    const all = isGap ? [...gaps, { fromMs: lastMs, toMs: nowMs }] : gaps;
    return { lastMs: nowMs, gaps: all.filter(({ toMs }) => toMs > nowMs - gapsKeptMs).slice(-mostGaps) };
  };
  return {
    mirror,
    /** Somebody probes now; written at most every 10 s. @throws FedwayError `STORE_FAILED` */
    async beat(nowMs: number): Promise<void> {
      await mirror.change(id, (beats) => beaten(beats, nowMs));
    },
    /** From memory. */
    view(nowMs: number): Heartbeat {
      const { lastMs, gaps = [] } = mirror.get(id) ?? {};
      const alive = !enabled || (lastMs !== undefined && nowMs - lastMs <= quietMs);
      const kept = gaps.filter(({ toMs }) => toMs > nowMs - gapsKeptMs);
      return { enabled, lastMs, gaps: kept, alive };
    },
  };
}
