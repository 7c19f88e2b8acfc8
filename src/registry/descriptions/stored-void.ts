import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../../rdf/triple-index.ts";
import { voidExt, voidVocabulary as v, dcat, foaf, rdf, sd } from "../../rdf/vocabularies.ts";
import type { RequestLog } from "./request-log.ts";
import { countNames, type Fact, FactList } from "./facts.ts";
import { claimed, claimedCount, type PublishedLists } from "./read-void.ts";
import { iriOf, written } from "./values.ts";

type Row = ReadonlyMap<string, RDF.Term>;

const mostPages = 5;
const mostDatasets = 3;

/** Datasets in the endpoint's data that are said to be its own, those that name it first. */
export async function findStoredVoid(
  log: RequestLog,
  spellings: readonly string[],
  where: "default" | "named",
): Promise<readonly StoredVoid[]> {
  const found = await log.ask(discoveryQuery(spellings, where));
  const stored = (found?.value?.rows ?? []).flatMap((row) => storedIn(row, where));
  return stored
    .toSorted((one, other) => Number(other.endpoint !== undefined) - Number(one.endpoint !== undefined))
    .slice(0, mostDatasets);
}

function storedIn(row: Row, where: "default" | "named"): readonly StoredVoid[] {
  const node = row.get("d");
  const endpoint = row.get("e")?.value;
  const graph = iriOf(row.get("g"));
  if (where === "named" && graph === undefined) return [];
  if (node?.termType === "BlankNode") return endpoint === undefined ? [] : [{ dataset: undefined, endpoint, graph }];
  const dataset = iriOf(node);
  return dataset === undefined ? [] : [{ dataset, endpoint, graph }];
}

/** The queries in their order; one that finds nothing spares those that go deeper. */
const queries: readonly (readonly [name: QueryName, after: QueryName])[] = [
  ["dataset", "dataset"],
  ["classes", "dataset"],
  ["properties", "dataset"],
  ["classProperties", "classes"],
  ["objects", "properties"],
  ["classObjects", "classProperties"],
];

/**
 * Reads a description in pages: the statements about the dataset as triples, its partitions as lists; `record` is the position
 * of the first query's record. Undefined when not even the dataset's own statements came.
 */
export async function readStoredVoid(log: RequestLog, stored: StoredVoid) {
  const found = new Map<QueryName, readonly Row[]>();
  let record: number | undefined;
  const read = async (holder: StoredVoid & { readonly inParts?: boolean }): Promise<void> => {
    for (const [name, after] of queries) {
      if (name === "dataset" ? holder.inParts : !found.has(after)) continue;
      for (let page = 0; page < mostPages && !log.unreachable; page += 1) {
        const answer = await log.ask(queryFor(name, holder, page));
        if (answer?.value === undefined) break;
        record ??= answer.record;
        const { rows } = answer.value;
        if (rows.length > 0) found.set(name, [...(found.get(name) ?? []), ...rows]);
        if (rows.length < pageRows) break;
      }
    }
  };
  await read(stored);
  const dataset = stored.dataset === undefined ? dataFactory.blankNode() : dataFactory.namedNode(stored.dataset);
  const quads = (found.get("dataset") ?? []).flatMap((row) => statement(dataset, row));
  // Partitions may be those of its graphs or subsets.
  const hasParts = quads.some(({ predicate }) => partLinks.has(predicate.value));
  if (hasParts && !found.has("classes") && !found.has("properties")) await read({ ...stored, inParts: true });
  if (record === undefined) return undefined;
  found.delete("dataset");
  return { dataset, quads, record, lists: listsIn([...found.values()].flat(), record) };
}

function statement(dataset: RDF.Quad_Subject, row: Row): readonly RDF.Quad[] {
  const property = iriOf(row.get("p"));
  const value = row.get("o");
  if (value?.termType !== "NamedNode" && value?.termType !== "Literal" && value?.termType !== "BlankNode") return [];
  return property === undefined ? [] : [dataFactory.quad(dataset, dataFactory.namedNode(property), value)];
}

/** The partitions that rows name by their keys, whatever the data call their nodes. */
function listsIn(rows: readonly Row[], record: number): PublishedLists {
  const lists: PublishedLists = { classes: new FactList(), properties: new FactList() };
  for (const [fact, own] of Map.groupBy(rows, (row) => factOf(lists, row, record))) {
    if (fact === undefined) continue;
    for (const name of countNames) {
      const values = own.flatMap((row) => row.get(name) ?? []);
      fact[name] = claimedCount(record, values);
    }
  }
  for (const fact of lists.classes.values()) fact.entities ??= fact.distinctSubjects;
  return lists;
}

/** Undefined where one of the row's keys may not be written into a query. */
function factOf({ classes, properties }: PublishedLists, row: Row, record: number): Fact | undefined {
  if (keys.some((key) => row.has(key) && iriOf(row.get(key)) === undefined)) return undefined;
  const [type, property, objectClass, datatype] = keys.map((key) => iriOf(row.get(key)));
  const known = claimed(record);
  const fact = type === undefined ? undefined : classes.known(type, known);
  if (property === undefined) return fact;
  const within = (fact?.properties ?? properties).known(property, known);
  if (objectClass !== undefined) return within.objectClasses.known(objectClass, known);
  return datatype === undefined ? within : within.datatypes.known(datatype, known);
}

const keys = ["class", "property", "objectClass", "datatype"] as const;

const partLinks: ReadonlySet<string> = new Set([sd.namedGraph, sd.defaultGraph, v.subset]);

