import oxigraph from "oxigraph";
import type { Random } from "./random.ts";
import {
  patternKey,
  type Certificate,
  type PatternSource,
  type PatternSources,
  type SourceSelection,
  type TermSpace,
} from "../../src/plan/source-selection.ts";
import {
  innerGroups,
  outerGroups,
  type Element,
  type GeneratedQuery,
  type Group,
  type Triple,
} from "./query-generator-syntax.ts";

/** What is known of a member: everything, or nothing that leaves it out of a pattern. */
export interface KnownMember {
  /** N-Triples. */
  readonly data: string;
  readonly isKnown: boolean;
}

/** A selection and the members it keeps, as indices into those that were given. */
export interface ExactSelection {
  readonly kept: readonly number[];
  readonly selection: SourceSelection;
}

/**
 * The selection that somebody makes who has read all known members: as many members as possible are left out of each
 * pattern, and the terms at the others are told as exactly as a `TermSpace` can. What may be known is sometimes not told,
 * and the numbers of members that are not known are wrong.
 */
export function exactSelection(query: GeneratedQuery, members: readonly KnownMember[], random: Random): ExactSelection {
  const stores = members.map(({ data }) => loaded(data));
  const read = readPatterns(query);
  const told = [...read.patterns].flatMap(([key, pattern]) => {
    const keys = random.chance(0.3) ? [patternKey(undefined, pattern.predicate, pattern.object)] : [key];
    return random.chance(0.1) ? [] : keys.map((one): [string, Pattern] => [one, toPattern(one, pattern)]);
  });
  const found = new Map<string, readonly PatternSource[]>();
  for (const [key, pattern] of told) found.set(key, sourcesOf(pattern, { members, stores, random }));
  const everything = members.map((_, member) => member);
  const needed = new Set([...found.values()].flatMap((sources) => sources.map(({ member }) => member)));
  const mayBeTrimmed = !read.rangesOverNodes && told.length === read.patterns.size && random.chance(0.6);
  // A description may be made of triples of any member.
  const isTrimmed = mayBeTrimmed && query.form !== "describe";
  const kept = isTrimmed ? everything.filter((member) => needed.has(member)) : everything;
  const number = new Map(kept.map((member, index) => [member, index]));
  const patterns: Record<string, PatternSources> = {};
  for (const [key, sources] of found) {
    const excluded = members.length - sources.length;
    patterns[key] = {
      sources: sources.map((source) => Object.assign({}, source, { member: number.get(source.member) ?? -1 })),
      excluded: excluded > 0 ? [{ certificate: certificate("asked"), members: excluded }] : [],
    };
  }
  const disjoint = disjointMembers(kept, { members, stores, random });
  return {
    kept,
    selection: {
      patterns,
      disjointSubjects: disjoint.map((set) => ({
        certificate: certificate("partition"),
        members: set.map((member) => number.get(member) ?? -1),
      })),
      leftOut: members.length - kept.length,
    },
  };
}

interface Pattern {
  readonly subject: string | undefined;
  readonly predicate: string | undefined;
  readonly object: string | undefined;
}

interface Read {
  readonly members: readonly KnownMember[];
  readonly stores: readonly oxigraph.Store[];
  readonly random: Random;
}

const seenAt = "2026-01-01T00:00:00.000Z";
const certificate = (kind: Certificate["kind"]): Certificate => ({ kind, because: "It was read.", seenAt });

function loaded(data: string): oxigraph.Store {
  const store = new oxigraph.Store();
  store.load(data, { format: "nt" });
  return store;
}

/** The different patterns of a query that no SERVICE is around, by key. */
function readPatterns(query: GeneratedQuery): { patterns: ReadonlyMap<string, Pattern>; rangesOverNodes: boolean } {
  const patterns = new Map<string, Pattern>();
  let rangesOverNodes = false;
  const add = (pattern: Pattern): void => {
    patterns.set(patternKey(pattern.subject, pattern.predicate, pattern.object), pattern);
  };
  const visit = (group: Group): void => group.forEach((element) => visitElement(element));
  function visitElement(element: Element): void {
    if (element.kind === "service") return;
    if (element.kind === "triples") {
      for (const triple of element.triples) {
        if (/[>)][*?]/u.test(triple.predicate)) rangesOverNodes = true;
        patternsOf(triple).forEach(add);
      }
    }
    innerGroups(element).forEach(visit);
  }
  outerGroups(query).forEach(visit);
  return { patterns, rangesOverNodes };
}

