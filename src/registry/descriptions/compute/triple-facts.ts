import type * as RDF from "@rdfjs/types";
import { rdf } from "../../../rdf/vocabularies.ts";
import { bestTexts, textProperties } from "../term-texts.ts";
import { isWritable, languageTag, namespaceOf } from "../values.ts";
import { termKey } from "../../../results/terms.ts";
import { mostLanguages, mostNamespaces } from "./dataset-facts.ts";
import type { DatasetCount, FactBase } from "./fact-base.ts";
import { type FactKind, type FactKindName, factKinds, objectKinds } from "./fact-kinds.ts";
import { keysOf } from "./kind-facts.ts";
import type { Group, Observation } from "./observation.ts";
import type { Run } from "./run.ts";
import { accept } from "./verdicts.ts";

/** One triple of an answer; IRIs of properties and classes may be written into queries. */
export interface ReadTriple {
  readonly subject: RDF.Term;
  readonly property: string;
  readonly object: RDF.Term;
}

/** Keeps what all triples of an endpoint say as exact facts, each triple counted once. */
export function keepTriples(run: Run, triples: readonly ReadTriple[], record: number): void {
  const { base, todo } = run;
  const data = indexed(triples);
  const known = { status: "exact", record } as const;
  for (const { p } of data.triples) base.properties.known(p, known);
  for (const iri of new Set([...data.types.values()].flat())) base.classes.known(iri, known);
  base.classes.complete = base.properties.complete = true;
  for (const kind of Object.values(factKinds)) if (kind.name !== "graphs") keepKind(run, kind, { data, record });
  const count = (name: DatasetCount, value: number): void => {
    base.totals[name] = { value, ...known };
  };
  count("triples", data.triples.length);
  count("classes", base.classes.size);
  count("properties", base.properties.size);
  count("distinctSubjects", new Set(data.triples.map(({ s }) => s)).size);
  count("distinctObjects", new Set(data.triples.map(({ o }) => o)).size);
  keepNames(base, data.triples);
  keepTexts(base, data.triples, record);
  for (const task of readTasks) todo.close(task);
}

const readTasks = [
  "class list",
  "property list",
  "distinct subjects",
  "distinct objects",
  "languages",
  "namespaces",
] as const;

/** A triple with its terms as texts. */
interface IndexedTriple {
  readonly s: string;
  readonly p: string;
  readonly o: string;
  readonly subject: RDF.Term;
  readonly object: RDF.Term;
}

interface Data {
  readonly triples: readonly IndexedTriple[];
  /** Classes with an IRI by the text of their instance. */
  readonly types: ReadonlyMap<string, readonly string[]>;
}

/** Engines may give a triple of several graphs several times. */
function indexed(triples: readonly ReadTriple[]): Data {
  const once = new Map<string, IndexedTriple>();
  const types = new Map<string, string[]>();
  for (const { subject, property, object } of triples) {
    const [s, o] = [termKey(subject), termKey(object)];
    const text = `${s} ${property} ${o}`;
    if (once.has(text)) continue;
    once.set(text, { s, p: property, o, subject, object });
    if (property !== rdf.type || object.termType !== "NamedNode") continue;
    const own = types.get(s);
    if (own === undefined) types.set(s, [object.value]);
    else own.push(object.value);
  }
  return { triples: [...once.values()], types };
}

const noTypes: readonly string[] = [];

/** Key and details of the solutions that the query of a kind has for a triple. */
const solutions: Readonly<
  Record<Exclude<FactKindName, "graphs">, (triple: IndexedTriple, types: Data["types"]) => readonly string[][]>
> = {
  classes: ({ p, object }) => (p === rdf.type && object.termType === "NamedNode" ? [[object.value]] : []),
  properties: ({ p }) => [[p]],
  classProperties: ({ s, p }, types) => (types.get(s) ?? noTypes).map((type) => [type, p]),
  classObjectClasses: ({ s, p, o }, types) =>
    (types.get(s) ?? noTypes).flatMap((type) => (types.get(o) ?? noTypes).map((target) => [type, p, target])),
  classDatatypes: ({ s, p, object }, types) => (types.get(s) ?? noTypes).map((type) => [type, p, kindOf(object)]),
  propertyObjectClasses: ({ p, o }, types) => (types.get(o) ?? noTypes).map((target) => [p, target]),
  propertyDatatypes: ({ p, object }) => [[p, kindOf(object)]],
};

function kindOf(object: RDF.Term): string {
  if (object.termType === "Literal") return object.datatype.value;
  if (object.termType === "Quad") return objectKinds.triple;
  return object.termType === "BlankNode" ? objectKinds.blank : objectKinds.iri;
}

interface Tally {
  readonly detail: readonly string[];
  n: number;
  readonly subjects: Set<string>;
  readonly objects: Set<string>;
}

/** Counts the groups of a kind as its query does. */
function keepKind(run: Run, kind: FactKind, { data, record }: { readonly data: Data; readonly record: number }): void {
  if (kind.name === "graphs") return;
  const tallies = new Map<string, Map<string, Tally>>();
  for (const triple of data.triples) {
    for (const [key = "", ...detail] of solutions[kind.name](triple, data.types)) {
      const ofKey = tallies.get(key) ?? new Map<string, Tally>();
      tallies.set(key, ofKey);
      const name = detail.join(" ");
      const tally = ofKey.get(name) ?? { detail, n: 0, subjects: new Set(), objects: new Set() };
      ofKey.set(name, tally);
      tally.n += 1;
      tally.subjects.add(triple.s);
      tally.objects.add(triple.o);
    }
  }
  const groups = new Map(
    [...tallies].map(([key, named]) => [key, new Map([...named].map(([name, tally]) => [name, groupOf(tally)]))]),
  );
  const observation: Observation = { ...wholeAnswer, groups, record };
  for (const key of keysOf(run.base, kind).keys()) accept(run, kind, { key, observation });
  run.todo.closeKind(kind);
}

const wholeAnswer = { whole: true, cut: false, flawed: new Set<string>(), skipped: 0, rows: 0, durationMs: 0 } as const;

const groupOf = ({ detail, n, subjects, objects }: Tally): Group => ({
  detail,
  n,
  ds: subjects.size,
  do: objects.size,
});

function keepNames(base: FactBase, triples: readonly IndexedTriple[]): void {
  base.languages.clear();
  const iris = new Set<string>();
  for (const { subject, object } of triples) {
    if (subject.termType === "NamedNode") iris.add(subject.value);
    if (object.termType !== "Literal" || object.language === "") continue;
    const tag = languageTag(object.language);
    if (tag !== undefined && base.languages.size < mostLanguages) base.languages.add(tag);
  }
  for (const iri of iris) {
    const namespace = isWritable(iri) ? namespaceOf(iri) : undefined;
    if (namespace !== undefined && base.namespaces.size < mostNamespaces) base.namespaces.add(namespace);
  }
}

function keepTexts(base: FactBase, triples: readonly IndexedTriple[], record: number): void {
  const texts = new Map<string, IndexedTriple[]>();
  for (const triple of triples) {
    const { subject, p } = triple;
    const isTerm = base.classes.has(subject.value) || base.properties.has(subject.value);
    if (isTerm && subject.termType === "NamedNode" && textProperties.includes(p)) {
      texts.set(subject.value, [...(texts.get(subject.value) ?? []), triple]);
    }
  }
  for (const [iri, own] of texts) {
    const found = bestTexts((property) => own.filter(({ p }) => p === property).map(({ object }) => object));
    if (found) base.terms.set(iri, { iri, ...found, status: "exists", record });
  }
}
