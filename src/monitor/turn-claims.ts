import { randomUUID } from "node:crypto";
import type { Store } from "../store/store.ts";
import { parseRecord } from "./observation-text.ts";
import type { Span, Turn, TurnTable } from "./turns.ts";

/** Which turns this process has to see to. */
export interface TurnClaims {
  /**
   * Claims the time since the last claim of any process, and gives the turns in it; none when another process was
   * faster. Of several turns of one endpoint, as there may be after a pause, only the latest is given.
   * @throws FedwayError `STORE_FAILED`; a claim that took effect all the same is made good by the next call
   */
  claim(ids: readonly string[], nowMs: number): Promise<readonly Turn[]>;
}

/** What claims are made of. */
export interface TurnClaimsOptions {
  readonly store: Pick<Store, "get" | "put">;
  readonly table: TurnTable;
  readonly everyMs: number;
}

interface Claimed {
  readonly untilMs: number;
  /** Names the claim, so that its maker knows it again when the store's answer was lost. */
  readonly claim: string;
  readonly version: number;
}

const key = "monitor/turns";
/** Clocks of two processes, or one clock before and after it was set, may be apart so far without anything being done. */
const leastSkewMs = 60_000;

/** Claims by compare-and-set on one document. */
export function createTurnClaims({ store, table, everyMs }: TurnClaimsOptions): TurnClaims {
  let held: Claimed | undefined;
  let unsure: { readonly claim: string; readonly span: Span } | undefined;
  const read = async (): Promise<Claimed | undefined> => {
    const document = await store.get(key);
    return document && claimedOf(document.value, document.version);
  };

  /** The turns of a claim of ours whose success was in doubt. */
  const made = (ids: readonly string[]): readonly Turn[] => {
    const doubtful = unsure;
    unsure = undefined;
    return doubtful !== undefined && held?.claim === doubtful.claim ? latest(table(ids, doubtful.span)) : [];
  };

  return {
    async claim(ids, nowMs) {
      held ??= await read();
      if (unsure !== undefined) return made(ids);
      const span = spanOf(held, nowMs, everyMs);
      if (span === undefined) return [];
      const turns = table(ids, span);
      if (turns.length === 0 && !isWorthWriting(held, nowMs, everyMs)) return [];
      const claim = randomUUID();
      const value = JSON.stringify({ untilMs: span.toMs, claim });
      const ifVersion = held?.version ?? 0;
      held = undefined;
      unsure = { claim, span };
      const version = await store.put(key, value, { ifVersion });
      unsure = undefined;
      if (version === undefined) return [];
      held = { untilMs: span.toMs, claim, version };
      return latest(turns);
    },
  };
}

/** What there is to claim; undefined when it is claimed already. */
function spanOf(held: Claimed | undefined, nowMs: number, everyMs: number): Span | undefined {
  if (held === undefined) return { fromMs: nowMs - everyMs, toMs: nowMs };
  // The clock was set back by much: what was claimed is no longer to be waited for.
  if (held.untilMs > nowMs + Math.max(everyMs, leastSkewMs)) return { fromMs: nowMs, toMs: nowMs };
  if (held.untilMs >= nowMs) return undefined;
  return { fromMs: Math.max(held.untilMs, nowMs - everyMs), toMs: nowMs };
}

/** Time without a turn is claimed now and then, so that the document tells about when the last process looked. */
function isWorthWriting(held: Claimed | undefined, nowMs: number, everyMs: number): boolean {
  return held === undefined || Math.abs(nowMs - held.untilMs) >= everyMs / 2;
}

/** The last turn of each endpoint. */
function latest(turns: readonly Turn[]): readonly Turn[] {
  const byEndpoint = new Map(turns.map((turn) => [turn.endpoint, turn]));
  return byEndpoint.size === turns.length ? turns : [...byEndpoint.values()];
}

/** A document that somebody else wrote counts as one that claims nothing; it is written over. */
function claimedOf(value: string, version: number): Claimed {
  const { untilMs, claim } = parseRecord(value) ?? {};
  const readable = Number.isSafeInteger(untilMs) && typeof claim === "string";
  return { untilMs: readable ? Number(untilMs) : Number.NEGATIVE_INFINITY, claim: String(claim), version };
}