/** A description inside the endpoint's own data. */
interface StoredVoid {
  /** IRI of the dataset; undefined when it is a blank node, which only its endpoint can name. */
  readonly dataset: string | undefined;
  /** The endpoint as the data spell it. */
  readonly endpoint: string | undefined;
  /** IRI of the named graph it stands in; undefined: the default graph. */
  readonly graph: string | undefined;
}

/** Rows of one page. */
const pageRows = 2_000;

const text = (value: string): string => JSON.stringify(value);
const inGraph = (pattern: string, graph: string | undefined): string =>
  graph === undefined ? pattern : `GRAPH ${written(graph)} { ${pattern} }`;

/**
 * Datasets in the data that belong to the endpoint: by `void:sparqlEndpoint`, by `dcat:servesDataset`, and those that a
 * description has as its main topic. Only SPARQL 1.0, which every endpoint can do.
 */
function discoveryQuery(spellings: readonly string[], where: "default" | "named"): string {
  const isOwn = `FILTER(${spellings.map((url) => `STR(?e) = ${text(url)}`).join(" || ")})`;
  const alternatives = [
    `{ ?d ${written(v.sparqlEndpoint)} ?e . ${isOwn} }`,
    `{ ?s ${written(dcat.endpointURL)} ?e ; ${written(dcat.servesDataset)} ?d . ${isOwn} }`,
    `{ ?doc ${written(rdf.type)} ${written(v.DatasetDescription)} ; ${written(foaf.primaryTopic)} ?d }`,
  ].join(" UNION ");
  const pattern = where === "named" ? `GRAPH ?g { ${alternatives} }` : alternatives;
  return `SELECT DISTINCT ${where === "named" ? "?g " : ""}?d ?e WHERE { ${pattern} } LIMIT 20`;
}

/** The pattern that finds the node with the partitions: the dataset, as `?d` where it has no name, or as `?part` its parts. */
function subjectOf({ dataset, endpoint, inParts = false }: StoredVoid & { readonly inParts?: boolean }) {
  const filter = `FILTER(STR(?e) = ${text(endpoint ?? "")})`;
  const node = dataset === undefined ? "?d" : written(dataset);
  const pattern = dataset === undefined ? `?d ${written(v.sparqlEndpoint)} ?e . ${filter} ` : "";
  if (!inParts) return { node, pattern };
  const named = `{ ${node} ${written(sd.namedGraph)} ?named . ?named ${written(sd.graph)} ?part }`;
  const others = [sd.defaultGraph, v.subset].map((link) => `{ ${node} ${written(link)} ?part }`);
  return { node: "?part", pattern: `${pattern}${[named, ...others].join(" UNION ")} ` };
}

const optional = (node: string, predicate: string, variable: string): string =>
  `OPTIONAL { ${node} ${written(predicate)} ?${variable} }`;

/** The queries that read a description out of the data; each gives its keys and counts by name. */
type QueryName = "dataset" | "classes" | "properties" | "classProperties" | "objects" | "classObjects";

const propertyCounts = [
  optional("?pp", v.triples, "triples"),
  optional("?pp", v.distinctSubjects, "distinctSubjects"),
  optional("?pp", v.distinctObjects, "distinctObjects"),
].join(" ");

const objectPattern = [
  `{ ?pp ${written(v.classPartition)} ?op . ?op ${written(v.class)} ?objectClass }`,
  `{ ?pp ${written(voidExt.objectClassPartition)} ?op . ?op ${written(v.class)} ?objectClass }`,
  `{ ?pp ${written(voidExt.datatypePartition)} ?op . ?op ${written(voidExt.datatype)} ?datatype }`,
].join(" UNION ");

/** One page of a query. */
function queryFor(name: QueryName, stored: Parameters<typeof subjectOf>[0], page: number): string {
  const { node, pattern } = subjectOf(stored);
  const classes = `${node} ${written(v.classPartition)} ?cp . ?cp ${written(v.class)} ?class .`;
  const properties = `${node} ${written(v.propertyPartition)} ?pp . ?pp ${written(v.property)} ?property .`;
  const ofClass = `?cp ${written(v.propertyPartition)} ?pp . ?pp ${written(v.property)} ?property .`;
  const classCounts = [
    optional("?cp", v.entities, "entities"),
    optional("?cp", v.distinctSubjects, "distinctSubjects"),
    optional("?cp", v.triples, "triples"),
  ].join(" ");
  const objectCount = optional("?op", v.triples, "triples");
  const bodies: Readonly<Record<QueryName, readonly [variables: string, body: string]>> = {
    dataset: [
      "?p ?o",
      `${node} ?p ?o . FILTER(?p != ${written(v.classPartition)} && ?p != ${written(v.propertyPartition)})`,
    ],
    classes: ["?class ?entities ?distinctSubjects ?triples", `${classes} ${classCounts}`],
    properties: ["?property ?triples ?distinctSubjects ?distinctObjects", `${properties} ${propertyCounts}`],
    classProperties: [
      "?class ?property ?triples ?distinctSubjects ?distinctObjects",
      `${classes} ${ofClass} ${propertyCounts}`,
    ],
    objects: ["?property ?objectClass ?datatype ?triples", `${properties} ${objectPattern} ${objectCount}`],
    classObjects: [
      "?class ?property ?objectClass ?datatype ?triples",
      `${classes} ${ofClass} ${objectPattern} ${objectCount}`,
    ],
  };
  const [variables, body] = bodies[name];
  const offset = page === 0 ? "" : ` OFFSET ${page * pageRows}`;
  return `SELECT DISTINCT ${variables} WHERE { ${inGraph(`${pattern}${body}`, stored.graph)} } LIMIT ${pageRows}${offset}`;
}
