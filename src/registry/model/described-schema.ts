import type { FactStatus, VoidDescription } from "../descriptions/void-description.ts";
import type {
  KnownClass,
  KnownCount,
  KnownProperty,
  KnownSchema,
  KnownTerm,
  TermKind,
  PropertyCounts,
} from "./schema.ts";
import type { TextPool } from "./text-pool.ts";

/** Which of an endpoint's terms there is room for. */
export type HasRoom = (kind: TermKind, iri: string) => boolean;

/** Partitions within classes that are kept of one endpoint. */
const mostRows = 100_000;
const longestComment = 120;
const longestDescription = 800;

/**
 * Contents of an endpoint's description, without the records of its requests: columns of numbers, and texts that all endpoints
 * share. Partitions are made from them when they are looked at. It never changes, and stays readable as long as it is held.
 */
export class DescribedSchema implements KnownSchema {
  /** URL that the description is of. */
  readonly endpoint: string;
  readonly title: string | undefined;
  /** The publisher's text about the data, cut to 800 characters. */
  readonly description: string | undefined;
  /** Where the facts are from: the publisher, our queries, or both. Claims have the status `claimed`. */
  readonly source: VoidDescription["source"];
  /** ISO 8601: between these all facts were seen. */
  readonly startedAt: string;
  readonly finishedAt: string;
  /** The data that all facts were found in, where these cannot change. */
  readonly build: string | undefined;
  readonly unfinished: boolean;
  /** It speaks of the default graph, and its facts do not contradict each other. */
  readonly isConsistent: boolean;
  readonly triples: KnownCount | undefined;
  readonly distinctSubjects: KnownCount | undefined;
  readonly classesComplete: boolean;
  readonly propertiesComplete: boolean;
  readonly languages: readonly string[];
  /** Of subjects, as far as they were sampled. */
  readonly namespaces: readonly string[];
  readonly linksets: KnownSchema["linksets"];
  /** Statements of the builder of a shard; they prove nothing. */
  readonly built: VoidDescription["built"];
  /** Set when it speaks of the union of these. */
  readonly namedGraphs: VoidDescription["namedGraphs"];
  /** Terms that had no room. */
  readonly leftOut: number;
  readonly #pool: TextPool;
  /** Classes, then properties; those that only classes have come last. */
  readonly #terms: Uint32Array;
  readonly #labels: Uint32Array;
  readonly #comments: Uint32Array;
  readonly #classes: { readonly size: number; readonly entities: Float64Array; readonly flags: Uint8Array };
  /** Rows of each class, after those of the whole dataset. */
  readonly #rowsOf: Uint32Array;
  readonly #rows: Rows;