/** A path is asked for with its predicates only; a negated one may have any. */
function patternsOf({ subject, predicate, object }: Triple): readonly Pattern[] {
  const any = { subject: undefined, predicate: undefined, object: undefined };
  if (predicate.startsWith("?")) return [{ ...any, subject: constant(subject), object: constant(object) }];
  if (predicate.includes("!")) return [any];
  const iris = predicate.match(/<[^>]*>/gu) ?? [];
  if (iris.length === 1 && predicate === iris[0])
    return [{ subject: constant(subject), predicate, object: constant(object) }];
  return iris.map((iri) => ({ subject: undefined, predicate: iri, object: undefined }));
}

const constant = (term: string): string | undefined => (term.startsWith("?") ? undefined : term);

/** The pattern of a key that is more general than a pattern. */
const toPattern = (key: string, pattern: Pattern): Pattern =>
  key.startsWith("? ") ? { ...pattern, subject: undefined } : pattern;

function sourcesOf(pattern: Pattern, { members, stores, random }: Read): readonly PatternSource[] {
  return members.flatMap(({ isKnown }, member): PatternSource[] => {
    if (!isKnown) return [random.chance(0.5) ? { member } : { member, triples: random.below(3) }];
    const triples = matches(stores[member], pattern);
    if (triples.length === 0) return [];
    const subjects = triples.map(([subject]) => subject);
    const objects = triples.map(([, , object]) => object);
    const counts = {
      triples: triples.length,
      distinctSubjects: new Set(subjects.map(String)).size,
      distinctObjects: new Set(objects.map(String)).size,
    };
    return [
      {
        member,
        ...(random.chance(0.7) && counts),
        ...(random.chance(0.7) && { subjects: spaceOf(subjects, random) }),
        ...(random.chance(0.7) && { objects: spaceOf(objects, random) }),
      },
    ];
  });
}

type Matched = readonly [subject: oxigraph.Term, predicate: oxigraph.Term, object: oxigraph.Term];

function matches(store: oxigraph.Store | undefined, pattern: Pattern): readonly Matched[] {
  const terms = [pattern.subject, pattern.predicate, pattern.object];
  const text = terms.map((term, index) => term ?? `?${"spo"[index] ?? ""}`).join(" ");
  const rows = (store?.query(`SELECT * { ${text} }`) ?? []) as Map<string, oxigraph.Term>[];
  const [known] = (store?.query(
    `SELECT * { ${terms.map((term, index) => `BIND(${term ?? "1"} AS ?${"spo"[index] ?? ""})`).join(" ")} }`,
  ) ?? []) as Map<string, oxigraph.Term>[];
  return rows.map((row) => {
    const [subject, predicate, object] = ["s", "p", "o"].map((name) => row.get(name) ?? known?.get(name));
    return [subject, predicate, object] as Matched;
  });
}

/** The narrowest of a few true statements about terms. */
function spaceOf(terms: readonly oxigraph.Term[], random: Random): TermSpace {
  const iris = [...new Set(terms.filter(({ termType }) => termType === "NamedNode").map(({ value }) => value))];
  const cut = random.pick<(iri: string) => string>([
    (iri) => iri,
    (iri) => iri.replace(/[^/]*$/u, ""),
    (iri) => new URL(iri).origin,
    (iri) => `${new URL(iri).origin}/`,
  ]);
  return {
    ...(random.chance(0.8) && { prefixes: [...new Set(iris.map(cut))] }),
    ...(terms.every(({ termType }) => termType !== "Literal") && { noLiterals: true }),
    ...(terms.every(({ termType }) => termType !== "BlankNode") && { noBlankNodes: true }),
  };
}

/** Known members no two of which have a subject in common, found greedily in random order; often fewer than there are. */
function disjointMembers(kept: readonly number[], { members, stores, random }: Read): readonly (readonly number[])[] {
  if (random.chance(0.1)) return [];
  const taken = new Set<string>();
  const set: number[] = [];
  const known = kept.filter((member) => members[member]?.isKnown === true);
  const start = random.below(Math.max(1, known.length));
  for (const member of [...known.slice(start), ...known.slice(0, start)]) {
    const triples = matches(stores[member], { subject: undefined, predicate: undefined, object: undefined });
    const subjects = new Set(triples.flatMap(([subject]) => (subject.termType === "NamedNode" ? [subject.value] : [])));
    if ([...subjects].some((subject) => taken.has(subject))) continue;
    subjects.forEach((subject) => taken.add(subject));
    set.push(member);
  }
  return set.length > 1 ? [set.toSorted((a, b) => a - b)] : [];
}
