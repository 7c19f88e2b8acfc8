import { dcat, foaf, rdf, voidExt, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { written } from "../compute/iri-text.ts";

/** A description inside the endpoint's own data. */
export interface StoredVoid {
  /** IRI of the dataset; undefined when it is a blank node, which only its endpoint can name. */
  readonly dataset: string | undefined;
  /** The endpoint as the data spell it. */
  readonly endpoint: string | undefined;
  /** IRI of the named graph it stands in; undefined: the default graph. */
  readonly graph: string | undefined;
}

/** Rows of one page. */
export const pageRows = 2_000;

const text = (value: string): string => JSON.stringify(value);
const inGraph = (pattern: string, graph: string | undefined): string =>
  graph === undefined ? pattern : `GRAPH ${written(graph)} { ${pattern} }`;

/**
 * Datasets in the data that belong to the endpoint: by `void:sparqlEndpoint`, by `dcat:servesDataset`, and those that a
 * description has as its main topic. Only SPARQL 1.0, which every endpoint can do.
 */
export function discoveryQuery(spellings: readonly string[], where: "default" | "named"): string {
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
export type ReadingName = "dataset" | "classes" | "properties" | "classProperties" | "objects" | "classObjects";

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
export function readingQuery(name: ReadingName, stored: StoredVoid, page: number): string {
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