  constructor(description: VoidDescription, pool: TextPool, hasRoom: HasRoom) {
    const { classPartitions, propertyPartitions, triples, distinctSubjects } = description;
    this.#pool = pool;
    const kept = new Set<string>();
    const dropped = new Set<string>();
    const keeps = (kind: TermKind, iri: string): boolean => {
      const key = `${kind} ${iri}`;
      if (kept.has(key) || dropped.has(key)) return kept.has(key);
      (hasRoom(kind, iri) ? kept : dropped).add(key);
      return kept.has(key);
    };
    const classes = onceEach(classPartitions, (each) => each.class).filter((each) => keeps("class", each.class));
    const whole = onceEach(propertyPartitions, (each) => each.property).filter((each) =>
      keeps("property", each.property),
    );
    const within = classes.map(({ properties }) => properties.filter(({ property }) => keeps("property", property)));
    const rowsOf = new Uint32Array(classes.length + 1);
    const rows = [...whole];
    for (const [at, own] of within.entries()) {
      rowsOf[at] = rows.length;
      if (rows.length + own.length <= whole.length + mostRows) rows.push(...own);
    }
    rowsOf[classes.length] = rows.length;
    const properties = new Set(rows.map(({ property }) => property));
    const iris = [...classes.map((each) => each.class), ...properties];
    const texts = new Map(description.terms?.map((term) => [term.iri, term]));
    this.#terms = Uint32Array.from(iris, (iri) => pool.take(iri));
    this.#labels = Uint32Array.from(iris, (iri) => pool.take(texts.get(iri)?.label?.slice(0, 200)));
    this.#comments = Uint32Array.from(iris, (iri) => pool.take(texts.get(iri)?.description?.slice(0, longestComment)));
    this.#classes = {
      size: classes.length,
      entities: Float64Array.from(classes, ({ entities }) => entities?.value ?? Number.NaN),
      flags: Uint8Array.from(
        classes,
        ({ entities, propertiesComplete: isComplete, properties: all }, at) =>
          statusOf(entities) + (isComplete && all.length === sizeAt(rowsOf, at) ? radix : 0),
      ),
    };
    this.#rowsOf = rowsOf;
    this.#rows = new Rows(rows, whole.length, pool);
    this.leftOut = dropped.size;
    this.classesComplete = description.classesComplete && dropped.size === 0;
    this.propertiesComplete = description.propertiesComplete && dropped.size === 0;
    this.endpoint = description.endpoint;
    this.title = description.title;
    this.description = description.description?.slice(0, longestDescription);
    this.source = description.source;
    this.startedAt = description.startedAt;
    this.finishedAt = description.finishedAt;
    this.build = description.build;
    this.unfinished = description.unfinished;
    this.isConsistent = isOfDefaultGraph(description) && !isContradicted(description);
    this.triples = triples && { value: triples.value, status: triples.status };
    this.distinctSubjects = distinctSubjects && { value: distinctSubjects.value, status: distinctSubjects.status };
    this.languages = description.languages;
    this.namespaces = description.namespaces;
    this.linksets = description.linksets;
    this.namedGraphs = description.namedGraphs;
    this.built = description.built;
  }

  get classPartitions(): readonly KnownClass[] {
    return Array.from({ length: this.#classes.size }, (_, at) => this.#class(at));
  }

  /** Of the whole dataset. */
  get propertyPartitions(): readonly KnownProperty[] {
    return this.#rows.slice(0, this.#rows.whole);
  }

  /** Classes, then properties, each once and most frequent first; those that only classes have come last. */
  *terms(kind?: TermKind): Generator<KnownTerm> {
    const { size } = this.#classes;
    const [from, to] = [kind === "property" ? size : 0, kind === "class" ? size : this.#terms.length];
    for (let at = from; at < to; at++) yield this.#term(at);
  }

  /** Classes and properties. */
  counts(): Readonly<Record<TermKind, number>> {
    return { class: this.#classes.size, property: this.#terms.length - this.#classes.size };
  }

  term(kind: TermKind, iri: string): KnownTerm | undefined {
    const number = this.#pool.find(iri);
    const { size } = this.#classes;
    const at = number === 0 ? -1 : this.#terms.indexOf(number, kind === "class" ? 0 : size);
    return at === -1 || (kind === "class" && at >= size) ? undefined : this.#term(at);
  }

  /** The vocabulary's comment on a term, cut to 120 characters. */
  comment(kind: TermKind, iri: string): string | undefined {
    const number = this.#pool.find(iri);
    const at = number === 0 ? -1 : this.#terms.indexOf(number, kind === "class" ? 0 : this.#classes.size);
    return this.#pool.text(this.#comments[at]) || undefined;
  }

  /** Counts of a property in the whole dataset, and the datatype that all of its values have; undefined when that list lacks it. */
  countsOf(property: string): KnownCounts | undefined {
    const number = this.#pool.find(property);
    const at = number === 0 ? -1 : this.#terms.indexOf(number, this.#classes.size) - this.#classes.size;
    return at >= 0 && at < this.#rows.whole ? this.#rows.known(at) : undefined;
  }

  /** Properties that instances of a class are known to have. */
  propertiesOf(iri: string): readonly string[] {
    const at = this.#terms.subarray(0, this.#classes.size).indexOf(this.#pool.find(iri));
    return at === -1 ? [] : this.#class(at).properties.map(({ property }) => property);
  }

  /** Properties with values of these classes, or of any, each pair once. */
  leadingTo(classes?: Iterable<string>): ReadonlyMap<string, readonly string[]> {
    const wanted = classes && new Set(Array.from(classes, (iri) => this.#pool.find(iri)));
    wanted?.delete(0);
    const found = new Map<string, readonly string[]>();
    for (const [property, classNumbers] of this.#rows.leadingTo(wanted)) {
      found.set(
        this.#pool.text(property),
        Array.from(classNumbers, (number) => this.#pool.text(number)),
      );
    }
    return found;
  }

  /** Numbers of the texts that it uses; some are negative. */
  texts(): readonly Iterable<number>[] {
    return [this.#terms, this.#labels, this.#comments, ...this.#rows.texts()];
  }

  #class(at: number): KnownClass {
    const { entities, flags } = this.#classes;
    const [from = 0, to = 0] = this.#rowsOf.subarray(at, at + 2);
    return {
      class: this.#pool.text(this.#terms[at]),
      entities: countOf(entities[at], (flags[at] ?? 0) % radix),
      properties: this.#rows.slice(from, to),
      propertiesComplete: (flags[at] ?? 0) >= radix,
    };
  }

  #term(at: number): KnownTerm {
    const { size, entities, flags } = this.#classes;
    const isClass = at < size;
    return {
      kind: isClass ? "class" : "property",
      iri: this.#pool.text(this.#terms[at]),
      label: this.#pool.text(this.#labels[at]) || undefined,
      count: isClass ? countOf(entities[at], (flags[at] ?? 0) % radix) : this.#rows.triplesOf(at - size),
    };
  }
}

const sizeAt = (offsets: Uint32Array, at: number): number => (offsets[at + 1] ?? 0) - (offsets[at] ?? 0);

function onceEach<T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] {
  const seen = new Set<string>();
  return all.filter((one) => !seen.has(keyOf(one)) && seen.add(keyOf(one)));
}

const isOfDefaultGraph = ({ graphs, namedGraphs }: VoidDescription): boolean =>
  graphs === undefined && namedGraphs === undefined;

/**
 * Answers of the endpoint contradicted each other, or the data changed between them: each triple has one property, so exact
 * counts of all properties add up to the total. What its publisher claims may be wrong; that is no fact anyway.
 */
function isContradicted({ unknown, triples: all, propertiesComplete, propertyPartitions }: VoidDescription): boolean {
  if (unknown.some(({ why, what }) => why === "contradicted" && !what.endsWith(" of the publisher's description"))) {
    return true;
  }
  if (!propertiesComplete || all?.status !== "exact") return false;
  if (propertyPartitions.some(({ triples }) => triples?.status !== "exact")) return false;
  return propertyPartitions.reduce((sum, { triples }) => sum + (triples?.value ?? 0), 0) !== all.value;
}

const statuses: readonly (FactStatus | undefined)[] = [
  undefined,
  "exact",
  "lowerBound",
  "exists",
  "sampled",
  "claimed",
];
/** Flags of a row: three statuses, whether its list of objects is complete, and whether all are literals of one datatype. */
const radix = statuses.length;
const completeFlag = radix ** 3;
const oneTypeFlag = 2 * completeFlag;

/** Counts of a property, and the datatype that all of its values have. */
type KnownCounts = PropertyCounts & { readonly datatype: string | undefined };

/** Partitions by property: the first are those of the whole dataset, which alone have distinct counts. */
class Rows {
  readonly whole: number;
  readonly #pool: TextPool;
  readonly #properties: Uint32Array;
  readonly #triples: Float64Array;
  readonly #distinct: Float64Array;
  readonly #flags: Uint16Array;
  readonly #objectsFrom: Uint32Array;
  /** Object classes as they are, datatypes negative. */
  readonly #objects: Int32Array;

  constructor(rows: readonly KnownProperty[], whole: number, pool: TextPool) {
    this.whole = whole;
    this.#pool = pool;
    this.#properties = Uint32Array.from(rows, ({ property }) => pool.take(property));
    this.#triples = Float64Array.from(rows, ({ triples }) => triples?.value ?? Number.NaN);
    this.#distinct = new Float64Array(2 * whole).fill(Number.NaN);
    this.#flags = new Uint16Array(rows.length);
    this.#objectsFrom = new Uint32Array(rows.length + 1);
    const objects: number[] = [];
    for (const [at, row] of rows.entries()) {
      this.#objectsFrom[at] = objects.length;
      for (const { iri } of row.objectClasses) objects.push(pool.take(iri));
      for (const { iri } of row.datatypes) objects.push(-pool.take(iri));
      this.#flags[at] =
        statusOf(row.triples) + (row.objectsComplete ? completeFlag : 0) + (hasOneType(row) ? oneTypeFlag : 0);
      if (at >= whole) continue;
      this.#distinct[2 * at] = row.distinctSubjects?.value ?? Number.NaN;
      this.#distinct[2 * at + 1] = row.distinctObjects?.value ?? Number.NaN;
      this.#flags[at] += radix * statusOf(row.distinctSubjects) + radix ** 2 * statusOf(row.distinctObjects);
    }
    this.#objectsFrom[rows.length] = objects.length;
    this.#objects = Int32Array.from(objects);
  }

  slice(from: number, to: number): readonly KnownProperty[] {
    return Array.from({ length: Math.max(0, to - from) }, (_, step) => this.#row(from + step));
  }

  /** Triples of the property at a place of the whole dataset's list. */
  triplesOf(at: number): KnownCount | undefined {
    return at < this.whole ? countOf(this.#triples[at], (this.#flags[at] ?? 0) % radix) : undefined;
  }

  texts(): readonly Iterable<number>[] {
    return [this.#properties, this.#objects];
  }

  /** Of any class when absent. */
  leadingTo(classes: ReadonlySet<number> | undefined): ReadonlyMap<number, ReadonlySet<number>> {
    const found = new Map<number, Set<number>>();
    for (const [at, property] of this.#properties.entries()) {
      for (const object of this.#objects.subarray(this.#objectsFrom[at], this.#objectsFrom[at + 1])) {
        if (classes === undefined ? object > 0 : classes.has(object))
          found.set(property, (found.get(property) ?? new Set()).add(object));
      }
    }
    return found;
  }

  counts(at: number): PropertyCounts {
    const flags = this.#flags[at] ?? 0;
    return {
      triples: countOf(this.#triples[at], flags % radix),
      distinctSubjects: countOf(this.#distinct[2 * at], Math.floor(flags / radix) % radix),
      distinctObjects: countOf(this.#distinct[2 * at + 1], Math.floor(flags / radix ** 2) % radix),
    };
  }

  known(at: number): KnownCounts {
    const isOneType = (this.#flags[at] ?? 0) >= oneTypeFlag;
    return { ...this.counts(at), datatype: isOneType ? this.#row(at).datatypes[0]?.iri : undefined };
  }

  #row(at: number): KnownProperty {
    const flags = this.#flags[at] ?? 0;
    const objects = this.#objects.subarray(this.#objectsFrom[at], this.#objectsFrom[at + 1]);
    const named = (numbers: Int32Array) => Array.from(numbers, (each) => ({ iri: this.#pool.text(Math.abs(each)) }));
    return {
      property: this.#pool.text(this.#properties[at]),
      ...this.counts(at),
      objectClasses: named(objects.filter((each) => each > 0)),
      datatypes: named(objects.filter((each) => each < 0)),
      objectsComplete: flags >= completeFlag,
    };
  }
}

/** As many triples lead to literals of the one datatype as the property has. */
const hasOneType = ({ datatypes, objectsComplete, triples }: KnownProperty): boolean =>
  objectsComplete &&
  datatypes.length === 1 &&
  datatypes.every((one) => one.triples?.status === "exact" && one.triples.value === triples?.value);

const statusOf = (count: KnownCount | undefined): number => Math.max(0, statuses.indexOf(count?.status));

function countOf(value: number | undefined, at: number): KnownCount | undefined {
  const status = statuses[at];
  return status === undefined || value === undefined ? undefined : { value, status };
}
