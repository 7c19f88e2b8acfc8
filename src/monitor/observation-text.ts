import type { Observation } from "./monitor.ts";
import { isFaultKind } from "./fault-counts.ts";

/** An observation as it is kept, without its moment. Whatever is as usual is left out: most are `{"m":12.3}`. */
interface Kept {
  /** Milliseconds. */
  readonly m: number;
  /** 0: not ok. */
  readonly k?: 0;
  readonly f?: string;
  /** HTTP status. */
  readonly s?: number;
  readonly d?: string;
  /** Tries, when not one. */
  readonly t?: number;
  /** Source, when not `turn`. */
  readonly o?: "early" | "traffic";
  /** 1: in maintenance. */
  readonly w?: 1;
}

const mostDetail = 300;

/** To a hundredth of a millisecond: more digits are noise and take room. */
const rounded = (ms: number): number => Math.round(ms * 100) / 100;

/** The first characters of a text, no surrogate pair cut in two: the store takes well-formed text only. */
const bounded = (detail: string): string => detail.slice(0, mostDetail).toWellFormed();

/** An observation as JSON text. */
export function encodeObservation(observation: Observation): string {
  const { ms, ok, fault, status, detail, tries, source, maintenance } = observation;
  const kept: Kept = {
    m: rounded(ms),
    ...(!ok && { k: 0 as const }),
    ...(fault !== undefined && { f: fault }),
    ...(status !== undefined && { s: status }),
    ...(detail !== undefined && { d: bounded(detail) }),
    ...(tries !== 1 && { t: tries }),
    ...(source !== "turn" && { o: source }),
    ...(maintenance && { w: 1 as const }),
  };
  return JSON.stringify(kept);
}

/** What `encodeObservation` wrote; undefined when it is something else. */
export function decodeObservation(atMs: number, text: string): Observation | undefined {
  const kept = parseRecord(text);
  if (kept === undefined) return undefined;
  const { m, k, f, s, d, t = 1, o = "turn", w } = kept;
  if (typeof m !== "number" || typeof t !== "number" || !isSource(o)) return undefined;
  return {
    atMs,
    ok: k !== 0,
    ms: m,
    ...(isFaultKind(f) && { fault: f }),
    ...(typeof s === "number" && { status: s }),
    ...(typeof d === "string" && { detail: d }),
    tries: t,
    source: o,
    ...(w === 1 && { maintenance: true as const }),
  };
}

const isSource = (value: unknown): value is Observation["source"] =>
  value === "turn" || value === "early" || value === "traffic";

type Fields = Readonly<Partial<Record<string, unknown>>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** JSON text of an object; undefined when it is none. */
export function parseRecord(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
