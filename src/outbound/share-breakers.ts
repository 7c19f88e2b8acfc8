import { createHash, randomUUID } from "node:crypto";
import type { Store } from "../store/store.ts";
import type { BreakerReport } from "./observer.ts";
import type { Breakers } from "./endpoint-states.ts";
import { type Clock, every } from "../clock.ts";

/** What breakers are shared with. */
export interface SharedBreakersOptions {
  readonly breakers: Breakers;
  readonly store: Pick<Store, "put" | "list">;
  readonly clock: Clock;
  /** Time between two looks into the store; default 1,000. */
  readonly pollMs?: number;
  /** Endpoints that each process answers itself fail in that process only, and are not shared. */
  readonly isLocal?: (url: string) => boolean;
  /** Called with the first of several failures of the store in a row. */
  readonly onFault: (error: unknown) => void;
}

/** A change that one process tells the others. */
interface Notice {
  readonly url: string;
  readonly id?: string | undefined;
  /**
   * What was left of the cool-down when this was written, in milliseconds: the clocks of processes may differ. 0: the
   * endpoint works again.
   */
  readonly openMs: number;
  /** When that was, on the clock of the process that wrote it; absent in notices of earlier versions. */
  readonly atMs?: number;
  /** Of the process that wrote it. */
  readonly from: string;
  /** Tells its notices apart. */
  readonly nth: number;
}

const prefix = "breaker/";
/** Notices that are looked at; with more open circuits than this, each process finds some out by itself. */
const noticesAtMost = 1_000;
const longestOpenMs = 10 * 60_000;
const defaultPollMs = 1_000;
const recoveryKeptMs = 60_000;

const keyOf = (url: string): string => `${prefix}${createHash("sha256").update(url).digest("hex").slice(0, 32)}`;

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= 8_192;

function isNotice(value: unknown): value is Notice {
  if (typeof value !== "object" || value === null) return false;
  const { url, id, openMs, atMs, from, nth }: Partial<Record<keyof Notice, unknown>> = value;
  if (atMs !== undefined && typeof atMs !== "number") return false;
  if (!isText(url) || !isText(from) || (id !== undefined && !isText(id))) return false;
  return typeof nth === "number" && typeof openMs === "number" && openMs >= 0;
}

/** What another process wrote; undefined for what no version of this service would write. */
function readNotice(text: string): Notice | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isNotice(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Kept for as long as it takes the others to look. */
const ttlOf = ({ openMs }: Notice, pollMs: number): number =>
  Math.max(3 * pollMs, openMs === 0 ? recoveryKeptMs : openMs);

class BreakerSharing {
  readonly #options: SharedBreakersOptions;
  readonly #self = randomUUID();
  readonly #ignore: () => void;
  /** Latest notice of each endpoint that is still to be written. */
  readonly #unwritten = new Map<string, Notice>();
  /** Text of the notices that the last look found: each is adopted once. */
  #seen: ReadonlyMap<string, string> | undefined;
  /** When that was; before the first look the start. */
  #lookedMs: number;
  #written = 0;
  #writing = false;
  #failing = false;
  #closed = false;
  readonly #looking: { stop(): Promise<void> };

  constructor(options: SharedBreakersOptions) {
    this.#options = options;
    this.#lookedMs = options.clock.now();
    this.#ignore = options.breakers.onChange((report) => this.#hear(report));
    const { clock, pollMs = defaultPollMs, onFault } = options;
    this.#looking = every(pollMs, () => this.#look(), { clock, onFault, firstAfterMs: pollMs });
  }

  close(): void {
    this.#closed = true;
    this.#ignore();
    this.#unwritten.clear();
    void this.#looking.stop();
  }

  /** Ignores what was adopted from others, and trials, which are not decided yet. */
  #hear({ url, id, state, openUntilMs, by }: BreakerReport): void {
    const { clock, isLocal } = this.#options;
    if (by === "outside" || state === "half-open" || isLocal?.(url) === true) return;
    const atMs = clock.now();
    const openMs = state === "open" ? Math.max(1, Math.ceil((openUntilMs ?? 0) - atMs)) : 0;
    if (this.#unwritten.size >= noticesAtMost) return;
    this.#written += 1;
    this.#unwritten.set(url, { url, id, openMs, atMs, from: this.#self, nth: this.#written });
    if (!this.#writing) void this.#write();
  }

  /** One after the other, so that the last word on an endpoint is written last. */
  async #write(): Promise<void> {
    this.#writing = true;
    const { store, pollMs = defaultPollMs } = this.#options;
    for (const [url, notice] of this.#unwritten) {
      this.#unwritten.delete(url);
      const ttlMs = ttlOf(notice, pollMs);
      await this.#guarded(() => store.put(keyOf(url), JSON.stringify(notice), { ttlMs }));
    }
    this.#writing = false;
  }

  async #look(): Promise<void> {
    const found = await this.#guarded(() => this.#options.store.list(prefix, { limit: noticesAtMost }));
    if (found === undefined || this.#closed) return;
    const before = this.#seen;
    const newMs = this.#newMs();
    this.#lookedMs = this.#options.clock.now();
    this.#seen = new Map(found.map(({ key, value }) => [key, value]));
    for (const { key, value } of found) if (before?.get(key) !== value) this.#adopt(readNotice(value), newMs);
  }

  /**
   * The age up to which a notice that is found now counts as new. Where one look follows the other all are, whatever the
   * clocks of their writers say; at first those since the start are, and after a longer time without looks none is.
   */
  #newMs(): number {
    const { clock, pollMs = defaultPollMs } = this.#options;
    const gapMs = clock.now() - this.#lookedMs;
    if (gapMs > 3 * pollMs) return 0;
    return this.#seen === undefined ? gapMs : Number.POSITIVE_INFINITY;
  }

  #adopt(notice: Notice | undefined, newMs: number): void {
    const { breakers, clock, isLocal } = this.#options;
    if (notice === undefined || notice.from === this.#self || isLocal?.(notice.url) === true) return;
    if (notice.openMs === 0) breakers.close(notice.url);
    else breakers.holdOpen(notice, clock.now() + Math.min(notice.openMs - this.#ageOf(notice, newMs), longestOpenMs));
  }

  /** How old a notice is; 0 when it is new, or of an age that none can have in the store: then the clocks differ. */
  #ageOf(notice: Notice, newMs: number): number {
    const { clock, pollMs = defaultPollMs } = this.#options;
    const ageMs = clock.now() - (notice.atMs ?? clock.now());
    return ageMs > newMs && ageMs <= ttlOf(notice, pollMs) ? ageMs : 0;
  }

  /** A failing store changes nothing. */
  async #guarded<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      const value = await work();
      this.#failing = false;
      return value;
    } catch (error) {
      if (!this.#failing && !this.#closed) this.#options.onFault(error);
      this.#failing = true;
      return undefined;
    }
  }
}

/**
 * Makes the circuit breakers of all processes of a deployment follow each other, at most one look into the store late:
 * where one finds an endpoint broken the others leave it alone too, and the first whose trial succeeds lets all back.
 * For processes that share their state; a single one has nobody to tell. `close` stops it at once.
 */
export function shareBreakers(options: SharedBreakersOptions): { close(): void } {
  return new BreakerSharing(options);
}
