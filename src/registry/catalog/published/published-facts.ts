import { iriParts } from "../../../rdf/display-text.ts";
import type { KnownCount, KnownSchema } from "../../model/schema.ts";
import type { FactsFile } from "./facts-file.ts";
import type { PublishedShape } from "./shapes-file.ts";

/** Published facts about one class or property of an endpoint. */
export interface PublishedTerm {
  readonly kind: "class" | "property";
  readonly iri: string;
  /** Published queries that name it. */
  readonly uses: number;
  /** Instances of the class, triples of the property, in one release of the data. */
  readonly count?: number | undefined;
}

/** A prefix of an endpoint. */
interface PublishedPrefix {
  readonly namespace: string;
  /** "predefined": the engine knows it; "used": published queries use it undeclared; "example": examples declare it. */
  readonly how: "predefined" | "used" | "example";
}

/**
 * Facts that others published about an endpoint: for finding, completing and checking. They are never complete, and a description
 * of the endpoint itself wins, so they never leave an endpoint out of an answer.
 */
export interface PublishedFacts {
  readonly url: string;
  /** When and from where: "published, as of 2026-11-26, from dbcls/rdf-config and 2 more". */
  readonly provenance: string;
  /** Other or former URLs of the same endpoint. */
  readonly aliases: readonly string[];
  /** URLs of the same service with a part of the data. */
  readonly parts: readonly string[];
  /** URLs of other servers with the same data. */
  readonly mirrors: readonly string[];
  /** Query pages that people paste as the endpoint. */
  readonly pages: readonly string[];
  /** SERVICE targets that are extensions of the engine. */
  readonly pseudoServices: readonly string[];
  readonly prefixes: ReadonlyMap<string, PublishedPrefix>;
  /** By `publishedKey`, most used first within a namespace. */
  readonly terms: ReadonlyMap<string, PublishedTerm>;
  /** Namespaces of the terms. */
  readonly vocabularies: ReadonlySet<string>;
  /** Uses of IRIs by what they begin with. */
  readonly resourceSpaces: ReadonlyMap<string, number>;
  /** Terms that stand together in published queries, most used first, then in published models. */
  readonly shapes: readonly PublishedShape[];
}

/** Key of a class or property among published terms. */
export const publishedKey = (kind: PublishedTerm["kind"], iri: string): string => `${kind[0]} ${iri}`;

const claimed = (count: number | undefined): KnownCount | undefined =>
  count === undefined ? undefined : { value: count, status: "claimed" };

/** The terms as a schema, those that most instances, triples or published queries have first; which class has which property is not known. */
export function publishedSchema({ url, terms }: PublishedFacts): KnownSchema & { readonly endpoint: string } {
  const ofKind = (kind: PublishedTerm["kind"]): readonly PublishedTerm[] =>
    [...terms.values()]
      .filter((term) => term.kind === kind)
      .toSorted((one, other) => (other.count ?? 0) - (one.count ?? 0) || other.uses - one.uses);
  return {
    endpoint: url,
    classPartitions: ofKind("class").map(({ iri, count }) => ({
      class: iri,
      entities: claimed(count),
      properties: [],
      propertiesComplete: false,
    })),
    propertyPartitions: ofKind("property").map(({ iri, count }) => ({
      property: iri,
      triples: claimed(count),
      objectClasses: [],
      datatypes: [],
      objectsComplete: false,
    })),
    linksets: [],
  };
}

/** The facts that a file has. */
export function publishedFacts(file: FactsFile): PublishedFacts {
  const { url, aliases = [], parts = [], mirrors = [], pages = [], pseudoServices = [] } = file;
  const terms = new Map<string, PublishedTerm>();
  const take = (kind: PublishedTerm["kind"], spaces: FactsFile["classes"] = {}): void => {
    for (const [space, locals] of Object.entries(spaces)) {
      for (const [local, said] of Object.entries(locals)) {
        const { uses = 0, instances, triples } = typeof said === "number" ? { uses: said } : said;
        const iri = space + local;
        terms.set(publishedKey(kind, iri), { kind, iri, uses, count: instances ?? triples });
      }
    }
  };
  take("class", file.classes);
  take("property", file.properties);
  const resourceSpaces = new Map(Object.entries(file.resourceSpaces ?? {}));
  const vocabularies = new Set([...Object.keys(file.classes ?? {}), ...Object.keys(file.properties ?? {})]);
  const lists = { aliases, parts, mirrors, pages, pseudoServices };
  return {
    url,
    provenance: provenanceOf(file),
    ...lists,
    prefixes: prefixesOf(file),
    terms,
    vocabularies,
    resourceSpaces,
    shapes: [],
  };
}

/**
 * The facts with shapes: those of the endpoint itself, whose terms it has then, and those of endpoints like it.
 */
export function withShapes(
  facts: PublishedFacts,
  own: readonly PublishedShape[],
  ofLike: readonly PublishedShape[],
): PublishedFacts {
  const terms = new Map(facts.terms);
  const vocabularies = new Set(facts.vocabularies);
  for (const { of, steps, uses } of own) {
    const add = (kind: PublishedTerm["kind"], iri: string | undefined): void => {
      const known = iri === undefined ? undefined : terms.get(publishedKey(kind, iri));
      if (iri === undefined || (known !== undefined && known.uses >= uses)) return;
      terms.set(publishedKey(kind, iri), { kind, iri, count: known?.count, uses });
      vocabularies.add(iriParts(iri).namespace);
    };
    add("class", of);
    for (const step of steps) {
      add("property", step.property);
      add("class", step.class);
    }
  }
  return { ...facts, terms, vocabularies, shapes: [...own, ...ofLike] };
}

function prefixesOf({ prefixes = {} }: FactsFile): ReadonlyMap<string, PublishedPrefix> {
  const { predefined, usedUndeclared = {}, examples = {} } = prefixes;
  const known = new Map<string, PublishedPrefix>();
  const take = (map: Readonly<Record<string, string>>, how: PublishedPrefix["how"]): void => {
    for (const [prefix, namespace] of Object.entries(map)) known.set(prefix, { namespace, how });
  };
  // The surest last, as it wins.
  take(examples, "example");
  take(usedUndeclared, "used");
  take(predefined?.map ?? {}, "predefined");
  return known;
}

function provenanceOf({ asOf, sources }: FactsFile): string {
  const repositories = [...new Set(sources.map(({ repo }) => repo))];
  const [first, ...others] = repositories;
  const from = first === undefined ? "" : `, from ${first}${others.length > 0 ? ` and ${others.length} more` : ""}`;
  return `published, as of ${asOf}${from}`;
}
