import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { itemAt } from "../../../src/values.ts";
import { createRandom, type Random } from "../../support/random.ts";

/** A generated dataset: like data that people publish, a few of its classes are large and most are small. */
export interface SkewedSize {
  readonly classes: number;
  readonly subjects: number;
  readonly queries: number;
}

const base = "http://example.org/skewed/";
const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const integer = "<http://www.w3.org/2001/XMLSchema#integer>";
const decay = 0.9;
const propertiesEach = 5;
const linksEach = 2;
/** One subject in so many is an instance of a second class. */
const secondClassEvery = 4;

const classIri = (number: number): string => `${base}Class${number}`;
const propertyIri = (of: number, number: number): string => `${base}property${of}_${number}`;
const linkIri = (of: number, number: number): string => `${base}link${of}_${number}`;
/** A prime far from round numbers spreads what is chosen over all classes. */
const targetOf = (of: number, number: number, classes: number): number => (of * 31 + number * 101 + 7) % classes;

/** Subjects of each class: a share of 1 / (rank ^ 0.9), one at least. */
function sizesOf({ classes, subjects }: SkewedSize): readonly number[] {
  const weights = Array.from({ length: classes }, (_, at) => 1 / (at + 1) ** decay);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.max(1, Math.round((subjects * weight) / sum)));
}

function* subjectsOf(size: SkewedSize): Generator<string> {
  const sizes = sizesOf(size);
  const random = createRandom(1);
  for (const [of, count] of sizes.entries()) {
    for (let index = 0; index < count; index += 1) yield linesOf({ of, index, sizes, random });
  }
}

interface Subject {
  readonly of: number;
  readonly index: number;
  readonly sizes: readonly number[];
  readonly random: Random;
}

function linesOf({ of, index, sizes, random }: Subject): string {
  const { length: classes } = sizes;
  const subject = `<${base}${of}/${index}>`;
  const lines = [`${subject} ${type} <${classIri(of)}> .`];
  if (index % secondClassEvery === 0) lines.push(`${subject} ${type} <${classIri(random.below(classes))}> .`);
  for (let property = 0; property < propertiesEach; property += 1) {
    const value = property % 2 === 0 ? `"name ${of} ${index} ${property}"` : `"${index * (property + 1)}"^^${integer}`;
    lines.push(`${subject} <${propertyIri(of, property)}> ${value} .`);
  }
  for (let link = 0; link < linksEach; link += 1) {
    const target = targetOf(of, link, classes);
    lines.push(`${subject} <${linkIri(of, link)}> <${base}${target}/${random.below(itemAt(sizes, target))}> .`);
  }
  return `${lines.join("\n")}\n`;
}

const kinds: readonly ((of: number, classes: number) => string)[] = [
  (of) => `SELECT ?s ?v { ?s a <${classIri(of)}> ; <${propertyIri(of, of % propertiesEach)}> ?v } LIMIT 50`,
  (of, classes) => {
    const link = of % linksEach;
    const target = classIri(targetOf(of, link, classes));
    return `SELECT (COUNT(*) AS ?n) { ?s a <${classIri(of)}> ; <${linkIri(of, link)}> ?o . ?o a <${target}> }`;
  },
  (of) => `SELECT (COUNT(?s) AS ?n) { ?s a <${classIri(of)}> }`,
  (of, classes) => {
    const other = (of * 3 + 1) % classes;
    const branch = (each: number): string => `{ ?s a <${classIri(each)}> ; <${propertyIri(each, 0)}> ?v }`;
    return `SELECT ?s ?v { ${branch(of)} UNION ${branch(other)} }`;
  },
  (of) =>
    `SELECT ?s ?v { ?s a <${classIri(of)}> ; <${propertyIri(of, 1)}> ?v FILTER NOT EXISTS { ?s <${linkIri(of, 0)}> <${base}0/0> } } ORDER BY ?v ?s LIMIT 20`,
];

/** Distinct queries in turn of each kind: lookups with LIMIT, COUNT over a link, COUNT of a class, UNION, NOT EXISTS. */
function queriesOf({ classes, queries }: SkewedSize): readonly { readonly id: string; readonly sparql: string }[] {
  const step = Math.max(1, Math.floor((classes * kinds.length) / queries));
  return Array.from({ length: queries }, (_, at) => {
    const round = Math.floor(at / kinds.length);
    const of = (round * step + Math.floor((round * step) / classes)) % classes;
    return {
      id: `q${at + 1}`,
      sparql: itemAt(kinds, at % kinds.length)(of, classes),
    };
  });
}

/**
 * Writes the dataset, its queries and the spec of a benchmark into a folder; the same for the same size. A subject has
 * 8.25 triples: its class, a quarter of them a second one, five properties and two links of its class.
 * @returns the path of the spec
 */
export async function writeSkewedDataset(folder: string, size: SkewedSize): Promise<string> {
  const file = await open(join(folder, "data.nt"), "w");
  try {
    let text = "";
    for (const lines of subjectsOf(size)) {
      text += lines;
      if (text.length < 1_000_000) continue;
      await file.write(text);
      text = "";
    }
    await file.write(text);
  } finally {
    await file.close();
  }
  writeFileSync(join(folder, "queries.json"), JSON.stringify(queriesOf(size)));
  const spec = {
    dataset: "skewed",
    inputs: ["data.nt"],
    queries: "queries.json",
    licence: "https://creativecommons.org/publicdomain/zero/1.0/",
    output: "shards",
  };
  const path = join(folder, "spec.json");
  writeFileSync(path, JSON.stringify(spec));
  return path;
}
