import type { PlannedEndpoint } from "../plan/query-plan.ts";
import {
  type AskedPattern,
  type Certificate,
  type PatternSource,
  type PatternSources,
  type SourceSelection,
  type TermSpace,
} from "../plan/source-selection.ts";
import { iriText } from "../rdf/term-text.ts";
import { rdf } from "../rdf/vocabularies.ts";
import type { PatternTerm } from "../sparql/patterns.ts";
import { isEnginePredicate } from "./engine-predicates.ts";
import type { TermKind } from "../registry/model.ts";
import { anything, isInstance, keyOf, type Shape, textOf, toAsked } from "./shape.ts";
import type { FactTable } from "./fact-table.ts";
import type { PropertyFacts, SourceFacts } from "./source-facts.ts";
import { hashUnit } from "./triple-copy.ts";
import { itemAt } from "../values.ts";

/**
 * When a member was asked and had no match of a pattern, and until when that counts, in milliseconds since the epoch;
 * undefined: it may have some.
 */
export type Lacks = (
  member: PlannedEndpoint,
  key: string,
) => { readonly seenAt: number; readonly until: number } | undefined;

/** Options of viewing a federation's facts. */
interface ViewOptions {
  /** Results of earlier questions to members. */
  readonly lacks?: Lacks | undefined;
  /** Catalogue ids of members of which nothing is taken for known. */
  readonly ask?: readonly string[] | undefined;
  /** Members without facts are asked only for what their descriptions name. */
  readonly onlyNamed?: boolean | undefined;
}

type Kind = Certificate["kind"];

const partitioned = "The registry placed all triples of a subject in one of these shards.";

/** The facts about the members of one federation, at one moment. */
export class MemberView {
  readonly #table: FactTable;
  readonly #members: readonly PlannedEndpoint[];
  readonly #lacks: Lacks | undefined;
  readonly #onlyNamed: boolean;
  readonly #facts: readonly (SourceFacts | undefined)[];
  readonly #indices = new Map<string, number>();
  /** Members whose list of properties, or of classes, is not known. */
  readonly #openProperties: number[] = [];
  readonly #openClasses: number[] = [];
  #seenAt = Number.POSITIVE_INFINITY;
  #until = Number.POSITIVE_INFINITY;

