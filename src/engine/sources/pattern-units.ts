import type * as RDF from "@rdfjs/types";
import type { MergedMembers, PlannedEndpoint } from "../../plan/query-plan.ts";
import { patternKey, type PatternSource, patternSources, type TermSpace } from "../../plan/source-selection.ts";
import { termToText } from "../../results/terms.ts";
import { admits, areApart, type MemberSpace } from "./term-spaces.ts";
import { type Graphs, patternText, type TriplePattern, variablesOf } from "./triple-pattern.ts";

/**
 * Triple patterns that are asked as one at each of their members: the solutions of their join over the merged graph are
 * those at the members, put together.
 */
export interface PatternUnit {
  readonly patterns: readonly TriplePattern[];
  /** The members that may have solutions. */
  readonly sources: readonly UnitSource[];
  /** Several members may have the same solution. */
  readonly overlaps: boolean;
  /** Index into `SourceSelection.disjointSubjects` of a set that has all of the members. */
  readonly disjointSet: number | undefined;
  /** Patterns of its group with the same subject, where that is a variable and the only one of the unit. */
  readonly star?: Star | undefined;
}

/** Units of one group with the same subject. */
interface Star {
  readonly subject: string;
  readonly units: number;
}

/** A member's part in a unit. */
export interface UnitSource {
  readonly member: number;
  /** By variable: its possible terms in each place where it stands. */
  readonly spaces: ReadonlyMap<string, readonly TermSpace[]>;
  /** By variable: how many it has, where that is known. */
  readonly values: ReadonlyMap<string, number>;
  /** About how many solutions there are. */
  readonly size: number | undefined;
}

/** Names of a unit's variables, each once. */
export const unitVariables = ({ patterns }: Pick<PatternUnit, "patterns">): readonly string[] => [
  ...new Set(patterns.flatMap((pattern) => variablesOf(pattern))),
];

/** About how many solutions a unit has; undefined when that is not known of one member. */
export const unitSize = ({ sources }: PatternUnit): number | undefined =>
  sources.reduce<number | undefined>(
    (sum, { size }) => (sum === undefined || size === undefined ? undefined : sum + size),
    0,
  );

/** True if a unit is matched in the merge of several named graphs, so that one member may give a solution several times. */
export const mergesGraphs = ({ patterns }: Pick<PatternUnit, "patterns">): boolean =>
  patterns.some(({ graphs = [] }) => graphs.length > 1);

/** True if a member has these graphs to choose from: documents and fragments are a default graph. */
export const hasGraphs = (member: PlannedEndpoint | undefined, graphs: Graphs | undefined): boolean =>
  graphs === undefined || (member?.interface === undefined && graphs.length > 0);

/** True if a variable is the subject of one of a unit's patterns. */
export const hasSubject = ({ patterns }: PatternUnit, name: string): boolean =>
  patterns.some(({ subject }) => subject.termType === "Variable" && subject.value === name);

function subjectOf({ patterns }: Pick<PatternUnit, "patterns">): string | undefined {
  const [subject, ...others] = new Set(
    patterns.map((pattern) => (pattern.graphs ? undefined : variableName(pattern.subject))),
  );
  return others.length === 0 ? subject : undefined;
}

const variableName = ({ termType, value }: RDF.Term): string | undefined =>
  termType === "Variable" ? value : undefined;

/** Cuts groups of triple patterns into units, by what the plan says of the members of a merged graph. */
export class UnitPlanner {
  readonly #over: MergedMembers;
  readonly #all: readonly PatternSource[];
  readonly #sets: readonly ReadonlySet<number>[];
  readonly #known = new Map<string, Part>();

  constructor(over: MergedMembers) {
    this.#over = over;
    this.#all = over.members.map((_, member) => ({ member }));
    this.#sets = over.selection?.disjointSubjects.map(({ members }) => new Set(members)) ?? [];
  }

