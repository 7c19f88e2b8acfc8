import type { EndpointModels } from "../registry/model.ts";
import type { SourceFacts } from "./source-facts.ts";

/** Options of a fact table. */
interface FactTableOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Know which endpoints are described with a term. */
  readonly models: Pick<EndpointModels, "described">;
  /** Names the data that are hosted under a URL now; default: none are. */
  readonly buildOf?: ((url: string) => string | undefined) | undefined;
  /** Most bytes of all copies; default 64 MiB. Endpoints beyond it have facts without a copy. */
  readonly maxCopyBytes?: number | undefined;
}

/** The facts of all endpoints; those that are too old are dropped when anybody looks. */
export class FactTable {
  /** Ids of endpoints whose list may have a property, or a class; all others that have a list lack it. */
  readonly having: EndpointModels["described"];
  readonly #now: () => number;
  readonly #buildOf: (url: string) => string | undefined;
  readonly #maxCopyBytes: number;
  readonly #endpoints = new Map<string, SourceFacts>();
  #copyBytes = 0;
  #version = 0;
  #nextEnd = Number.POSITIVE_INFINITY;

  constructor({ now, models, buildOf = () => undefined, maxCopyBytes = 64 * 1024 * 1024 }: FactTableOptions) {
    this.#now = now;
    this.#buildOf = buildOf;
    this.having = (kind, iri) => models.described(kind, iri);
    this.#maxCopyBytes = maxCopyBytes;
  }

  /** Grows with every change, and when facts become too old. */
  get version(): number {
    this.#dropOld();
    return this.#version;
  }

  /** Sets or, with undefined, removes the facts of an endpoint. */
  set(id: string, facts: SourceFacts | undefined): void {
    const before = this.#endpoints.get(id);
    if (before === undefined && facts === undefined) return;
    this.#version++;
    if (before !== undefined) this.#remove(id, before);
    if (facts === undefined || facts.until <= this.#now()) return;
    this.#endpoints.set(id, this.#affordable(facts));
    this.#nextEnd = Math.min(this.#nextEnd, facts.until);
  }

  /** The facts, without their copy where there is no room for it. */
  #affordable(facts: SourceFacts): SourceFacts {
    const bytes = this.#copyBytes + (facts.copy?.bytes ?? 0);
    if (bytes > this.#maxCopyBytes) return { ...facts, copy: undefined };
    this.#copyBytes = bytes;
    return facts;
  }

  /** The facts of an endpoint under this URL; undefined when there are none that may be relied upon. */
  get(id: string | undefined, url: string): SourceFacts | undefined {
    this.#dropOld();
    const facts = id === undefined ? undefined : this.#endpoints.get(id);
    return facts?.url === url ? facts : undefined;
  }

  /** False if the facts are of another build of hosted data than the present one, true if of this one; else undefined. */
  isOfBuild({ url, build }: SourceFacts): boolean | undefined {
    const hosted = this.#buildOf(url);
    return hosted === undefined || build === undefined ? undefined : hosted === build;
  }

  #dropOld(): void {
    const now = this.#now();
    if (now < this.#nextEnd) return;
    this.#nextEnd = Number.POSITIVE_INFINITY;
    for (const [id, facts] of this.#endpoints) {
      if (facts.until <= now) this.#remove(id, facts);
      else this.#nextEnd = Math.min(this.#nextEnd, facts.until);
    }
    this.#version++;
  }

  #remove(id: string, facts: SourceFacts): void {
    this.#endpoints.delete(id);
    this.#copyBytes -= facts.copy?.bytes ?? 0;
  }
}