  constructor(
    table: FactTable,
    members: readonly PlannedEndpoint[],
    { lacks, ask = [], onlyNamed = false }: ViewOptions = {},
  ) {
    this.#table = table;
    this.#members = members;
    this.#lacks = lacks;
    this.#onlyNamed = onlyNamed;
    const asked = new Set(ask);
    this.#facts = members.map(({ id, url }, index) => {
      const facts = id !== undefined && asked.has(id) ? undefined : table.get(id, url);
      if (id !== undefined) this.#indices.set(id, index);
      if (facts?.properties === undefined) this.#openProperties.push(index);
      if (facts?.classes === undefined) this.#openClasses.push(index);
      if (facts !== undefined) {
        this.#seenAt = Math.min(this.#seenAt, facts.seenAt);
        this.#until = Math.min(this.#until, facts.until);
      }
      return facts;
    });
  }

  /** Of how many members the properties are known. */
  get known(): NonNullable<SourceSelection["facts"]> {
    const members = this.#members.length;
    return { known: members - this.#openProperties.length, members };
  }

  /** Nothing is known of any member. */
  get isBlank(): boolean {
    return this.#facts.every((facts) => facts === undefined);
  }

  /** Sets of these members no two of which have a subject in common. */
  disjointSubjects(members: readonly number[]): SourceSelection["disjointSubjects"] {
    const sets = new Map<string, number[]>();
    for (const member of members) {
      const partition = this.#facts[member]?.partition;
      if (partition !== undefined) sets.set(partition, [...(sets.get(partition) ?? []), member]);
    }
    const several = [...sets.values()].filter(({ length }) => length > 1);
    return several.map((set) => ({ certificate: this.#certify("partition", partitioned), members: set }));
  }

  /** The members that may match a pattern; undefined when that is all of them and nothing is known of what they hold. */
  sourcesOf(shape: Shape): PatternSources | undefined {
    const { predicate } = shape;
    if (shape.graph !== undefined) return this.#inGraph(shape);
    if (predicate.kind !== "iri") return this.#holders(shape);
    return isEnginePredicate(predicate.iri) ? undefined : this.#matching(shape, predicate.iri);
  }

  /** Members of a pattern in GRAPH: facts are those of default graphs, so that only answers exclude one. */
  #inGraph(shape: Shape): PatternSources | undefined {
    const key = keyOf(shape);
    const all = [...this.#members.keys()];
    const sources = all.filter((member) => this.#asked(member, key) === undefined).map((member) => ({ member }));
    if (sources.length === all.length) return undefined;
    return this.#toSources(shape, sources, new Map([["asked", all.length - sources.length]]));
  }

  /** Members of a pattern with this predicate. */
  #matching(shape: Shape, property: string): PatternSources | undefined {
    const having = isInstance(shape) ? this.#instances(shape.object.iri) : this.#users(shape, property);
    const excluded = this.#without(shape, having);
    const key = this.#lacks === undefined ? "" : keyOf(shape);
    const isRead = this.#readWithout(shape);
    const sources: PatternSource[] = [];
    for (const source of having) {
      const why = isRead(source.member) ?? this.#asked(source.member, key);
      if (why === undefined) sources.push(source);
      else excluded.set(why, (excluded.get(why) ?? 0) + 1);
    }
    return excluded.size === 0 && sources.every(({ triples }) => triples === undefined)
      ? undefined
      : this.#toSources(shape, sources, excluded);
  }

  #asked(member: number, key: string): "asked" | undefined {
    const endpoint = this.#members[member];
    const answer = endpoint && this.#lacks?.(endpoint, key);
    if (answer === undefined) return undefined;
    this.#seenAt = Math.min(this.#seenAt, answer.seenAt);
    this.#until = Math.min(this.#until, answer.until);
    return "asked";
  }

  /** Pattern without a match at a member that is no source of `shape`: no triple of a property that it lacks. */
  excluding(shape: Shape, member: number): AskedPattern {
    const { predicate } = shape;
    const properties = this.#facts[member]?.properties;
    const isKnown = predicate.kind === "iri" && shape.graph === undefined;
    const isLacking = isKnown && properties !== undefined && !properties.has(predicate.iri);
    return toAsked(isLacking && !isInstance(shape) ? { subject: anything, predicate, object: anything } : shape);
  }

  /** Where it is left out, no fact proves that it has no match. */
  isUnverified(member: number): boolean {
    return this.#onlyNamed && this.#facts[member]?.properties === undefined;
  }

  /** Time of a member's facts; undefined: there are none. */
  seenAt(member: number): number | undefined {
    return this.#facts[member]?.seenAt;
  }

  /** Members of a pattern with any predicate: those that may hold its subject and object anywhere. */
  #holders(shape: Shape): PatternSources | undefined {
    const excluded = new Map<Kind, number>();
    const sources: PatternSource[] = [];
    const isRead = this.#readWithout(shape);
    for (const [member, facts] of this.#facts.entries()) {
      const why = isRead(member);
      if (why === undefined) sources.push({ member, ...facts?.all });
      else excluded.set(why, (excluded.get(why) ?? 0) + 1);
    }
    const isTold = excluded.size > 0 || sources.some(({ subjects }) => subjects !== undefined);
    return isTold ? this.#toSources(shape, sources, excluded) : undefined;
  }

  /** Returns a test of members: all of their triples were read, or their terms counted, and none matches. */
  #readWithout(shape: Shape): (member: number) => "triples" | undefined {
    const { subject, predicate, object } = shape;
    if (subject.kind === "variable" && object.kind === "variable") return () => undefined;
    const [s = "?s", p = "?p", o = "?o"] = [subject, predicate, object].map(textOf);
    const unit = hashUnit({ patterns: [[s, p, o]], variables: [] });
    return (member) => {
      const { copy, properties, all } = this.#facts[member] ?? {};
      const terms = predicate.kind === "iri" ? properties?.get(predicate.iri) : all;
      const mayMatch = mayHave(terms?.subjects, subject) && mayHave(terms?.objects, object);
      return mayMatch && copy?.mayMatch(unit) !== false ? undefined : "triples";
    };
  }

  #toSources(shape: Shape, sources: readonly PatternSource[], excluded: ReadonlyMap<Kind, number>): PatternSources {
    return {
      sources: isSorted(sources) ? sources : sources.toSorted((one, other) => one.member - other.member),
      excluded: [...excluded].map(([kind, members]) => ({ certificate: this.#certificate(kind, shape), members })),
    };
  }

  /** How many members lack the property or class, by the list that proves it. */
  #without(shape: Shape, having: readonly PatternSource[]): Map<Kind, number> {
    const asked = new Set(having.map(({ member }) => member));
    const unnamed = [...this.#facts.keys()].filter((member) => this.isUnverified(member) && !asked.has(member)).length;
    const lacking = this.#facts.length - having.length - unnamed;
    const open = having.filter(({ member }) => this.#facts[member]?.classes === undefined).length;
    const properties = isInstance(shape) ? this.#openClasses.length - open - unnamed : lacking;
    const counts = [
      ["properties", properties] as const,
      ["classes", lacking - properties] as const,
      ["unnamed", unnamed] as const,
    ];
    return new Map<Kind, number>(counts.filter(([, count]) => count > 0));
  }

  /** Members that have the property, and those of which it is not known. */
  #users(shape: Shape, property: string): readonly PatternSource[] {
    const known = this.#among(this.#table.having("property", property), (facts) => facts.properties?.get(property));
    const sources = known.map(([member, facts]) => sourceOf(shape, member, facts));
    return [...this.#possible(this.#openProperties, "property", property), ...sources];
  }

  /** Members that have instances of the class, and those of which it is not known. */
  #instances(iri: string): readonly PatternSource[] {
    const known = this.#among(this.#table.having("class", iri), (facts) => facts.classes?.get(iri));
    const open = this.#openClasses.filter((member) => this.#facts[member]?.properties?.has(rdf.type) !== false);
    return [
      ...this.#possible(open, "class", iri),
      ...known.map(([member, instances]) => {
        const subjects = this.#facts[member]?.properties?.get(rdf.type)?.subjects;
        return { member, triples: instances, distinctSubjects: instances, distinctObjects: 1, subjects };
      }),
    ];
  }

  /** Members of which it is not known, as sources; where only named terms are asked for, those that name it. */
  #possible(open: readonly number[], kind: TermKind, iri: string): readonly PatternSource[] {
    const naming = this.#onlyNamed && open.length > 0 ? new Set(this.#table.having(kind, iri)) : undefined;
    const isNamed = (member: number): boolean => naming?.has(itemAt(this.#members, member).id ?? "") !== false;
    return open.filter(isNamed).map((member) => ({ member }));
  }

  /** The members with facts among these endpoints, found on the shorter way. */
  #among<T>(
    ids: readonly string[],
    get: (facts: SourceFacts) => T | undefined,
  ): readonly (readonly [member: number, value: T])[] {
    const members = ids.length < this.#facts.length ? ids.map((id) => this.#indices.get(id)) : undefined;
    const found: (readonly [number, T])[] = [];
    for (const member of members ?? this.#facts.keys()) {
      const facts = member === undefined ? undefined : this.#facts[member];
      const value = facts && get(facts);
      if (member !== undefined && value !== undefined) found.push([member, value]);
    }
    return found;
  }

  #certificate(kind: Kind, shape: Shape): Certificate {
    const property = shape.predicate.kind === "iri" ? iriText(shape.predicate.iri) : "";
    const term = isInstance(shape) ? iriText(shape.object.iri) : property;
    const of = property === "" ? "" : ` of ${property}`;
    const because: Readonly<Partial<Record<Kind, string>>> = {
      properties: `Their complete lists of properties lack ${property}.`,
      classes: `Their complete lists of classes lack ${term}.`,
      asked: "They were asked and have no match.",
      unnamed: `Their descriptions are incomplete and do not name ${term}.`,
      triples: `All of their triples${of} were read or counted, and none matches the pattern.`,
    };
    return this.#certify(kind, because[kind] ?? "");
  }

  #certify(kind: Kind, because: string): Certificate {
    if (kind === "unnamed") return { kind, because };
    const [seenAt, until] = [this.#seenAt, this.#until].map((ms) => new Date(ms).toISOString());
    return { kind, because, seenAt, until };
  }
}

const isSorted = (sources: readonly PatternSource[]): boolean =>
  sources.every(({ member }, at) => at === 0 || itemAt(sources, at - 1).member < member);

/** True if a term may be in a space. */
function mayHave({ prefixes, noLiterals }: TermSpace = {}, term: PatternTerm): boolean {
  if (term.kind === "iri") return prefixes === undefined || prefixes.some((prefix) => term.iri.startsWith(prefix));
  return term.kind === "variable" || noLiterals === undefined;
}

const each = (of: number | undefined, by: number | undefined) => of && by && Math.ceil(of / by);

/** Matches of a member for a pattern; for a constant the average number of triples. */
function sourceOf({ subject, object }: Shape, member: number, facts: PropertyFacts): PatternSource {
  const { triples, distinctSubjects, distinctObjects } = facts;
  const [isOne, isOther] = [subject.kind !== "variable", object.kind !== "variable"];
  const ofSubject = isOne ? each(triples, distinctSubjects) : triples;
  return {
    member,
    triples: isOther ? each(ofSubject, distinctObjects) : ofSubject,
    distinctSubjects: isOne ? 1 : distinctSubjects,
    distinctObjects: isOther ? 1 : distinctObjects,
    subjects: facts.subjects,
    objects: facts.objects,
  };
}
