import { PrefixTable } from "../../registry/schema.ts";
import { itemAt } from "../../values.ts";
import { iriParts } from "../../rdf/display-text.ts";
import { type GrammarSource, type Place, placesOf, termsOf } from "../grammar/places.ts";

/** Kind of a column's values, which decides how they are compared. */
export type ColumnKind = "number" | "date" | "text" | "other" | "node";

/** A property that a node can be asked for, at an endpoint that has it for the node's class. */
export interface PropertyChoice {
  readonly at: string;
  readonly property: string;
  readonly kind: ColumnKind;
}

/** One step to a class, along a property or against its direction. */
export interface Hop {
  readonly at: string;
  readonly property: string;
  readonly back: boolean;
  /** IRI of the class there, and the endpoint that has it. */
  readonly class: string;
  readonly classAt: string;
}

/** Classes, properties and paths of a few endpoints, from their descriptions. */
export interface Schema {
  readonly sources: readonly GrammarSource[];
  readonly table: PrefixTable;
  /** Largest first. */
  readonly classes: readonly { readonly at: string; readonly class: string }[];
  /** Properties of a class at any endpoint that has it, its own first. */
  properties(iri: string, at: string): readonly PropertyChoice[];
  /** Paths of one hop, then those of two to classes that one hop does not reach. */
  paths(iri: string, at: string): readonly (readonly Hop[])[];
}

const mostPaths = 60;

/** The schema that choices are made from. Links between endpoints come from linksets and from classes that several have. */
export function schemaOf(sources: readonly GrammarSource[]): Schema {
  const all = placesOf(sources, termsOf(sources).items, (iri) => iri);
  const places = all.filter((place) => place.class !== undefined);
  // Which class has which property is not published, so any may.
  const loose = all.filter((place) => place.class === undefined && sources[place.source]?.published !== undefined);
  const id = ({ source }: Place): string => itemAt(sources, source).id;
  const of = (iri: string): readonly Place[] => places.filter((place) => place.class === iri);
  const here = (iri: string, at: string): Place | undefined => of(iri).find((place) => id(place) === at);
  const hops = (place: Place): readonly Hop[] =>
    place.links.map(({ property, to, back }) => ({
      at: back ? id(to) : id(place),
      property,
      back,
      class: to.class ?? "",
      classAt: id(to),
    }));
  return {
    sources,
    table: PrefixTable.of(...sources.map(({ description }) => description)),
    classes: places.map((place) => ({ at: id(place), class: place.class ?? "" })),
    properties(iri, at) {
      const ordered = of(iri).toSorted((one, other) => Number(id(other) === at) - Number(id(one) === at));
      const own = loose.filter((place) => id(place) === at);
      const found = [...ordered, ...own].flatMap((place) => propertiesOf(place, id(place)));
      return found.filter((one, index) => found.findIndex((other) => other.property === one.property) === index);
    },
    paths(iri, at) {
      const start = here(iri, at);
      if (start === undefined) return [];
      const near = hops(start);
      const reached = new Set([iri, ...near.map((hop) => hop.class)]);
      const far = near.flatMap((hop) => {
        const next = here(hop.class, hop.classAt);
        return (next ? hops(next) : []).filter((second) => !reached.has(second.class)).map((second) => [hop, second]);
      });
      return [...near.map((hop) => [hop]), ...far].slice(0, mostPaths);
    },
  };
}

function propertiesOf({ numbers, dates, texts, others }: Place, at: string): readonly PropertyChoice[] {
  const of = (properties: readonly string[], kind: ColumnKind): readonly PropertyChoice[] =>
    properties.map((property) => ({ at, property, kind }));
  return [...of(texts, "text"), ...of(numbers, "number"), ...of(dates, "date"), ...of(others, "other")];
}

/** A name for a variable, from the last part of an IRI. */
export function variableName(iri: string): string {
  const name = (iriParts(iri).local || "x").replaceAll(/[^A-Za-z0-9_]+/g, "_").slice(0, 30);
  return /^[A-Za-z]/.test(name) ? name : `x${name}`;
}
