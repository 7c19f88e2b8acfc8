import { createHash, randomUUID } from "node:crypto";
import { type Static, Type } from "typebox";
import type { Clock } from "../clock.ts";
import { type Collection, createCollection } from "../store/collection.ts";
import { Mirror } from "../store/mirror.ts";
import type { Store } from "../store/store.ts";
import type { Breakers } from "./endpoint-states.ts";
import type { BreakerReport } from "./observer.ts";

/** Options of `BreakerSharing`. */
export interface SharedBreakersOptions {
  readonly breakers: Breakers;
  readonly store: Store;
  readonly clock: Clock;
  /** Endpoints that each process answers itself fail in that process only, and are not shared. */
  readonly isLocal?: (url: string) => boolean;
  readonly onFault: (error: unknown) => void;
}

const text = Type.String({ maxLength: 8_192 });
const schema = Type.Object({
  url: text,
  id: Type.Optional(text),
  /**
   * Remaining cool-down when this was written, in milliseconds: the clocks of processes may differ. 0: the
   * endpoint works again.
   */
  openMs: Type.Number({ minimum: 0 }),
  /** When that was, on the clock of the process that wrote it. */
  atMs: Type.Number(),
  /** Id of the process that wrote it. */
  from: text,
  /** Number of the notice in its process. */
  nth: Type.Number(),
});

/** A change that one process publishes to the others. */
type Notice = Readonly<Static<typeof schema>>;

/** Notices in the store and those that wait to be written: at most 10 MB. Beyond, each process finds out alone. */
const noticesAtMost = 4_000;
const longestOpenMs = 10 * 60_000;
const recoveryKeptMs = 60_000;

const idOf = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 32);
const keptMs = ({ openMs }: Notice): number => Math.max(recoveryKeptMs, openMs);

/**
 * Makes the circuit breakers of all processes of a deployment follow each other: where one finds an endpoint broken the
 * others leave it alone too, and the first whose trial succeeds lets all back. For processes that share their state.
 */
export class BreakerSharing {
  readonly #options: SharedBreakersOptions;
  readonly #self = randomUUID();
  readonly #notices: Collection<Notice>;
  readonly #mirror: Mirror<Notice>;
  readonly #ignore: () => void;
  readonly #following: { stop(): Promise<void> };
  /** Latest notice of each endpoint that is still to be written. */
  readonly #unwritten = new Map<string, Notice>();
  /** The notices that were there before: each is adopted once. */
  #seen: ReadonlyMap<string, Notice> = new Map();
  #written = 0;
  #writing = false;
  #closed = false;

  constructor(options: SharedBreakersOptions) {
    const { breakers, store, clock, onFault } = options;
    this.#options = options;
    this.#notices = createCollection({
      store,
      prefix: "breaker/",
      schema,
      lost: "This process asks an endpoint that others have seen fail.",
    });
    this.#mirror = new Mirror(this.#notices);
    this.#ignore = breakers.onChange((report) => this.#hear(report));
    this.#following = this.#mirror.follow({ clock, onFault, onChange: () => this.#adoptNew() });
  }

  /** Stops it at once. */
  close(): void {
    this.#closed = true;
    this.#ignore();
    this.#unwritten.clear();
    void this.#following.stop();
  }

  /** Ignores states adopted from others, and trials, which are not decided yet. */
  #hear({ url, id, state, openUntilMs, by }: BreakerReport): void {
    const { clock, isLocal } = this.#options;
    if (by === "outside" || state === "half-open" || isLocal?.(url) === true) return;
    const atMs = clock.now();
    const openMs = state === "open" ? Math.max(1, Math.ceil((openUntilMs ?? 0) - atMs)) : 0;
    if (!this.#seen.has(idOf(url)) && this.#unwritten.size + this.#seen.size >= noticesAtMost) return;
    this.#written += 1;
    const notice = { url, openMs, atMs, from: this.#self, nth: this.#written };
    this.#unwritten.set(url, id === undefined ? notice : { ...notice, id });
    if (!this.#writing) void this.#write();
  }

  /** One after the other, so that the last word on an endpoint is written last. A failing store changes nothing. */
  async #write(): Promise<void> {
    this.#writing = true;
    for (const [url, notice] of this.#unwritten) {
      this.#unwritten.delete(url);
      try {
        await this.#notices.put(idOf(url), notice, { ttlMs: keptMs(notice) });
      } catch (error) {
        this.#options.onFault(error);
      }
    }
    this.#writing = false;
  }

  #adoptNew(): void {
    const before = this.#seen;
    this.#seen = new Map(this.#mirror.entries());
    for (const [id, notice] of this.#seen) if (!this.#closed && before.get(id) !== notice) this.#adopt(notice);
  }

  #adopt(notice: Notice): void {
    const { breakers, clock, isLocal } = this.#options;
    const { url, id, openMs, from } = notice;
    if (from === this.#self || isLocal?.(url) === true) return;
    if (openMs === 0) breakers.close(url);
    else breakers.holdOpen({ url, id }, clock.now() + Math.min(openMs - this.#ageOf(notice), longestOpenMs));
  }

  /** How old a notice is; 0 for an age that none can have in the store: then the clocks differ. */
  #ageOf(notice: Notice): number {
    const ageMs = this.#options.clock.now() - notice.atMs;
    return ageMs > 0 && ageMs <= keptMs(notice) ? ageMs : 0;
  }
}
