import { setImmediate as nextTurn } from "node:timers/promises";
import type * as RDF from "@rdfjs/types";
import { rdf } from "../../../rdf/vocabularies.ts";
import { bestTexts, isWritable, languageTag, namespaceOf, textProperties } from "../values.ts";
import type { Reason } from "./todo.ts";
import { type FactKind, type FactKindName, factKinds, keysOf, objectKinds } from "./fact-kinds.ts";
import { allTriplesQuery, dataSizeQuery, listTotalQuery, solutionQuery } from "./queries.ts";
import { ask, askCount, type Outcome, type Run, weighed, workOf } from "./run.ts";
import { termKey } from "../../../results/terms.ts";
import { mostLanguages, mostNamespaces } from "./dataset-facts.ts";
import type { DatasetCount, FactBase } from "./fact-base.ts";
import { countOf, type Group, type Observation } from "./observation.ts";
import { accept } from "./verdicts.ts";
import { valueFor } from "../../../values.ts";

/** Name of the reading of all triples, in notes about contradicting answers. */
const allTriples = "all triples in one answer";

/** Few triples are shorter. */
const leastTripleBytes = 50;
/** Taken for a triple where the endpoint does not sum up lengths. */
const usualTripleBytes = 110;
/** Bytes of an answer for a byte of the data, at most. */
const inJson = 4;

/**
 * Describes an endpoint with few data from all of them, in four requests: how many triples there are, all of them, one behind
 * the last, and how many the properties that make up the lighter half have. When the four agree every fact is exact.
 * Otherwise nothing is kept but a note, and the endpoint is described as a large one is.
 * @param mostBytes of the data as N-Triples
 * @returns the triples if it is described by them; undefined when there are more, or when the answers do not agree
 */
export async function readWhole(run: Run, mostBytes: number): Promise<readonly ReadTriple[] | undefined> {
  const mostTriples = Math.floor(mostBytes / leastTripleBytes);
  if (!mayRead(run, mostTriples)) return undefined;
  const { triples, bytes } = await dataSize(run, mostTriples + 1);
  if (triples === 0 || triples > mostTriples || bytes > mostBytes) return undefined;
  const read = await readAll(run, triples, inJson * mostBytes);
  if (read === undefined || "why" in read) {
    if (read) run.todo.note({ what: allTriples, ...read });
    return undefined;
  }
  await keepTriples(run, read.triples, read.record);
  return read.triples;
}

/** Counts triples up to a limit, and about their bytes as N-Triples; none where the endpoint does not say for certain. */
async function dataSize(run: Run, limit: number): Promise<{ readonly triples: number; readonly bytes: number }> {
  const size = await ask(run, { query: dataSizeQuery(limit, run.dialect), level: 1 });
  const [row] = size.ok && size.sound ? size.answer.rows : [];
  if (size.ok && !size.sound) run.todo.note({ what: allTriples, why: "partial", record: size.record });
  const triples = countOf(row?.get("n")) ?? 0;
  return { triples, bytes: countOf(row?.get("b")) ?? triples * usualTripleBytes };
}

interface Read {
  readonly triples: readonly ReadTriple[];
  readonly record: number;
}

/** All triples, or why they are not certain; undefined where some are not to be described. */
async function readAll(run: Run, expected: number, maxBytes: number): Promise<Read | Reason | undefined> {
  const outcome = await askTriples(run, expected, maxBytes);
  const { record } = outcome;
  if (!outcome.ok) return { why: outcome.why, record };
  const { rows, quads } = outcome.answer;
  const found = [...rows.map(tripleIn), ...quads.map(tripleOf)];
  const triples = found.filter((triple) => triple !== undefined);
  // Virtuoso's default graph holds its own system graphs, which are no part of the data.
  if (triples.length < found.length || triples.some(isOfEngine)) return undefined;
  const isWhole = outcome.sound && found.length === expected;
  if (!isWhole || !(await isLast(run, expected)) || !(await agreesInPart(run, triples)))
    return { why: "partial", record };
  return { triples, record };
}

