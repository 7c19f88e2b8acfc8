import type * as RDF from "@rdfjs/types";
import { rdf, voidExt, voidVocabulary, dcterms, fedway, foaf } from "../../../src/rdf/vocabularies.ts";
import { writeTurtle } from "../../../src/rdf/write-turtle.ts";
import { descriptionQuads, type VoidDescription } from "../../../src/registry/descriptions.ts";
import { type Solution, valueOf, type WholeStore } from "./whole-store.ts";

/** Description of a shard beside its triples. */
export interface DescribedShard
  extends Pick<VoidDescription, "id" | "endpoint" | "dataset" | "title" | "license" | "citation" | "origin" | "built"> {
  readonly title: string;
}

/** VoID documents of one shard, Turtle. */
export interface ShardDocuments {
  readonly standard: string;
  /** With what only extensions of VoID can say: datatypes and classes of objects, what the builder knows of the whole dataset. */
  readonly extended: string;
}

/** Counts all that VoID can say of a shard, and writes it in both variants. Each count is exact, so that no status is noted. */
export async function describeShard(store: WholeStore, shard: DescribedShard): Promise<ShardDocuments> {
  const description = await countedDescription(store, shard);
  const all = descriptionQuads(description, { view: "agent", variant: "extended" });
  const said = all.filter(isIn([...standard, voidExt.namespace, fedway.namespace])).toArray();
  const written = (quads: readonly RDF.Quad[]): string => writeTurtle(saidOf(description.dataset, quads));
  return { standard: written(said.filter(isIn(standard))), extended: written(said) };
}

/** Statements of these namespaces; of those with `a` the class says which it is of. */
const isIn =
  (namespaces: readonly string[]) =>
  ({ predicate, object }: RDF.Quad): boolean => {
    const name = predicate.value === rdf.type ? object.value : predicate.value;
    return !notes.has(name) && namespaces.some((namespace) => name.startsWith(namespace));
  };

/** Statements about a dataset, its document and its parts; a node that nothing leads to is left out. */
function saidOf(dataset: string, quads: readonly RDF.Quad[]): readonly RDF.Quad[] {
  const nodes = new Set([dataset, dataset.split("#", 1)[0]]);
  for (let before = 0; before < nodes.size; ) {
    before = nodes.size;
    for (const { subject, object } of quads) if (nodes.has(subject.value)) nodes.add(object.value);
  }
  return quads.filter(({ subject }) => nodes.has(subject.value));
}

const standard = [voidVocabulary.namespace, dcterms.namespace, foaf.namespace];

/** How a description was found, which differs each time, or follows from its being counted. */
const notes: ReadonlySet<string> = new Set(
  "source unfinished classesComplete propertiesComplete objectsComplete"
    .split(" ")
    .map((name) => fedway.namespace + name),
);

const known = { status: "exact", record: 0 } as const;
const count = (row: Solution, name: string) => ({ value: Number(valueOf(row[name])), ...known });
const iriIn = (row: Solution, name: string): string => valueOf(row[name]);

async function countedDescription(store: WholeStore, shard: DescribedShard): Promise<VoidDescription> {
  const ask: Ask = async (select, where, group = "") => {
    const answer = await store.ask(`SELECT ${select} WHERE { GRAPH <${shard.endpoint}> { ${where} } } ${group}`);
    return answer.kind === "bindings" ? answer.solutions : [];
  };
  const [totals = {}] = await ask(counts, "?s ?p ?o");
  const entities = await ask(
    "?class (COUNT(DISTINCT ?s) AS ?entities)",
    "?s a ?class",
    "GROUP BY ?class ORDER BY ?class",
  );
  const inClass = await ask("?class (COUNT(*) AS ?triples)", "?s a ?class . ?s ?p ?o", "GROUP BY ?class");
  const triplesOf = new Map(inClass.map((row) => [iriIn(row, "class"), count(row, "triples")]));
  const ofClasses = await propertyPartitions(ask, "?s a ?of .");
  const properties = (await propertyPartitions(ask, "")).get("") ?? [];
  const time = new Date(0).toISOString();
  return {
    ...shard,
    source: "computed",
    startedAt: time,
    finishedAt: time,
    unfinished: false,
    triples: count(totals, "triples"),
    distinctSubjects: count(totals, "subjects"),
    distinctObjects: count(totals, "objects"),
    classes: { value: entities.length, ...known },
    properties: { value: properties.length, ...known },
    classPartitions: entities.map((row) => ({
      class: iriIn(row, "class"),
      status: "exact",
      record: 0,
      entities: count(row, "entities"),
      triples: triplesOf.get(iriIn(row, "class")),
      properties: ofClasses.get(iriIn(row, "class")) ?? [],
      propertiesComplete: true,
    })),
    classesComplete: true,
    propertyPartitions: properties,
    propertiesComplete: true,
    languages: [],
    namespaces: [],
    linksets: [],
    unknown: [],
    records: [],
    cost: { requests: 0, bytes: 0, ms: 0 },
  };
}

type PropertyPartition = VoidDescription["propertyPartitions"][number];
type ObjectPartition = PropertyPartition["objectClasses"][number];
type Ask = (select: string, where: string, group?: string) => Promise<readonly Solution[]>;

const counts = "(COUNT(*) AS ?triples) (COUNT(DISTINCT ?s) AS ?subjects) (COUNT(DISTINCT ?o) AS ?objects)";

/** Partitions by property of each class that `scope` binds `?of` to; without a scope those of the shard, under "". */
async function propertyPartitions(ask: Ask, scope: string): Promise<ReadonlyMap<string, readonly PropertyPartition[]>> {
  const group = scope === "" ? "?p" : "?of ?p";
  const rows = await ask(`${group} ${counts}`, `${scope} ?s ?p ?o`, `GROUP BY ${group} ORDER BY ${group}`);
  const objects = async (name: string, where: string): Promise<ReadonlyMap<string, readonly ObjectPartition[]>> => {
    const found = await ask(
      `${group} ?${name} (COUNT(*) AS ?triples)`,
      `${scope} ?s ?p ?o . ${where}`,
      `GROUP BY ${group} ?${name} ORDER BY ${group} ?${name}`,
    );
    const partition = (row: Solution) => ({ iri: iriIn(row, name), triples: count(row, "triples"), ...known });
    return new Map(Array.from(Map.groupBy(found, keyOf), ([key, some]) => [key, some.map(partition)]));
  };
  const classes = await objects("class", "?o a ?class");
  const datatypes = await objects("datatype", "BIND(DATATYPE(?o) AS ?datatype) FILTER(BOUND(?datatype))");
  const partition = (row: Solution): PropertyPartition => ({
    property: iriIn(row, "p"),
    ...known,
    triples: count(row, "triples"),
    distinctSubjects: count(row, "subjects"),
    distinctObjects: count(row, "objects"),
    objectClasses: classes.get(keyOf(row)) ?? [],
    datatypes: datatypes.get(keyOf(row)) ?? [],
    objectsComplete: true,
  });
  const byClass = Map.groupBy(rows, (row) => iriIn(row, "of"));
  return new Map(Array.from(byClass, ([iri, some]) => [iri, some.map(partition)]));
}

const keyOf = (row: Solution): string => `${iriIn(row, "of")} ${iriIn(row, "p")}`;
