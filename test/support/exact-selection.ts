import { Parser } from "n3";
import type * as RDF from "@rdfjs/types";
import {
  type PatternSources,
  type SourceSelection,
  patternKey,
  type TermSpace,
} from "../../src/plan/source-selection.ts";
import { termToText } from "../../src/results/terms.ts";

/** How much of what is true a selection says. */
interface SelectionOptions {
  /** Patterns, counts, spaces and sets of members for which this is false are not in it; default: all are. */
  readonly knows?: (what: string) => boolean;
  /** Begins of IRIs by which members' terms are told; default: the whole IRI. */
  readonly prefixOf?: ((iri: string) => string) | undefined;
}

/** What is true of the default graphs of members with these N-Quads, for every pattern with a predicate of theirs and an object or none. */
export function exactSelection(data: readonly string[], options: SelectionOptions = {}): SourceSelection {
  const { knows = () => true } = options;
  const parsed = data.map((text) => new Parser({ format: "N-Quads" }).parse(text));
  const quads = parsed.map((own) => own.filter(({ graph }) => graph.termType === "DefaultGraph"));
  const keys = new Set(quads.flat().flatMap((quad) => keysOf(quad)));
  const patterns: Record<string, PatternSources> = {};
  for (const key of keys) {
    if (!knows(key)) continue;
    const sources = quads.flatMap((own, member) => {
      const matching = own.filter((quad) => keysOf(quad).includes(key));
      const subjects = distinct(matching.map(({ subject }) => subject));
      const objects = distinct(matching.map(({ object }) => object));
      const counts = {
        triples: distinct(matching).length,
        distinctSubjects: subjects.length,
        distinctObjects: objects.length,
      };
      const about = `${key} ${member}`;
      return matching.length === 0
        ? []
        : [
            {
              member,
              ...(knows(`counts ${about}`) && counts),
              ...(knows(`subjects ${about}`) && { subjects: spaceOf(subjects, options) }),
              ...(knows(`objects ${about}`) && { objects: spaceOf(objects, options) }),
            },
          ];
    });
    patterns[key] = { sources, excluded: [] };
  }
  const disjoint = knows("disjoint") ? disjointMembers(quads) : [];
  const certificate = { kind: "partition", because: "The test says so.", seenAt: "2026-01-01T00:00:00Z" } as const;
  return { patterns, disjointSubjects: disjoint.map((members) => ({ certificate, members })), leftOut: 0 };
}

/** Keys of the patterns that a triple matches. */
function keysOf({ predicate, object }: RDF.Quad): readonly string[] {
  const [property, value] = [termToText(predicate), termToText(object)];
  const any = [patternKey(undefined, property, undefined), patternKey(undefined, undefined, undefined)];
  return object.termType === "BlankNode" ? any : [...any, patternKey(undefined, property, value)];
}

function distinct<T extends RDF.Term>(terms: readonly T[]): readonly T[] {
  return [...new Map(terms.map((term) => [termToText(term), term])).values()];
}

function spaceOf(terms: readonly RDF.Term[], { prefixOf = (iri) => iri }: SelectionOptions): TermSpace {
  const iris = terms.flatMap((term) => (term.termType === "NamedNode" ? [prefixOf(term.value)] : []));
  return {
    prefixes: [...new Set(iris)],
    ...(terms.every(({ termType }) => termType !== "Literal") && { noLiterals: true as const }),
    ...(terms.every(({ termType }) => termType !== "BlankNode") && { noBlankNodes: true as const }),
  };
}

/** A set of members that share no subject, as large as one finds it going through them in order; and all others alike. */
function disjointMembers(quads: readonly (readonly RDF.Quad[])[]): readonly (readonly number[])[] {
  const subjects = quads.map(
    (own) => new Set(own.flatMap(({ subject }) => (subject.termType === "BlankNode" ? [] : [subject.value]))),
  );
  const sets: number[][] = [];
  for (const [member, own] of subjects.entries()) {
    const set = sets.find((others) => others.every((other) => own.isDisjointFrom(subjects[other] ?? new Set())));
    if (set) set.push(member);
    else sets.push([member]);
  }
  return sets.filter(({ length }) => length > 1);
}
