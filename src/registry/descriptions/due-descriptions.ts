import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { JobKind, JobSchedule } from "../../jobs/job-queue.ts";
import type { CatalogEntry, EditableCatalog } from "../catalog/catalog.ts";
import type { DescriptionService } from "./description-service.ts";

/** Which endpoints are described automatically: all that may be, hosted ones, none. */
export type DescribedEndpoints = "on" | "hosted" | "off";

interface DueOptions {
  readonly catalog: Pick<EditableCatalog, "byId" | "entries" | "authorship" | "onChange">;
  readonly descriptions: Pick<DescriptionService, "request" | "lastRun">;
  /** True for URLs of this process. */
  readonly isHosted: (url: string) => boolean;
  /** True for URLs of this process or of the operator's own network. */
  readonly isOwn: (url: string) => boolean;
  /** True if an endpoint is to be left alone now: it is down, in maintenance, or its breaker is open. */
  readonly isResting: (entry: CatalogEntry) => boolean;
  readonly clock: Pick<Clock, "now">;
  /** Milliseconds after which a description proves nothing any more; 0: none ever does. */
  readonly maxAgeMs: number;
  readonly described: DescribedEndpoints;
  readonly onFault: (error: unknown) => void;
}

const kindName = "describe-due";
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const weekMs = 7 * dayMs;
/** Unfinished work is gone on with after as long as it has taken so far, wrong facts are renewed ever later, within these bounds. */
const [shortestWaitMs, longestWaitMs] = [10 * minuteMs, dayMs];
const mostEntries = 10_000;

/**
 * Has endpoints described automatically. Hosted endpoints, those of the operator's own network and those that were registered over
 * the API are described when they come, and again before their facts are too old. Public endpoints of catalogue files are
 * described when a query has used them, and at most once a week. A description that is under way in any process is not
 * asked for again.
 */