  /**
   * Patterns are one unit where they share a term of which all that is said of it is at one member: the only one that has
   * them (an exclusive group), the one that has all triples of a subject (a star), or the one whose terms of that kind no
   * other has.
   */
  unitsOf(patterns: readonly TriplePattern[]): readonly PatternUnit[] {
    const parts = this.#partsOf(patterns);
    const stars = new Map<string, Star>();
    for (const name of parts.flatMap((part) => subjectOf(part) ?? [])) {
      stars.set(name, { subject: name, units: (stars.get(name)?.units ?? 0) + 1 });
    }
    return parts.map((part) => this.#toUnit(part, stars.get(subjectOf(part) ?? "")));
  }

  /**
   * The unit of other patterns, when all that they have for a solution of the unit is at the member that gave it; undefined
   * when it may be elsewhere.
   */
  besides({ patterns, overlaps }: PatternUnit, others: readonly TriplePattern[]): PatternUnit | undefined {
    const [left, ...more] = this.#partsOf(patterns);
    const [right, ...rest] = this.#partsOf(others);
    if (overlaps || !left || !right || more.length + rest.length > 0) return undefined;
    return this.#isTogether(left, right) ? this.#toUnit(right) : undefined;
  }

  #partsOf(patterns: readonly TriplePattern[]): readonly Part[] {
    let parts = patterns.map((pattern) => this.#partOf(pattern));
    for (let pair = this.#joinable(parts); pair; pair = this.#joinable(parts)) {
      const [left, right] = pair;
      parts = [...parts.filter((part) => part !== left && part !== right), joined(left, right)];
    }
    return parts;
  }

  #joinable(parts: readonly Part[]): readonly [Part, Part] | undefined {
    for (const [index, left] of parts.entries()) {
      const right = parts.slice(index + 1).find((other) => this.#isTogether(left, other));
      if (right) return [left, right];
    }
    return undefined;
  }

  #isTogether(left: Part, right: Part): boolean {
    if (![left, right].every(({ sources }) => this.#speakSparql(sources))) return false;
    if (mergesGraphs(left) || mergesGraphs(right)) return false;
    for (const one of left.places) {
      for (const other of right.places) {
        if (one.term === other.term && (one.isVariable || (one.isSubject && other.isSubject))) {
          if (this.#areApart([left, one], [right, other])) return true;
        }
      }
    }
    return false;
  }

  /** True if a term can be in both places only at one and the same member. */
  #areApart([left, one]: readonly [Part, Place], [right, other]: readonly [Part, Place]): boolean {
    const members = [...new Set([...left.sources, ...right.sources].map(({ member }) => member))];
    if (members.length < 2) return true;
    // Facts are those of default graphs.
    if ([left, right].some(isInGraph)) return false;
    if (one.isSubject && other.isSubject && this.#setOf(members) !== undefined) return true;
    return areApart(spacesAt(left, one), spacesAt(right, other));
  }

  #toUnit(part: Part, star?: Star): PatternUnit {
    const { patterns, sources, places } = part;
    const overlaps =
      mergesGraphs(part) ||
      (patterns.length === 1 &&
        sources.length > 1 &&
        !places.some((place) => this.#areApart([part, place], [part, place])));
    return {
      patterns,
      overlaps,
      star,
      disjointSet: isInGraph(part) ? undefined : this.#setOf(sources.map(({ member }) => member)),
      sources: sources.map(({ member, size, values }) => ({ member, size, values, spaces: spacesOf(places, member) })),
    };
  }

  #setOf(members: readonly number[]): number | undefined {
    const index = this.#sets.findIndex((set) => members.every((member) => set.has(member)));
    return index < 0 ? undefined : index;
  }

  #speakSparql(sources: Part["sources"]): boolean {
    return sources.every(({ member }) => this.#over.members[member]?.interface === undefined);
  }

  #partOf(pattern: TriplePattern): Part {
    const text = patternText(pattern);
    const known = this.#known.get(text) ?? this.#newPart(pattern);
    this.#known.set(text, known);
    return known;
  }

  #newPart(pattern: TriplePattern): Part {
    const known = this.#lookUp(pattern);
    const { subjectOpen, objectOpen } = known;
    const sources = known.sources.filter(({ member }) => hasGraphs(this.#over.members[member], pattern.graphs));
    const { subject, object } = pattern;
    const relevant = sources.filter(
      ({ subjects = {}, objects = {} }) => admits(subjects, subject) && admits(objects, object),
    );
    const spaces = (place: "subjects" | "objects") =>
      new Map(relevant.map((source) => [source.member, source[place] ?? {}] as const));
    const subjects = [...spaces("subjects")].map(
      ([member, space]) => [member, { ...space, noLiterals: true }] as const,
    );
    return {
      patterns: [pattern],
      sources: relevant.map((source) => ({
        member: source.member,
        size: matches(source, subjectOpen && isConstant(subject), objectOpen && isConstant(object)),
        fanOut: divided(source.triples, source.distinctSubjects),
        values: valuesOf(source, subject, object),
      })),
      places: [placeOf(subject, new Map(subjects), true), placeOf(object, spaces("objects"), false)],
    };
  }

  /** The sources of a pattern, and which of its constants their counts do not heed. */
  #lookUp(pattern: TriplePattern) {
    const { selection } = this.#over;
    const [name, ...others] = pattern.graphs ?? [];
    // A selection says nothing of merges.
    if (others.length > 0) return { sources: this.#all, subjectOpen: true, objectOpen: true };
    const [subject, predicate, object] = [pattern.subject, pattern.predicate, pattern.object].map(constantText);
    const graph = name && (constantText(name) ?? "?");
    const found = selection && patternSources(selection, { subject, predicate, object, graph });
    const isAbout = (key: string): boolean => found !== undefined && selection?.patterns[key] === found;
    const isExact = isAbout(patternKey(subject, predicate, object));
    const objectOpen = !isExact && !isAbout(patternKey(undefined, predicate, object));
    return { sources: found?.sources ?? this.#all, subjectOpen: !isExact, objectOpen };
  }
}

const isInGraph = ({ patterns }: Pick<Part, "patterns">): boolean =>
  patterns.some(({ graphs }) => graphs !== undefined);

/** Patterns that are asked together, so far. */
interface Part {
  readonly patterns: readonly TriplePattern[];
  readonly sources: readonly PartSource[];
  readonly places: readonly Place[];
}

interface PartSource {
  readonly member: number;
  readonly size: number | undefined;
  readonly values: ReadonlyMap<string, number>;
  /** Solutions for one subject. */
  readonly fanOut: number | undefined;
}

/** A subject or object, and its possible terms at each member. */
interface Place {
  /** N-Triples, or `?name`. */
  readonly term: string;
  readonly isVariable: boolean;
  readonly isSubject: boolean;
  readonly spaces: ReadonlyMap<number, TermSpace>;
}

const isConstant = ({ termType }: RDF.Term): boolean => termType === "NamedNode" || termType === "Literal";

const constantText = (term: RDF.Term): string | undefined => (isConstant(term) ? termToText(term) : undefined);

const placeOf = (term: RDF.Term, spaces: Place["spaces"], isSubject: boolean): Place => ({
  term: termToText(term),
  isVariable: term.termType === "Variable",
  isSubject,
  spaces,
});

const divided = (count: number | undefined, by: number | undefined): number | undefined =>
  count === undefined || by === undefined ? undefined : count / Math.max(1, by);

/** How many subjects and objects the matches of a pattern have, by variable. */
function valuesOf(source: PatternSource, subject: RDF.Term, object: RDF.Term): ReadonlyMap<string, number> {
  const counts = [
    [subject, source.distinctSubjects],
    [object, source.distinctObjects],
  ] as const;
  return new Map(
    counts.flatMap(([{ termType, value }, count]) =>
      termType === "Variable" && count !== undefined ? [[value, count]] : [],
    ),
  );
}

/** About how many triples match when a place is held that the counts leave open. */
function matches(source: PatternSource, holdsSubject: boolean, holdsObject: boolean): number | undefined {
  const { triples, distinctSubjects = triples, distinctObjects = triples } = source;
  const ofSubject = holdsSubject ? (divided(triples, distinctSubjects) ?? 1) : triples;
  return holdsObject ? divided(ofSubject, distinctObjects) : ofSubject;
}

const spacesAt = ({ sources }: Part, { spaces }: Place): readonly MemberSpace[] =>
  sources.map(({ member }) => ({ member, space: spaces.get(member) ?? {} }));

function spacesOf(places: readonly Place[], member: number): ReadonlyMap<string, readonly TermSpace[]> {
  const spaces = new Map<string, readonly TermSpace[]>();
  for (const { isVariable, term, spaces: known } of places) {
    if (isVariable) spaces.set(term.slice(1), [...(spaces.get(term.slice(1)) ?? []), known.get(member) ?? {}]);
  }
  return spaces;
}

/** Only members that have both sides have solutions. */
function joined(left: Part, right: Part): Part {
  const others = new Map(right.sources.map((source) => [source.member, source]));
  const sources = left.sources.flatMap((source) => {
    const other = others.get(source.member);
    return other ? [joinedSource(source, other)] : [];
  });
  return { patterns: [...left.patterns, ...right.patterns], places: [...left.places, ...right.places], sources };
}

/** As many as the smaller side has, times what the other has for each. */
function joinedSource(left: PartSource, right: PartSource): PartSource {
  const [small, large] =
    (left.size ?? Number.POSITIVE_INFINITY) <= (right.size ?? Number.POSITIVE_INFINITY) ? [left, right] : [right, left];
  const size = small.size === undefined ? undefined : small.size * Math.max(1, large.fanOut ?? 1);
  const values = new Map(left.values);
  for (const [name, count] of right.values) values.set(name, Math.min(count, values.get(name) ?? count));
  const fanOut = Math.max(1, left.fanOut ?? 1) * Math.max(1, right.fanOut ?? 1);
  return { member: left.member, size, values, fanOut };
}