/** All triples as rows or, where those come in a format of many bytes, as a graph, which has no triple twice. */
async function askTriples(run: Run, expected: number, maxBytes: number): Promise<Outcome> {
  const bounds = { level: 1, maxRows: expected + 1, maxBytes } as const;
  if (!run.session.hasShortRows) {
    const query = allTriplesQuery("CONSTRUCT", bounds.maxRows, run.dialect);
    const outcome = await ask(run, { query, ...bounds, kind: "quads", accept: "application/n-triples" });
    if (outcome.ok && outcome.answer.quads.length === expected) return outcome;
  }
  return ask(run, { query: allTriplesQuery("SELECT", bounds.maxRows, run.dialect), ...bounds });
}

/** Nothing is known yet, and nothing speaks against few triples. */
function mayRead({ todo, claims, base }: Run, mostTriples: number): boolean {
  const isNew = todo.isOpen("class list") && todo.isOpen("property list") && base.properties.size === 0;
  const claimed = claims.totals.triples?.value ?? 0;
  return isNew && claimed <= mostTriples && mostTriples > 0;
}

function tripleIn(row: ReadonlyMap<string, RDF.Term>): ReadTriple | undefined {
  const [subject, predicate, object] = [row.get("s"), row.get("p"), row.get("o")];
  return subject && predicate && object && tripleOf({ subject, predicate, object });
}

/** Undefined for a triple that can be in no description: its property or class may not be written into queries. */
function tripleOf({ subject, predicate, object }: Readonly<Record<"subject" | "predicate" | "object", RDF.Term>>) {
  const isType = predicate.value === rdf.type && object.termType === "NamedNode";
  const isUsable = isWritable(predicate.value) && (!isType || isWritable(object.value));
  return isUsable ? { subject, property: predicate.value, object } : undefined;
}

const isOfEngine = ({ subject, property }: ReadTriple): boolean =>
  [subject.value, property].some((iri) => iri.startsWith("http://www.openlinksw.com/schemas/virtrdf#"));

async function isLast(run: Run, offset: number): Promise<boolean> {
  const outcome = await ask(run, { query: solutionQuery(factKinds.properties, offset, run.dialect), level: 2 });
  return outcome.ok && outcome.sound && outcome.answer.rows.length === 0;
}

/** Counts the triples of all properties but the heaviest half: that is less work, and shows properties that were not read. */
async function agreesInPart(run: Run, triples: readonly ReadTriple[]): Promise<boolean> {
  const counts = new Map<string, number>();
  for (const { property } of triples) counts.set(property, (counts.get(property) ?? 0) + 1);
  const ascending = weighed(counts.keys(), (property) => valueFor(counts, property));
  const half = ascending.findIndex((_, at) => workOf(ascending.slice(0, at + 1)) > triples.length / 2);
  const heavy = ascending.slice(half).map(({ key }) => key);
  const dialect = { ...run.dialect, countDistinct: false };
  const { value, sound } = await askCount(run, listTotalQuery(factKinds.properties, { without: heavy }, dialect));
  return sound && value === workOf(ascending.slice(0, half));
}

/** One triple of an answer; IRIs of properties and classes may be written into queries. */
export interface ReadTriple {
  readonly subject: RDF.Term;
  readonly property: string;
  readonly object: RDF.Term;
}

/** Keeps what all triples of an endpoint say as exact facts, each triple counted once. Others have a turn in between. */
async function keepTriples(run: Run, triples: readonly ReadTriple[], record: number): Promise<void> {
  const { base, todo } = run;
  const data = indexed(triples);
  const known = { status: "exact", record } as const;
  for (const { p } of data.triples) base.properties.known(p, known);
  for (const iri of new Set([...data.types.values()].flat())) base.classes.known(iri, known);
  base.classes.complete = base.properties.complete = true;
  for (const kind of Object.values(factKinds)) {
    if (kind.name !== "graphs") keepKind(run, kind, { data, record });
    await nextTurn();
  }
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
