import { rdf } from "../../../rdf/vocabularies.ts";
import type { PartName } from "../facts.ts";

/** Kinds of facts, each computed by one shape of query. */
export type FactKindName =
  | "graphs"
  | "classes"
  | "properties"
  | "classProperties"
  | "classObjectClasses"
  | "classDatatypes"
  | "propertyObjectClasses"
  | "propertyDatatypes";

/** Grouping variables: class, property, class or kind of the object, graph. */
export type GroupVariable = "c" | "p" | "k" | "g";

/** Counted number of each group: solutions, distinct subjects, distinct objects. */
export type Tally = "n" | "ds" | "do";

/** One kind of facts: for each key (a class, a property or a named graph) the groups of solutions that belong to it. */
export interface FactKind {
  readonly name: FactKindName;
  /** Kind of its keys: class, property or graph. */
  readonly key: "c" | "p" | "g";
  /** Where its facts lie: the list of its keys, and the lists of parts that lead to what is counted. */
  readonly path: readonly ["classes" | "properties" | "namedGraphs", ...PartName[]];
  /** Further grouping variables. */
  readonly detail: readonly GroupVariable[];
  /** Triple patterns beside the one that names the key. */
  readonly joined: readonly string[];
  /** FILTER and BIND behind them. */
  readonly tail: string;
  readonly tallies: readonly Tally[];
  /** Name of the facts in `UnknownFact.what`, before " of <key>". */
  readonly phrase: string;
}

/** The triple pattern that names a key, which is a variable or an IRI as SPARQL writes it. */
export function headOf({ key: variable }: FactKind, key: string): string {
  if (variable === "g") return `GRAPH ${key} { ?s ?p ?o }`;
  return variable === "c" ? `?s a ${key}` : `?s ${key} ?o`;
}

/** Placeholders for objects without a datatype, so that the groups of a property add up to its triples. */
export const objectKinds = {
  iri: "urn:fedway:kind:iri",
  blank: "urn:fedway:kind:blank",
  triple: "urn:fedway:kind:triple",
} as const;

const directed = `IF(DATATYPE(?o) = <${rdf.dirLangString}>, <${rdf.dirLangString}>, <${rdf.langString}>)`;
const kindOfObject =
  `BIND(IF(isLiteral(?o), IF(LANG(?o) = "", DATATYPE(?o), ${directed}), IF(isBlank(?o), <${objectKinds.blank}>, ` +
  `IF(isIRI(?o), <${objectKinds.iri}>, <${objectKinds.triple}>))) AS ?k)`;
const plain = { detail: [], joined: [], tail: "" } as const;
const all = ["n", "ds", "do"] as const;

/** The kinds, in the order in which they are computed (T1 lists, T2 existence; T3 counts come with both). */
export const factKinds: Readonly<Record<FactKindName, FactKind>> = {
  /** Named graphs and their sizes, where the default graph is empty. */
  graphs: { ...plain, name: "graphs", key: "g", path: ["namedGraphs"], tallies: ["n"], phrase: "triples of graph" },
  /** SPORTAL QC1 and QC5. */
  classes: { ...plain, name: "classes", key: "c", path: ["classes"], tallies: ["n", "ds"], phrase: "entities" },
  /** SPORTAL QD1 to QD4. */
  properties: {
    ...plain,
    name: "properties",
    key: "p",
    path: ["properties"],
    tallies: all,
    phrase: "triples of property",
  },
  /** SPORTAL QE1 to QE4. */
  classProperties: {
    name: "classProperties",
    key: "c",
    path: ["classes", "properties"],
    detail: ["p"],
    joined: ["?s ?p ?o"],
    tail: "",
    tallies: all,
    phrase: "properties",
  },
  /** SPORTAL QF10 within each class. */
  classObjectClasses: {
    name: "classObjectClasses",
    key: "c",
    path: ["classes", "properties", "objectClasses"],
    detail: ["p", "k"],
    joined: ["?s ?p ?o", "?o a ?k"],
    tail: "FILTER(isIRI(?k)) ",
    tallies: ["n"],
    phrase: "object classes",
  },
  /** Datatypes (void-ext) within each class, and kinds of the other objects. */
  classDatatypes: {
    name: "classDatatypes",
    key: "c",
    path: ["classes", "properties", "datatypes"],
    detail: ["p", "k"],
    joined: ["?s ?p ?o"],
    tail: `${kindOfObject} `,
    tallies: ["n"],
    phrase: "datatypes",
  },
  /** SPORTAL QF10. */
  propertyObjectClasses: {
    name: "propertyObjectClasses",
    key: "p",
    path: ["properties", "objectClasses"],
    detail: ["k"],
    joined: ["?o a ?k"],
    tail: "FILTER(isIRI(?k)) ",
    tallies: ["n"],
    phrase: "object classes of property",
  },
  /** Datatypes (void-ext) of each property. */
  propertyDatatypes: {
    name: "propertyDatatypes",
    key: "p",
    path: ["properties", "datatypes"],
    detail: ["k"],
    joined: [],
    tail: `${kindOfObject} `,
    tallies: ["n"],
    phrase: "datatypes of property",
  },
};

/** `UnknownFact.what` of one key; of all keys without one. */
export function factName(kind: FactKind, key?: string): string {
  return key === undefined ? `${kind.phrase}: all` : `${kind.phrase} of <${key}>`;
}
