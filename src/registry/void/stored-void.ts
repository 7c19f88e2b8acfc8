import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../../rdf/triple-index.ts";
import { voidExt, voidVocabulary as v, dcat, foaf, rdf } from "../../rdf/vocabularies.ts";
import type { RequestLog } from "./request-log.ts";
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
  const stored = (found?.value.rows ?? []).flatMap((row) => storedIn(row, where));
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

/** A description read out of the data. */
interface ReadBack {
  readonly dataset: RDF.Term;
  /** VoID, with nodes named by what they stand for. */
  readonly quads: readonly RDF.Quad[];
  /** Position of the record of the first query. */
  readonly record: number;
}

/** The readings in their order; one that finds nothing spares those that go deeper. */
const readings: readonly (readonly [name: ReadingName, after: ReadingName])[] = [
  ["dataset", "dataset"],
  ["classes", "dataset"],
  ["properties", "dataset"],
  ["classProperties", "classes"],
  ["objects", "properties"],
  ["classObjects", "classProperties"],
];

/** Reads a description in pages; undefined when not even the dataset's own statements came. */
export async function readStoredVoid(log: RequestLog, stored: StoredVoid): Promise<ReadBack | undefined> {
  const rebuilt = rebuild(stored);
  let record: number | undefined;
  for (const [name, after] of readings) {
    if (name !== "dataset" && !rebuilt.has(after)) continue;
    const first = await readPages(log, rebuilt, (page) => ({ name, query: readingQuery(name, stored, page) }));
    record ??= first;
  }
  return record === undefined ? undefined : { dataset: rebuilt.dataset, quads: rebuilt.quads, record };
}

/** Reads page after page until one is not full; the record of the first. */
async function readPages(
  log: RequestLog,
  rebuilt: Rebuilt,
  pageOf: (page: number) => { readonly name: ReadingName; readonly query: string },
): Promise<number | undefined> {
  let record: number | undefined;
  for (let page = 0; page < mostPages && !log.unreachable; page += 1) {
    const { name, query } = pageOf(page);
    const answer = await log.ask(query);
    if (answer === undefined) break;
    record ??= answer.record;
    for (const row of answer.value.rows) rebuilt.add(name, row);
    if (answer.value.rows.length < pageRows) break;
  }
  return record;
}

interface Rebuilt {
  readonly dataset: RDF.NamedNode | RDF.BlankNode;
  readonly quads: readonly RDF.Quad[];
  add(name: ReadingName, row: Row): void;
  has(name: ReadingName): boolean;
}

type Node = RDF.NamedNode | RDF.BlankNode;

/** Builds the partitions' tree anew from rows; blank nodes stand for what their keys say, whatever the data call them. */
function rebuild({ dataset: iri }: StoredVoid): Rebuilt {
  const quads: RDF.Quad[] = [];
  const seen = new Set<ReadingName>();
  const nodes = new Map<string, RDF.BlankNode>();
  const dataset = iri === undefined ? dataFactory.blankNode() : dataFactory.namedNode(iri);

  const add = (subject: Node, predicate: string, object: RDF.Term | undefined): void => {
    if (object?.termType !== "NamedNode" && object?.termType !== "Literal" && object?.termType !== "BlankNode") return;
    quads.push(dataFactory.quad(subject, dataFactory.namedNode(predicate), object));
  };
  /** The part of `parent` that is about `key`, made when it is new. */
  const part = (parent: Node, links: readonly string[], key: readonly [string, RDF.Term]): Node => {
    const name = `${parent.value} ${links.join(" ")} ${key[1].value}`;
    const known = nodes.get(name);
    if (known !== undefined) return known;
    const node = dataFactory.blankNode();
    nodes.set(name, node);
    for (const link of links) add(parent, link, node);
    add(node, ...key);
    return node;
  };
  const counts = (node: Node, row: Row): void => {
    for (const name of ["triples", "entities", "distinctSubjects", "distinctObjects"] as const) {
      add(node, v[name], row.get(name));
    }
  };
  /** Follows the keys of a row from the dataset down. */
  const partOf = (row: Row): Node => {
    let node: Node = dataset;
    for (const [variable, links, key] of path) {
      const value = row.get(variable);
      if (value?.termType === "NamedNode") node = part(node, links, [key, value]);
    }
    return node;
  };

  return {
    dataset,
    quads,
    has: (name) => seen.has(name),
    add(name, row) {
      seen.add(name);
      const property = name === "dataset" ? iriOf(row.get("p")) : undefined;
      if (property !== undefined) add(dataset, property, row.get("o"));
      if (name !== "dataset") counts(partOf(row), row);
    },
  };
}

const path: readonly (readonly [variable: string, links: readonly string[], key: string])[] = [
  ["class", [v.classPartition], v.class],
  ["property", [v.propertyPartition], v.property],
  ["objectClass", [v.classPartition], v.class],
  ["datatype", [voidExt.datatypePartition], voidExt.datatype],
];

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

/** The pattern that finds the dataset's node and its statements about partitions as `?d`. */
function subjectOf({ dataset, endpoint }: StoredVoid): { readonly node: string; readonly pattern: string } {
  if (dataset !== undefined) return { node: written(dataset), pattern: "" };
  const filter = `FILTER(STR(?e) = ${text(endpoint ?? "")})`;
  return { node: "?d", pattern: `?d ${written(v.sparqlEndpoint)} ?e . ${filter} ` };
}

const optional = (node: string, predicate: string, variable: string): string =>
  `OPTIONAL { ${node} ${written(predicate)} ?${variable} }`;

/** The queries that read a description out of the data; each gives its keys and counts by name. */
type ReadingName = "dataset" | "classes" | "properties" | "classProperties" | "objects" | "classObjects";

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

/** One page of a reading. */
function readingQuery(name: ReadingName, stored: StoredVoid, page: number): string {
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
  const bodies: Readonly<Record<ReadingName, readonly [variables: string, body: string]>> = {
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
