import type { CatalogEntry } from "../catalog/catalog.ts";
import type { ExampleSet } from "../find/read/example.ts";
import { publishedKey, type PublishedFacts } from "../catalog/published/published-facts.ts";
import type { Harvest } from "../find/read/harvest.ts";
import type { VoidDescription } from "../descriptions/void-description.ts";
import { DescribedSchema, type HasRoom } from "./described-schema.ts";
import type { TermKind } from "./schema.ts";
import { TextPool } from "./text-pool.ts";

/** All that is known of one endpoint; replaced as a whole when any of it changes. Parts come in any order. */
export interface EndpointModel {
  readonly id: string;
  readonly entry?: CatalogEntry | undefined;
  /** Schema found by asking the endpoint, or stated by it. */
  readonly described?: DescribedSchema | undefined;
  /** Distinguishes this state of the description from others. */
  readonly version?: string | undefined;
  /** Facts that others published about it, with their date. */
  readonly published?: PublishedFacts | undefined;
  /** Names of its things and values of its properties, as they were read. */
  readonly values?: Harvest | undefined;
  /** Questions with their queries that it publishes. */
  readonly examples?: ExampleSet | undefined;
}

/** Data read from an endpoint beside its description. */
export type ReadPart = "values" | "examples";

/** True if only the data read may differ. */
export const hasSameSchema = (one: EndpointModel | undefined, other: EndpointModel | undefined): boolean =>
  (["entry", "described", "published"] as const).every((part) => one?.[part] === other?.[part]);

/** Called once a change of an endpoint is done. Undefined: there was, or is, none. */
type ModelListener = (id: string, after: EndpointModel | undefined, before: EndpointModel | undefined) => void;

/** Limits over all endpoints; terms beyond them are left out, and the lists that lack them are not complete. */
export interface ModelLimits {
  /** Distinct classes and properties. */
  readonly terms: number;
  readonly termsPerEndpoint: number;
  /** Pairs of a term and an endpoint that is described with it. */
  readonly uses: number;
}

const defaults: ModelLimits = { terms: 200_000, termsPerEndpoint: 20_000, uses: 500_000 };

/** Endpoints that have a term, by its number. */
type Users = Map<number, string[]>;

/** The models of all endpoints, in memory and bounded; synchronous. Followers are notified of every change. */
export class EndpointModels {
  readonly #pool = new TextPool();
  /** Whoever still holds a schema that was replaced can read it; then its texts go. */
  readonly #unused = new FinalizationRegistry<readonly Iterable<number>[]>((lists) => {
    for (const numbers of lists) this.#pool.release(numbers);
  });
  readonly #limits: ModelLimits;
  readonly #models = new Map<string, EndpointModel>();
  readonly #listeners = new Set<ModelListener>();
  readonly #users: Readonly<Record<TermKind, Users>> = { class: new Map(), property: new Map() };
  #uses = 0;
  #version = 0;
  /** Descriptions are still being read for the first time, so that lists over all endpoints may lack some. */
  isReading = false;

  constructor(limits: Partial<ModelLimits> = {}) {
    this.#limits = { ...defaults, ...limits };
  }

  get(id: string): EndpointModel | undefined {
    return this.#models.get(id);
  }

  all(): Iterable<EndpointModel> {
    return this.#models.values();
  }

  /** Grows with every change of known terms. */
  get version(): number {
    return this.#version;
  }

  /** Distinct terms, and pairs of a term and an endpoint that is described with it. */
  get size(): { readonly terms: number; readonly uses: number } {
    return { terms: this.#users.class.size + this.#users.property.size, uses: this.#uses };
  }

  /** Ids of the endpoints that are described with a class or property, in the order in which they came. */
  described(kind: TermKind, iri: string): readonly string[] {
    return this.#users[kind].get(this.#pool.find(iri)) ?? [];
  }

  /** Ids of the endpoints at which public sources name a class or property. */
  *published(kind: TermKind, iri: string): Generator<string> {
    for (const { id, published } of this.#models.values()) if (published?.terms.has(publishedKey(kind, iri))) yield id;
  }

  /** Sets these entries, with published facts about them, and forgets all other endpoints. */
  setEntries(entries: readonly CatalogEntry[], publishedOf?: (id: string) => PublishedFacts | undefined): void {
    const ids = new Set(entries.map(({ id }) => id));
    for (const id of this.#models.keys()) if (!ids.has(id)) this.remove(id);
    for (const entry of entries) this.setEntry(entry, publishedOf?.(entry.id));
  }

  /** Adds or replaces; nothing happens for the entry it has already. */
  setEntry(entry: CatalogEntry, published?: PublishedFacts): void {
    const before = this.#models.get(entry.id);
    if (before?.entry === entry && before.published === published) return;
    if (before?.published !== published) this.#version++;
    this.#change(entry.id, { entry, published });
  }

  /** Sets or, with undefined, removes what an endpoint is described with; `version` is `finishedAt` when absent. */
  setDescription(id: string, description: VoidDescription | undefined, version = description?.finishedAt): void {
    const before = this.#models.get(id)?.described;
    if (before === undefined && description === undefined) return;
    this.#count(id, before, -1);
    const described = description && new DescribedSchema(description, this.#pool, this.#room());
    if (described !== undefined) this.#unused.register(described, described.texts());
    this.#count(id, described, 1);
    this.#version++;
    this.#change(id, { described, version: described && version });
  }

  /** Sets or, with undefined, removes the data read from an endpoint. */
  setRead<Part extends ReadPart>(id: string, part: Part, found: EndpointModel[Part]): void {
    if (this.#models.get(id)?.[part] !== found) this.#change(id, { [part]: found });
  }

  remove(id: string): void {
    const before = this.#models.get(id);
    if (before === undefined) return;
    this.#count(id, before.described, -1);
    this.#version++;
    this.#models.delete(id);
    for (const listener of this.#listeners) listener(id, undefined, before);
  }

  /** Notifies of the present state, and of every change from now on, until the returned function is called. */
  follow(listener: ModelListener): () => void {
    for (const model of this.#models.values()) listener(model.id, model, undefined);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #change(id: string, change: Partial<EndpointModel>): void {
    const before = this.#models.get(id);
    const after = { id, ...before, ...change };
    const isEmpty = (after.entry ?? after.described) === undefined;
    if (isEmpty) this.#models.delete(id);
    else this.#models.set(id, after);
    for (const listener of this.#listeners) listener(id, isEmpty ? undefined : after, before);
  }

  #room(): HasRoom {
    let { terms, uses } = this.size;
    let ofEndpoint = 0;
    const { terms: most, uses: mostUses, termsPerEndpoint } = this.#limits;
    return (kind, iri) => {
      const isNew = !this.#users[kind].has(this.#pool.find(iri));
      if (ofEndpoint >= termsPerEndpoint || uses >= mostUses || (isNew && terms >= most)) return false;
      if (isNew) terms++;
      ofEndpoint++;
      uses++;
      return true;
    };
  }

  #count(id: string, described: DescribedSchema | undefined, by: 1 | -1): void {
    for (const { kind, iri } of described?.terms() ?? []) {
      const number = this.#pool.find(iri);
      const users = this.#users[kind].get(number) ?? [];
      if (by === 1) users.push(id);
      else users.splice(users.indexOf(id), 1);
      if (users.length === 0) this.#users[kind].delete(number);
      else this.#users[kind].set(number, users);
      this.#uses += by;
    }
  }
}
