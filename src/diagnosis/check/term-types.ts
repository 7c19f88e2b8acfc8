import type { KnownSources } from "../../plan/plan-request.ts";
import type { TermSpace } from "../../plan/source-selection.ts";
import { languageTypes, rdf, xsd } from "../../rdf/vocabularies.ts";
import type { EndpointModels } from "../../registry/model.ts";
import type { PatternTerm } from "../../sparql/patterns.ts";
import { isNumeric, isValueOf } from "../typed-text.ts";
import { type PropertyFacts, type Vocabulary, vocabularyOf } from "./vocabulary.ts";

/** Possible types of the terms at one place of a pattern at one endpoint. Absent: nothing is known. */
export interface TermType {
  readonly endpoint?: string;
  /** Kinds of literals there are: "number", `@` with a language or without, other datatypes. */
  readonly literals?: readonly string[];
  /** Prefixes of each IRI in that place. */
  readonly iris?: readonly string[];
  readonly noBlankNodes?: boolean;
  /** Each term is an instance of one of these, as far as is known. */
  readonly classes?: ReadonlySet<string>;
  /** All properties of a class of which every term is an instance. */
  readonly properties?: ReadonlySet<string> | undefined;
  /** No term is an instance of another class. */
  readonly onlyClasses?: ReadonlySet<string>;
  /** Property that every term in that place has. */
  readonly property?: string;
  readonly class?: string;
}

/** "certain": by facts that are complete, fresh and not contradicted; "likely": all that is known, as if nothing were missing. */
export type Certainty = "certain" | "likely";

/** Sources that types are derived from. */
export interface TypeFacts {
  readonly models: Pick<EndpointModels, "get">;
  /** Absent: nothing is certain. */
  readonly sources?: Pick<KnownSources, "facts"> | undefined;
}

/** Types of the subjects and objects of a property at an endpoint. */
export interface PatternTypes {
  readonly subject: TermType;
  readonly object: TermType;
}

const any: PatternTypes = { subject: {}, object: {} };
/** Numbers are compared by value, whatever their datatypes. */
const kindOf = (datatype: string): string => (isNumeric(datatype) ? "number" : datatype);

/** Types of one endpoint's triples. */
export class EndpointTypes {
  readonly vocabulary: Vocabulary | undefined;
  readonly #id: string;
  readonly #facts: ReturnType<KnownSources["facts"]>;
  readonly #isCertain: boolean;

  constructor(id: string, certainty: Certainty, { models, sources }: TypeFacts) {
    const { described, entry } = models.get(id) ?? {};
    this.#id = id;
    this.#isCertain = certainty === "certain";
    this.vocabulary = described && vocabularyOf(described);
    this.#facts = sources?.facts({ id, url: entry?.url ?? described?.endpoint ?? "" });
  }

