import type * as RDF from "@rdfjs/types";
import { rdf, voidExt, voidVocabulary, dcterms, fedway, foaf } from "../../../src/rdf/vocabularies.ts";
import { isWritableIri, stringText } from "../../../src/rdf/term-text.ts";
import { writeTurtle } from "../../../src/rdf/write-turtle.ts";
import { descriptionQuads, type VoidDescription } from "../../../src/registry/descriptions.ts";
import { type JsonTerm, type Solution, valueOf, type WholeStore } from "./whole-store.ts";

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
  // They are millions for a shard with many classes, and are written as they come.
  const written = (namespaces: readonly string[]): string =>
    writeTurtle(
      saidOf(
        description.dataset,
        descriptionQuads(description, { view: "agent", variant: "extended" }).filter(isIn(namespaces)),
      ),
    );
  return { standard: written(standard), extended: written([...standard, voidExt.namespace, fedway.namespace]) };
}

/** Statements of these namespaces; of those with `a` the class says which it is of. */
const isIn =
  (namespaces: readonly string[]) =>
  ({ predicate, object }: RDF.Quad): boolean => {
    const name = predicate.value === rdf.type ? object.value : predicate.value;
    return !notes.has(name) && namespaces.some((namespace) => name.startsWith(namespace));
  };

/** Statements about a dataset, its document and its parts, of which a link to each comes first; others are left out. */
function* saidOf(dataset: string, quads: Iterable<RDF.Quad>): Generator<RDF.Quad> {
  const nodes = new Set([dataset, dataset.split("#", 1)[0]]);
  for (const quad of quads) {
    if (!nodes.has(quad.subject.value)) continue;
    if (quad.object.termType !== "Literal") nodes.add(quad.object.value);
    yield quad;
  }
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
  const classPartitions: VoidDescription["classPartitions"][number][] = [];
  for (const row of entities) {
    const iri = iriIn(row, "class");
    classPartitions.push({
      class: iri,
      ...known,
      entities: count(row, "entities"),
      triples: triplesOf.get(iri),
      // Class by class, as the groups of all of them take more memory than the data.
      properties: await propertyPartitions(ask, instancesOf(row["class"])),
      propertiesComplete: true,
    });
  }
  const properties = await propertyPartitions(ask, "");
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
    classPartitions,
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

/** Data have classes that no query can name. */
const instancesOf = (term: JsonTerm | undefined): string =>
  term?.["type"] === "uri" && isWritableIri(valueOf(term))
    ? `?s a <${valueOf(term)}> .`
    : `?s a ?of FILTER(STR(?of) = ${stringText(valueOf(term))})`;

/** Partitions by property of the things that `scope` binds `?s` to. */
async function propertyPartitions(ask: Ask, scope: string): Promise<readonly PropertyPartition[]> {
  const rows = await ask(`?p ${counts}`, `${scope} ?s ?p ?o`, "GROUP BY ?p ORDER BY ?p");
  const objects = async (name: string, where: string): Promise<ReadonlyMap<string, readonly ObjectPartition[]>> => {
    const found = await ask(
      `?p ?${name} (COUNT(*) AS ?triples)`,
      `${scope} ?s ?p ?o . ${where}`,
      `GROUP BY ?p ?${name} ORDER BY ?p ?${name}`,
    );
    const partition = (row: Solution) => ({ iri: iriIn(row, name), triples: count(row, "triples"), ...known });
    const byProperty = Map.groupBy(found, (row) => iriIn(row, "p"));
    return new Map(Array.from(byProperty, ([iri, some]) => [iri, some.map(partition)]));
  };
  const classes = await objects("class", "?o a ?class");
  const datatypes = await objects("datatype", "BIND(DATATYPE(?o) AS ?datatype) FILTER(BOUND(?datatype))");
  const propertyOf = (row: Solution) => ({
    property: iriIn(row, "p"),
    ...known,
    triples: count(row, "triples"),
    distinctSubjects: count(row, "subjects"),
    distinctObjects: count(row, "objects"),
    objectClasses: classes.get(iriIn(row, "p")) ?? [],
    datatypes: datatypes.get(iriIn(row, "p")) ?? [],
    objectsComplete: true,
  });
  return rows.map(propertyOf);
}
