import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../../rdf/triple-index.ts";
import { voidExt, voidVocabulary as v, dcat, foaf, rdf, sd } from "../../rdf/vocabularies.ts";
import type { RequestLog } from "../request-log.ts";
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
 * Reads a description in pages, as VoID whose nodes are named by what they stand for; `record` is the position of the
 * first query's record. Undefined when not even the dataset's own statements came.
 */
export async function readStoredVoid(log: RequestLog, stored: StoredVoid) {
  const rebuilt = new RebuiltVoid(stored.dataset);
  let record: number | undefined;
  const read = async (holder: StoredVoid & { readonly inParts?: boolean }): Promise<void> => {
    for (const [name, after] of queries) {
      if (name === "dataset" ? holder.inParts : !rebuilt.has(after)) continue;
      for (let page = 0; page < mostPages && !log.unreachable; page += 1) {
        const answer = await log.ask(queryFor(name, holder, page));
        if (answer?.value === undefined) break;
        record ??= answer.record;
        for (const row of answer.value.rows) rebuilt.add(name, row);
        if (answer.value.rows.length < pageRows) break;
      }
    }
  };
  await read(stored);
  // Partitions may be those of its graphs or subsets.
  if (rebuilt.hasParts && !rebuilt.has("classes") && !rebuilt.has("properties"))
    await read({ ...stored, inParts: true });
  return record === undefined ? undefined : { dataset: rebuilt.dataset, quads: rebuilt.quads, record };
}

type Node = RDF.NamedNode | RDF.BlankNode;

/** The partitions' tree made anew from rows; blank nodes stand for what their keys say, whatever the data call them. */
class RebuiltVoid {
  readonly dataset: Node;
  readonly quads: RDF.Quad[] = [];
  /** The dataset has graphs or subsets. */
  hasParts = false;
  readonly #seen = new Set<QueryName>();
  readonly #nodes = new Map<string, Node>();

  constructor(dataset: string | undefined) {
    this.dataset = dataset === undefined ? dataFactory.blankNode() : dataFactory.namedNode(dataset);
  }

  has(name: QueryName): boolean {
    return this.#seen.has(name);
  }

  add(name: QueryName, row: Row): void {
    this.#seen.add(name);
    if (name === "dataset") {
      const property = iriOf(row.get("p"));
      if (property !== undefined) this.#add(this.dataset, property, row.get("o"));
      this.hasParts ||= property !== undefined && partLinks.has(property);
      return;
    }
    const node = this.#partOf(row);
    for (const count of ["triples", "entities", "distinctSubjects", "distinctObjects"] as const)
      this.#add(node, v[count], row.get(count));
  }

  /** Follows the keys of a row from the dataset down. */
  #partOf(row: Row): Node {
    let node = this.dataset;
    for (const [variable, link, key] of path) {
      const value = row.get(variable);
      if (value?.termType === "NamedNode") node = this.#part(node, link, [key, value]);
    }
    return node;
  }

  /** The part of `parent` that is about `key`, made when it is new. */
  #part(parent: Node, link: string, key: readonly [string, RDF.Term]): Node {
    const name = `${parent.value} ${link} ${key[1].value}`;
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const node = dataFactory.blankNode();
    this.#nodes.set(name, node);
    this.#add(parent, link, node);
    this.#add(node, ...key);
    return node;
  }

  #add(subject: Node, predicate: string, object: RDF.Term | undefined): void {
    if (object?.termType !== "NamedNode" && object?.termType !== "Literal" && object?.termType !== "BlankNode") return;
    this.quads.push(dataFactory.quad(subject, dataFactory.namedNode(predicate), object));
  }
}

const partLinks: ReadonlySet<string> = new Set([sd.namedGraph, sd.defaultGraph, v.subset]);

const path: readonly (readonly [variable: string, link: string, key: string])[] = [
  ["class", v.classPartition, v.class],
  ["property", v.propertyPartition, v.property],
  ["objectClass", v.classPartition, v.class],
  ["datatype", voidExt.datatypePartition, voidExt.datatype],
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
