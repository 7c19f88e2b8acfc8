import type * as RDF from "@rdfjs/types";
import { dataFactory as f } from "../../../src/rdf/triple-index.ts";
import { rdf, rdfs, shacl, vocabularyPrefixes } from "../../../src/rdf/vocabularies.ts";
import { writeTurtle } from "../../../src/rdf/write-turtle.ts";
import type { Solution } from "./whole-store.ts";
import type { GoldAnswer } from "./gold-answer.ts";
import type { Query } from "../../../src/sparql/query.ts";

/** A question of the package with what other tools read of it. */
export interface ExportedQuestion {
  readonly id: string;
  readonly question: string;
  readonly form: Query["form"];
  readonly query: string;
  readonly gold: string;
  readonly trivial: string;
  /** URLs that the gold query names. */
  readonly endpoints: readonly string[];
  readonly answer: GoldAnswer;
  readonly solutions: readonly Solution[];
}

/** The dataset as tools name it. */
export interface ExportedDataset {
  readonly id: string;
  /** IRI. */
  readonly iri: string;
  /** URL that federated queries are sent to. */
  readonly sparql: string;
}

/** The files that tools of the field read as they are, by name. */
export const exportFiles = (
  dataset: ExportedDataset,
  questions: readonly ExportedQuestion[],
): Readonly<Record<string, string>> => ({
  "exports/t2s-metrics.gold.jsonl": metricsLines(questions, ({ gold }) => gold),
  "exports/t2s-metrics.trivial.jsonl": metricsLines(questions, ({ trivial }) => trivial),
  "exports/text2sparql.yaml": questionsYaml(dataset, questions),
  "exports/qald.json": qaldJson(dataset, questions),
  "exports/shacl.ttl": shaclTurtle(dataset, questions),
});

const isOrdered = ({ answer }: ExportedQuestion): boolean => answer.kind === "bindings" && answer.ordered;

/** JSON Lines of t2s-metrics: a system's queries take the place of `generated`. */
const metricsLines = (
  questions: readonly ExportedQuestion[],
  generated: (question: ExportedQuestion) => string,
): string =>
  questions
    .map((each) => {
      const { id, question, query } = each;
      const line = { id, question, golden: query, generated: generated(each), order_matters: isOrdered(each) };
      return `${JSON.stringify(line)}\n`;
    })
    .join("");

/** Characters that YAML 1.1 takes in no scalar as they are (section 5.1). */
const unprintable = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu;

/** A YAML scalar in double quotation marks: what JSON writes is YAML too. */
export const yamlText = (text: string): string =>
  JSON.stringify(text).replaceAll(unprintable, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The questions file of text2sparql-client: `ask` reads questions, `query` the queries and the features. */
function questionsYaml({ id, iri }: ExportedDataset, questions: readonly ExportedQuestion[]): string {
  const entries = questions.map((each, at) => {
    const { id: name, question, query } = each;
    const lines = [
      // Only numbers are ids there.
      `  - id: ${at + 1}`,
      `    name: ${yamlText(name)}`,
      `    question:`,
      `      en: ${yamlText(question)}`,
      `    query:`,
      `      sparql: ${yamlText(query)}`,
      `    features: [${isOrdered(each) ? '"RESULT_ORDER_MATTERS"' : ""}]`,
    ];
    return lines.join("\n");
  });
  return [`dataset:`, `  id: ${yamlText(iri)}`, `  prefix: ${yamlText(id)}`, `questions:`, ...entries, ``].join("\n");
}

/** QALD-9 JSON, with the answers as SPARQL results. */
function qaldJson({ id }: ExportedDataset, questions: readonly ExportedQuestion[]): string {
  const entries = questions.map(({ id: name, question, query, answer, solutions }) => ({
    id: name,
    question: [{ language: "en", string: question, keywords: "" }],
    query: { sparql: query },
    answers: [qaldAnswer(answer, solutions)],
  }));
  return `${JSON.stringify({ dataset: { id }, questions: entries }, undefined, 1)}\n`;
}

function qaldAnswer(answer: GoldAnswer, bindings: readonly Solution[]): object {
  if (answer.kind === "boolean") return { head: {}, boolean: answer.value };
  const vars = answer.kind === "bindings" ? answer.columns : [];
  return { head: { vars }, results: { bindings } };
}

const schemaTarget = "https://schema.org/target";
const federatesWith = "https://purl.expasy.org/sparql-examples/ontology#federatesWith";
const executables: Readonly<Record<Query["form"], readonly [type: string, property: string]>> = {
  SELECT: ["SPARQLSelectExecutable", shacl.select],
  ASK: ["SPARQLAskExecutable", shacl.ask],
  CONSTRUCT: ["SPARQLConstructExecutable", shacl.construct],
  DESCRIBE: ["SPARQLDescribeExecutable", shacl.describe],
};

/** The gold queries as executables of SHACL, with the properties of sib-swiss/sparql-examples. */
function shaclTurtle({ iri, sparql }: ExportedDataset, questions: readonly ExportedQuestion[]): string {
  const quads = questions.flatMap(({ id, form, question, gold, endpoints }): readonly RDF.Quad[] => {
    const node = f.namedNode(`${iri}/${encodeURIComponent(id)}`);
    const [type, property] = executables[form];
    const say = (predicate: string, object: RDF.Quad_Object): RDF.Quad => f.quad(node, f.namedNode(predicate), object);
    return [
      say(rdf.type, f.namedNode(`${shacl.namespace}SPARQLExecutable`)),
      say(rdf.type, f.namedNode(shacl.namespace + type)),
      ...(question === "" ? [] : [say(rdfs.comment, f.literal(question, "en"))]),
      say(property, f.literal(gold)),
      say(schemaTarget, f.namedNode(sparql)),
      ...endpoints.map((url) => say(federatesWith, f.namedNode(url))),
    ];
  });
  return writeTurtle(quads, vocabularyPrefixes);
}
