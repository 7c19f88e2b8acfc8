import type { PropertyFacts, SourceFacts } from "./source-facts.ts";

/** What a fact table is made of. */
interface FactTableOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Most entries of lists over all endpoints; default 1,000,000, some 100 bytes each. Endpoints beyond it have no facts. */
  readonly maxEntries?: number | undefined;
  /** Most bytes of all copies; default 64 MiB. Endpoints beyond it have facts without a copy. */
  readonly maxCopyBytes?: number | undefined;
}

/**
 * The facts of all endpoints, indexed by property and class, so that finding who has one costs nothing for those who do not.
 * Facts that are too old are dropped when anybody looks.
 */
export class FactTable {
  readonly #now: () => number;
  readonly #maxEntries: number;
  readonly #maxCopyBytes: number;
  readonly #endpoints = new Map<string, SourceFacts>();
  readonly #byProperty = new Map<string, Map<string, PropertyFacts>>();
  readonly #byClass = new Map<string, Map<string, number>>();
  #entries = 0;
  #copyBytes = 0;
  #version = 0;
  #nextEnd = Number.POSITIVE_INFINITY;

  constructor({ now, maxEntries = 1_000_000, maxCopyBytes = 64 * 1024 * 1024 }: FactTableOptions) {
    this.#now = now;
    this.#maxEntries = maxEntries;
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
    if (this.#entries + entriesOf(facts) > this.#maxEntries) return;
    this.#entries += entriesOf(facts);
    this.#endpoints.set(id, this.#affordable(facts));
    for (const [iri, property] of facts.properties ?? []) put(this.#byProperty, [iri, id], property);
    for (const [iri, instances] of facts.classes ?? []) put(this.#byClass, [iri, id], instances);
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

  /** Endpoints whose complete list has the property, or the class. */
  withProperty = (iri: string): ReadonlyMap<string, PropertyFacts> => this.#byProperty.get(iri) ?? new Map();
  withClass = (iri: string): ReadonlyMap<string, number> => this.#byClass.get(iri) ?? new Map();

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
    this.#entries -= entriesOf(facts);
    this.#copyBytes -= facts.copy?.bytes ?? 0;
    for (const iri of facts.properties?.keys() ?? []) drop(this.#byProperty, iri, id);
    for (const iri of facts.classes?.keys() ?? []) drop(this.#byClass, iri, id);
  }
}

const entriesOf = ({ properties, classes }: SourceFacts): number => (properties?.size ?? 0) + (classes?.size ?? 0);

function put<T>(index: Map<string, Map<string, T>>, [iri, id]: readonly [string, string], value: T): void {
  const users = index.get(iri);
  if (users === undefined) index.set(iri, new Map([[id, value]]));
  else users.set(id, value);
}

function drop<T>(index: Map<string, Map<string, T>>, iri: string, id: string): void {
  const users = index.get(iri);
  users?.delete(id);
  if (users?.size === 0) index.delete(iri);
}
