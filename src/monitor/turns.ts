/** When an endpoint is to be probed. */
export interface Turn {
  readonly endpoint: string;
  /** Milliseconds since the epoch, whole. */
  readonly atMs: number;
}

/** How often turns come. */
export interface TurnRules {
  /** Milliseconds between two turns of an endpoint, jitter left aside. */
  readonly everyMs: number;
  /** How far a turn may be from its place, as a share of `everyMs`; 0 to 0.5. */
  readonly jitter: number;
}

const twoTo32 = 2 ** 32;

/** FNV-1a over UTF-16 code units, and the last steps of MurmurHash3 that spread what is alike. */
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
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `turnsBetween` for spans that follow each other closely: the turns of an interval are worked out once. */
export type TurnTable = (ids: readonly string[], span: Span) => readonly Turn[];

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
    const found: Turn[] = [];
    for (let number = Math.floor(fromMs / everyMs); number * everyMs < toMs; number += 1) {
      const { turns } = blockOf(ids, number);
      for (let index = firstAfter(turns, fromMs); index < turns.length; index += 1) {
        const turn = turns[index];
        if (turn === undefined || turn.atMs > toMs) break;
        found.push(turn);
      }
    }
    return found;
  };
}

/** Index of the first turn after a moment. */
function firstAfter(turns: readonly Turn[], atMs: number): number {
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((turns[middle]?.atMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