export class DueDescriptions {
  /** Looks for endpoints whose descriptions are due; one process of several does. */
  readonly schedule: JobSchedule = { name: kindName, kind: kindName, payload: {}, everyMs: minuteMs };
  readonly kind: JobKind = {
    name: kindName,
    validate: () => undefined,
    run: (_payload, { signal }) => this.#sweep(signal),
  };
  readonly #options: DueOptions;
  /** Entries that were looked at, and until when they need not be again. */
  readonly #settled = new LRUCache<string, { readonly entry: CatalogEntry; readonly untilMs: number }>({
    max: mostEntries,
  });
  /** When descriptions with wrong facts may be made anew again, and how long that was to wait. */
  readonly #renewals = new LRUCache<string, { readonly dueMs: number; readonly waitMs: number }>({ max: mostEntries });
  readonly #waiting = new Set<string>();
  /** Hosted endpoints whose first description was asked for, and when. */
  readonly #first = new Map<string, number>();
  #working: Promise<void> | undefined;
  /** Set while it is started. */
  #ignore: (() => void) | undefined;

  constructor(options: DueOptions) {
    this.#options = options;
  }

  /**
   * From now on, looks at entries when they come, change or are used. Not before the queue is started.
   * @param isAlone no other process does: those that are there are looked at now, not with the next turn of the schedule
   */
  start(isAlone: boolean): void {
    const { catalog, described } = this.#options;
    if (described === "off" || this.#ignore !== undefined) return;
    const look = (): void => this.#add(catalog.entries.filter((entry) => this.#isRegistered(entry)));
    this.#ignore = catalog.onChange(look);
    if (isAlone) look();
  }

  /** A query has asked these endpoints, by catalogue id. */
  used(ids: readonly string[]): void {
    const { catalog, described } = this.#options;
    if (described === "on") this.#add(ids.flatMap((id) => catalog.byId(id) ?? []).filter(({ builtIn }) => !builtIn));
  }

  /**
   * The facts of an endpoint were found to be wrong: describes it anew. A public one not before its time, unless none is
   * described automatically; one whose facts do not hold as long as it waited, later each time.
   * @throws FedwayError as `DescriptionService.request`
   */
  async renew(id: string): Promise<void> {
    const { catalog, descriptions, described, isOwn, clock } = this.#options;
    const entry = catalog.byId(id);
    if (entry === undefined || (described === "on" && !this.#isRegistered(entry))) return;
    const now = clock.now();
    const { dueMs, waitMs } = this.#renewals.get(id) ?? { dueMs: now, waitMs: 0 };
    if (now < dueMs) return;
    await descriptions.request(id, { again: true, isPolite: !isOwn(entry.url) });
    const nextMs =
      now - dueMs > waitMs ? shortestWaitMs : Math.min(Math.max(2 * waitMs, shortestWaitMs), longestWaitMs);
    this.#renewals.set(id, { dueMs: now + nextMs, waitMs: nextMs });
  }

  /** Hosted endpoints that are being described for the first time, by catalogue id. @throws FedwayError `STORE_FAILED` */
  async describedFirst(): Promise<readonly string[]> {
    const { clock, descriptions } = this.#options;
    for (const [id, sinceMs] of this.#first) {
      const isOver = clock.now() - sinceMs > shortestWaitMs || (await descriptions.lastRun(id)) !== undefined;
      if (isOver) this.#first.delete(id);
    }
    return [...this.#first.keys()];
  }

  async close(): Promise<void> {
    this.#ignore?.();
    this.#ignore = undefined;
    await this.#working;
  }

  #isRegistered({ id, url }: CatalogEntry): boolean {
    const { catalog, described, isHosted, isOwn } = this.#options;
    if (described === "hosted") return isHosted(url);
    return isOwn(url) || catalog.authorship("endpoint", id)?.origin === "api";
  }

  async #sweep(signal: AbortSignal): Promise<{ readonly requested: number }> {
    let requested = 0;
    for (const entry of this.#options.catalog.entries) {
      if (!signal.aborted && this.#isRegistered(entry) && (await this.#look(entry))) requested += 1;
    }
    return { requested };
  }

  #add(entries: readonly CatalogEntry[]): void {
    if (this.#ignore === undefined) return;
    for (const entry of entries) {
      if (!this.#isSettled(entry) && this.#waiting.size < mostEntries) this.#waiting.add(entry.id);
    }
    // With nothing waiting it would end before it is noted as under way, and be noted for ever.
    if (this.#waiting.size > 0) this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    for (const id of this.#waiting) {
      this.#waiting.delete(id);
      const entry = this.#options.catalog.byId(id);
      if (entry !== undefined && this.#ignore !== undefined) await this.#look(entry).catch(this.#options.onFault);
    }
    this.#working = undefined;
  }

  #isSettled(entry: CatalogEntry): boolean {
    const known = this.#settled.get(entry.id);
    return known?.entry === entry && known.untilMs > this.#options.clock.now();
  }

  /** Has an endpoint described if that is due; says whether it was. */
  async #look(entry: CatalogEntry): Promise<boolean> {
    const { descriptions, isHosted, isOwn, isResting, clock } = this.#options;
    if (entry.interface !== "sparql" || this.#isSettled(entry) || isResting(entry)) return false;
    const { id, url } = entry;
    const { at, anew } = await this.#due(entry);
    const now = clock.now();
    this.#settled.set(id, { entry, untilMs: at <= now ? now + shortestWaitMs : at });
    if (at > now) return false;
    await descriptions.request(id, { priority: -1, again: anew <= now, isPolite: !isOwn(url) });
    if (at === 0 && isHosted(url)) this.#first.set(id, now);
    return true;
  }

  /** When an endpoint may be described next, and from when on unfinished work is too old, in milliseconds since the epoch. */
  async #due(entry: CatalogEntry): Promise<{ readonly at: number; readonly anew: number }> {
    const { catalog, descriptions, maxAgeMs } = this.#options;
    const last = await descriptions.lastRun(entry.id);
    if (last === undefined) return { at: 0, anew: 0 };
    const { finishedMs, startedMs, unfinished } = last;
    const anew = startedMs + (6 / 7) * (maxAgeMs || weekMs);
    if (!this.#isRegistered(entry)) return { at: Math.max(finishedMs + weekMs, anew), anew };
    const changedMs = Date.parse(catalog.authorship("endpoint", entry.id)?.changedAt ?? "");
    if (startedMs < changedMs) return { at: 0, anew: 0 };
    const waitMs = Math.min(Math.max(finishedMs - startedMs, shortestWaitMs), longestWaitMs);
    return { at: unfinished ? finishedMs + waitMs : anew, anew };
  }
}
