import { isLabel } from "../../../src/registry/find.ts";
import { readableName } from "../../../src/registry/schema.ts";
import { rdf, xsd } from "../../../src/rdf/vocabularies.ts";
import { isWritableIri } from "../../../src/rdf/term-text.ts";
import { type Solution, valueOf, type WholeStore } from "../package/whole-store.ts";

/** A property of the instances of a class. */
export type ClassProperty = ReturnType<typeof propertyOf>[number];

/** A class of the data. */
export type DataClass = Awaited<ReturnType<typeof dataSchema>>["classes"][number];

/** Pairs of class and property that are looked at, the first by IRI. */
const mostPairs = 2_000;

/** Schema of the data: classes and properties with names that can be read. Counts are over the default graph. */
export async function dataSchema(store: WholeStore) {
  const partitions = await rowsOf(
    store,
    `SELECT ?class ?p (COUNT(*) AS ?triples) (COUNT(DISTINCT ?s) AS ?subjects) (COUNT(DISTINCT ?o) AS ?objects)
    (SUM(IF(ISIRI(?o), 1, 0)) AS ?things) (SUM(IF(ISNUMERIC(?o), 1, 0)) AS ?numbers)
    (SUM(COALESCE(IF(DATATYPE(?o) IN (<${xsd.string}>, <${rdf.langString}>), 1, 0), 0)) AS ?texts)
    WHERE { ?s a ?class ; ?p ?o FILTER(?p != <${rdf.type}>) } GROUP BY ?class ?p ORDER BY ?class ?p LIMIT ${mostPairs}`,
  );
  const ends = await rowsOf(
    store,
    `SELECT ?class ?p ?target (COUNT(*) AS ?triples) WHERE { ?s a ?class ; ?p ?o . ?o a ?target }
    GROUP BY ?class ?p ?target ORDER BY ?class ?p ?target LIMIT ${mostPairs}`,
  );
  const sizes = await rowsOf(
    store,
    "SELECT ?class (COUNT(DISTINCT ?s) AS ?things) WHERE { ?s a ?class } GROUP BY ?class",
  );
  const sizeOf = new Map(sizes.map((row) => [valueOf(row["class"]), count(row, "things")]));
  const byClass = Map.groupBy(partitions, (row) => valueOf(row["class"]));
  const classes = [...byClass].flatMap(([iri, rows]) => {
    const words = nameOf(iri);
    if (words === undefined) return [];
    const unique = rows.filter((row) => tellsApart(row, sizeOf.get(iri)));
    const name = unique.find((row) => isLabel(valueOf(row["p"]))) ?? unique[0];
    const properties = rows.filter((row) => row !== name).flatMap((row) => propertyOf(row, ends));
    return [
      {
        iri,
        words,
        /** Property whose texts tell the instances apart, best one that is a label. */
        name: name && valueOf(name["p"]),
        /** Without that one. */
        properties,
      },
    ];
  });
  return { classes, properties: new Set(partitions.map((row) => valueOf(row["p"]))) };
}

export async function rowsOf(store: WholeStore, query: string): Promise<readonly Solution[]> {
  const answer = await store.ask(query);
  return answer.kind === "bindings" ? answer.solutions : [];
}

const nameOf = (iri: string): string | undefined => (isWritableIri(iri) ? readableName(iri) : undefined);

const count = (row: Solution, name: string): number => Number(valueOf(row[name]));

/** Every instance has one text, another one each. */
const tellsApart = (row: Solution, instances: number | undefined): boolean =>
  ["triples", "texts", "subjects", "objects"].every((name) => count(row, name) === instances);

function propertyOf(row: Solution, ends: readonly Solution[]) {
  const iri = valueOf(row["p"]);
  const words = nameOf(iri);
  if (words === undefined) return [];
  const [triples, subjects, objects] = ["triples", "subjects", "objects"].map((name) => count(row, name));
  const values = (["things", "numbers", "texts"] as const).find((kind) => count(row, kind) === triples) ?? "others";
  const isSame = (end: Solution): boolean =>
    valueOf(end["class"]) === valueOf(row["class"]) && valueOf(end["p"]) === iri && count(end, "triples") === triples;
  const target = ends.find(isSame)?.["target"];
  return [
    {
      iri,
      /** Its name in words. */
      words,
      values,
      /** Each instance has it at most once. */
      isFunctional: triples === subjects,
      /** Values come again and again, so that instances can be grouped by them. */
      isChoice: Number(objects) > 1 && Number(objects) * 2 <= Number(triples),
      /** Class of all its values. */
      target: target && valueOf(target),
    },
  ];
}