  /** Undefined: the endpoint has no such triple. */
  of(predicate: string, object: PatternTerm): PatternTypes | undefined {
    if (predicate === rdf.type) return object.kind === "iri" ? this.#ofClass(object.iri) : any;
    const known = this.vocabulary?.properties.get(predicate);
    const { properties } = this.#facts ?? {};
    const has = this.#has(predicate, properties, known !== undefined);
    if (known === undefined || has !== "yes") return has === "no" ? undefined : any;
    const { subjects, objects } = properties?.get(predicate) ?? {};
    const [only] = known.allSubjects;
    const subject = { ...this.#instancesOf(only, known.subjects), ...spaceOf(subjects), property: predicate };
    return { subject, object: { ...this.#valuesOf(known), ...spaceOf(objects) } };
  }

  #ofClass(iri: string): PatternTypes | undefined {
    const { classes, instances, properties } = this.#facts ?? {};
    const has = this.#has(iri, classes, this.vocabulary?.classes.has(iri) === true);
    if (has !== "yes") return has === "no" ? undefined : any;
    const space = instances?.get(iri) ?? properties?.get(rdf.type)?.subjects;
    return { subject: { ...this.#instancesOf(iri, new Set([iri])), ...spaceOf(space), class: iri }, object: {} };
  }

  #has(iri: string, list: { has(iri: string): boolean } | undefined, isDescribed: boolean): "yes" | "no" | "unknown" {
    if (!this.#isCertain) return isDescribed ? "yes" : "no";
    if (list === undefined) return "unknown";
    return list.has(iri) ? "yes" : "no";
  }

  #instancesOf(only: string | undefined, classes: ReadonlySet<string>): TermType {
    const properties = this.#facts && this.vocabulary?.classes.get(only ?? "")?.properties;
    return { endpoint: this.#id, literals: [], properties, ...this.#likely(classes) };
  }

  /** Lists that may be incomplete prove nothing. */
  #likely(classes: ReadonlySet<string>): TermType {
    return !this.#isCertain && classes.size > 0 ? { classes } : {};
  }

  #valuesOf({ datatypes, objects, objectsComplete, isLiteral }: PropertyFacts): TermType {
    const seemsLiteral = !this.#isCertain && objects.size === 0 && datatypes.size > 0;
    const isListed = objectsComplete || (!this.#isCertain && datatypes.size + objects.size > 0);
    return {
      endpoint: this.#id,
      ...(isListed && { literals: this.#kindsOf(datatypes) }),
      ...((isLiteral || seemsLiteral) && { iris: [], noBlankNodes: true }),
      ...(objectsComplete && this.#facts && { onlyClasses: objects }),
      ...this.#likely(objects),
    };
  }

  #kindsOf(datatypes: ReadonlySet<string>): readonly string[] {
    const languages = this.#isCertain ? [] : [...(this.vocabulary?.languages ?? [])];
    const tags = languages.length === 0 ? ["@"] : languages.map((tag) => `@${tag.toLowerCase()}`);
    return [...datatypes].flatMap((iri) => (languageTypes.has(iri) ? tags : [kindOf(iri)]));
  }
}

const spaceOf = (space: TermSpace | undefined): TermType => ({
  ...(space?.noLiterals && { literals: [] }),
  ...(space?.prefixes && { iris: space.prefixes }),
  ...(space?.noBlankNodes && { noBlankNodes: true }),
});

/** The type of a constant, which no other term has. */
export function typeOfConstant(term: PatternTerm): TermType {
  if (term.kind === "variable") return {};
  if (term.kind === "iri") return { literals: [], iris: [term.iri], noBlankNodes: true };
  const { language, datatype, value } = term.literal;
  const kind = language === "" ? kindOf(datatype.value) : `@${language.toLowerCase()}`;
  // What is no value of its datatype is compared with none.
  return { literals: [isValueOf(value, datatype.value) ? kind : `${kind}, not valid`], iris: [], noBlankNodes: true };
}

/** True if one term may be of both types. */
export function mayMeet(one: TermType, other: TermType): boolean {
  if (haveCommon(one.literals, other.literals)) return true;
  if (!haveCommon(one.iris, other.iris) && (one.noBlankNodes || other.noBlankNodes)) return false;
  if (one.classes && other.classes && [...one.classes].every((iri) => other.classes?.has(iri) === false)) return false;
  // What an endpoint says of a term says nothing of the same term elsewhere.
  return one.endpoint !== other.endpoint || !(excludes(one, other) || excludes(other, one));
}

const excludes = ({ properties, onlyClasses }: TermType, other: TermType): boolean =>
  (other.property !== undefined && properties?.has(other.property) === false) ||
  (other.class !== undefined && onlyClasses?.has(other.class) === false);

/** True if two lists have a kind, or the beginning of an IRI, in common. */
const haveCommon = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  one === undefined || other === undefined
    ? one?.length !== 0 && other?.length !== 0
    : one.some((start) => other.some((its) => areCommon(start, its) || areCommon(its, start)));

/** "@" is any language, and IRIs begin alike; a datatype is itself alone. */
const areCommon = (start: string, whole: string): boolean =>
  start === whole || (!start.startsWith(xsd.namespace) && whole.startsWith(start));
