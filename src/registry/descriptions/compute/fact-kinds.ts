import { rdf } from "../../../rdf/vocabularies.ts";
import type { Fact, FactList, Known, PartName } from "../facts.ts";
import type { Count } from "../void-description.ts";
import { existing, type FactBase, mergedCount } from "./fact-base.ts";
import type { Group, Groups } from "./observation.ts";

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

/** The solutions of each key of a kind: the second way to its groups (SPORTAL QC2 for `classProperties`). */
export const solutionsOfKeys = (kind: FactKind): FactKind => ({ ...kind, detail: [], tallies: ["n"] });

/** `UnknownFact.what` of one key; of all keys without one. */
export function factName(kind: FactKind, key?: string): string {
  return key === undefined ? `${kind.phrase}: all` : `${kind.phrase} of <${key}>`;
}

/** The keys of a kind that are known. */
export const keysOf = (base: FactBase, { path: [keys] }: FactKind): FactList => base[keys];

/** The count that says how many solutions the pattern of a key has. */
export const sizeOf = ({ key }: FactKind, fact: Fact | undefined): Count | undefined =>
  key === "c" ? fact?.entities : fact?.triples;

/** Groups of one key, and how they are known. */
interface Finding extends Known {
  readonly key: string;
  readonly groups: Groups | undefined;
}

const placeholders: ReadonlySet<string> = new Set(Object.values(objectKinds));

/** Puts the groups of a key into the facts: that they exist, and their counts. */
export function recordGroups(base: FactBase, kind: FactKind, { key, groups, ...known }: Finding): void {
  const [, ...parts] = kind.path;
  const counted = (value: number | undefined): Count | undefined =>
    value === undefined || known.status === "exists" ? undefined : { value, ...known };
  for (const { detail, n, ds, do: objects } of groups?.values() ?? []) {
    const iris = [key, ...detail];
    const last = iris.pop() ?? key;
    let facts = keysOf(base, kind);
    for (const [at, iri] of iris.entries()) facts = facts.known(iri, existing(known))[parts[at] ?? "properties"];
    if (placeholders.has(last)) continue;
    const fact = facts.known(last, known);
    if (kind.name === "classes") {
      fact.entities = mergedCount(fact.entities, counted(ds ?? n));
      continue;
    }
    fact.triples = mergedCount(fact.triples, counted(n));
    fact.distinctSubjects = mergedCount(fact.distinctSubjects, counted(ds));
    fact.distinctObjects = mergedCount(fact.distinctObjects, counted(objects));
  }
}

type Found = readonly [detail: readonly string[], fact: Fact];

/** The facts below one by the IRIs that lead to them along some lists of parts. */
function below(fact: Fact | undefined, parts: readonly PartName[]): readonly Found[] {
  let found: readonly Found[] = fact === undefined ? [] : [[[], fact]];
  for (const part of parts)
    found = found.flatMap(([detail, one]) => Array.from(one[part], ([iri, each]): Found => [[...detail, iri], each]));
  return found;
}

/** The lists that a kind makes for a key; none where its keys are the list. */
function listsOf(base: FactBase, kind: FactKind, key: string): readonly FactList[] {
  const [, ...parts] = kind.path;
  const last = parts.pop();
  return last === undefined ? [] : below(keysOf(base, kind).get(key), parts).map(([, fact]) => fact[last]);
}

/** Marks the lists that a kind makes for a key as complete. */
export function completeLists(base: FactBase, kind: FactKind, key: string): void {
  for (const list of listsOf(base, kind, key)) list.complete = true;
}

/** True if a key is verified and needs no query. */
export function isVerifiedKey(base: FactBase, kind: FactKind, key: string): boolean {
  if (kind.detail.length > 0) {
    const lists = listsOf(base, kind, key);
    return lists.length > 0 && lists.every(({ complete }) => complete);
  }
  const fact = keysOf(base, kind).get(key);
  const counts = [sizeOf(kind, fact), ...(kind.name === "properties" ? [fact?.distinctSubjects] : [])];
  return counts.every((count) => count?.status === "exact");
}

/** How many facts of a key there are. */
export function factsOf(base: FactBase, kind: FactKind, key: string): number {
  if (kind.detail.length === 0) return sizeOf(kind, keysOf(base, kind).get(key)) ? 1 : 0;
  return listsOf(base, kind, key).reduce((sum, { size }) => sum + size, 0);
}

/** The groups that facts stand for; undefined where they are not all counted, or do not stand for all groups. */
export function groupsOf(base: FactBase, kind: FactKind, key: string): Groups | undefined {
  const [, ...parts] = kind.path;
  const found = below(keysOf(base, kind).get(key), parts);
  // Objects without a datatype are groups, too.
  if (kind.name === "graphs" || parts.at(-1) === "datatypes" || (parts.length === 0 && found.length === 0))
    return undefined;
  const groups = new Map<string, Group>();
  for (const [detail, { entities, triples, distinctSubjects, distinctObjects }] of found) {
    const n = kind.name === "classes" ? entities : triples;
    if (n === undefined) return undefined;
    groups.set(detail.join(" "), { detail, n: n.value, ds: distinctSubjects?.value, do: distinctObjects?.value });
  }
  return groups;
}
