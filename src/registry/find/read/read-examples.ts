import type * as RDF from "@rdfjs/types";
import { rdfs, shacl } from "../../../rdf/vocabularies.ts";
import { createTripleIndex, dataFactory, type TripleIndex } from "../../../rdf/triple-index.ts";
import type { Asker, AskRequest } from "../../../outbound/whole-answer.ts";
import { outcomeSchema, type RawExample, toExample } from "./example.ts";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FedwayError, libraryMessage } from "../../../errors/fedway-error.ts";
import { parseTurtle } from "../../../rdf/turtle.ts";
import { parsedJson } from "../../../values.ts";

/** The predicates that hold a query; SHACL-AF, section 5.2, as the sparql-examples collection uses it. */
const queryPredicates: readonly string[] = [shacl.select, shacl.ask, shacl.construct, shacl.describe];

/** Written with both schemes. */
const targetPredicates = ["https://schema.org/target", "http://schema.org/target"];

/** SHACL executables (`sh:SPARQLExecutable`, whether typed so or not) in a graph. */
function examplesIn(quads: readonly RDF.Quad[]): readonly RawExample[] {
  const index = createTripleIndex(quads);
  const seen = new Map<string, RDF.Term>();
  for (const { subject, predicate } of quads) {
    if (queryPredicates.includes(predicate.value)) seen.set(`${subject.termType} ${subject.value}`, subject);
  }
  return [...seen.values()].flatMap((subject) => {
    const objects = (predicate: string) => objectsOf(index, subject, predicate);
    const question = inEnglish(objects(rdfs.comment)) ?? inEnglish(objects(rdfs.label));
    const query = queryPredicates.flatMap(objects).find(({ termType }) => termType === "Literal")?.value;
    if (question === undefined || query === undefined) return [];
    const targets = targetPredicates.flatMap(objects).map(({ value }) => value);
    return { question, query, targets, prefixes: prefixesOf(index, objects(shacl.prefixes)) };
  });
}

const objectsOf = (index: TripleIndex, subject: RDF.Term, predicate: string): readonly RDF.Term[] =>
  Array.from(index.match({ subject, predicate: dataFactory.namedNode(predicate) }), ({ object }) => object);

/** The English text, else one without a language, else the first. */
function inEnglish(terms: readonly RDF.Term[]): string | undefined {
  const literals = terms.filter((term) => term.termType === "Literal");
  const best =
    literals.find(({ language }) => /^en\b/i.test(language)) ?? literals.find(({ language }) => language === "");
  return (best ?? literals[0])?.value;
}

/** Namespaces by prefix of `sh:declare`. */
function prefixesOf(index: TripleIndex, declaring: readonly RDF.Term[]): ReadonlyMap<string, string> {
  const declarations = declaring.flatMap((subject) => objectsOf(index, subject, shacl.declare));
  return new Map(
    declarations.flatMap((subject) => {
      const prefix = objectsOf(index, subject, shacl.prefix)[0]?.value;
      const namespace = objectsOf(index, subject, `${shacl.namespace}namespace`)[0]?.value;
      return prefix === undefined || namespace === undefined ? [] : [[prefix, namespace] as const];
    }),
  );
}

/** Examples of an endpoint's own data, most rows of each answer, and the time for both, in milliseconds. */
const mostExamples = 1_000;
const mostPrefixes = 500;
const timeoutMs = 20_000;
const maxBytes = 8 * 1024 * 1024;

const prologue = `PREFIX sh: <${shacl.namespace}>\nPREFIX rdfs: <${rdfs.namespace}>\n`;
const queryOf = queryPredicates.map((predicate) => `{ ?example <${predicate}> ?query }`).join(" UNION ");
const exampleQuery = `${prologue}SELECT ?example ?comment ?query ?target WHERE {
  ${queryOf}
  ?example rdfs:comment ?comment .
  OPTIONAL { ?example <${targetPredicates[0]}> ?target }
} LIMIT ${mostExamples}`;
const prefixQuery = `${prologue}SELECT DISTINCT ?prefix ?namespace WHERE {
  ?any sh:declare ?declaration . ?declaration sh:prefix ?prefix ; sh:namespace ?namespace .
} LIMIT ${mostPrefixes}`;

/**
 * The examples that an endpoint publishes in its data: one bounded query, and one for their prefixes where there are any.
 * @throws FedwayError as `Asker.ask`
 */
export async function askForExamples(
  asker: Pick<Asker, "ask">,
  endpoint: AskRequest["endpoint"] & { readonly url: string },
  signal: AbortSignal,
): Promise<readonly RawExample[]> {
  const ask = async (query: string, maxRows: number) =>
    (await asker.ask({ endpoint, query, signal, timeoutMs, maxRows, maxBytes })).rows;
  const rows = await ask(exampleQuery, mostExamples);
  if (rows.length === 0) return [];
  const declared = await ask(prefixQuery, mostPrefixes);
  const prefixes = new Map(
    declared.map((row) => [row.get("prefix")?.value ?? "", row.get("namespace")?.value ?? ""] as const),
  );
  const found = new Map<string, RawExample>();
  for (const row of rows) {
    const [id = "", question = "", query = ""] = ["example", "comment", "query"].map((name) => row.get(name)?.value);
    const target = row.get("target")?.value ?? endpoint.url;
    const isEnglish = /^(?:en\b|$)/i.test(languageOf(row.get("comment")));
    const earlier = found.get(id);
    const targets = [...new Set([...(earlier?.targets ?? []), target])];
    found.set(id, { question: earlier && !isEnglish ? earlier.question : question, query, targets, prefixes });
  }
  return [...found.values()];
}

const languageOf = (term: RDF.Term | undefined): string => (term?.termType === "Literal" ? term.language : "");

/** Contents of a folder of examples. */
interface ExampleFile {
  readonly file: string;
  readonly examples: readonly RawExample[];
  /** Why the file, or a line of it, was left out. */
  readonly problem?: string;
}

const fileBounds = { maxBytes: 16 * 1024 * 1024, maxQuads: 200_000 };
const mostFiles = 1_000;
const mostLines = 20_000;

const isLine = Compile(
  Type.Object({
    question: Type.String(),
    query: Type.String(),
    endpoints: Type.Optional(Type.Array(Type.String())),
    outcome: Type.Optional(outcomeSchema),
    feedback: Type.Optional(Type.String()),
  }),
);

/**
 * The examples in the `*.ttl` (SHACL) and `*.jsonl` files of a folder, in name order; sub-folders are not looked into. A
 * file that cannot be used has a problem and the others are read.
 * @throws FedwayError `CONFIG_INVALID` when the folder cannot be read
 */
export async function readExampleFolder(folder: string, baseUrl: string): Promise<readonly ExampleFile[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new FedwayError("CONFIG_INVALID", `The folder ${folder} of example queries cannot be read.`, { cause });
  });
  const files = names
    .filter((name) => /\.(?:ttl|jsonl)$/.test(name))
    .toSorted()
    .slice(0, mostFiles);
  const read: ExampleFile[] = [];
  for (const name of files) read.push(await readExampleFile(join(folder, name), baseUrl));
  return read;
}

/**
 * The examples in one file: Turtle with SHACL executables, or lines of JSON with `question`, `query` and optionally
 * `endpoints` (ids or URLs), `outcome` and `feedback`. Never fails: faults become its problem.
 */
async function readExampleFile(file: string, baseUrl: string): Promise<ExampleFile> {
  try {
    const text = await readText(file);
    if (file.endsWith(".jsonl")) return { file, ...examplesInLines(text) };
    const quads = parseTurtle(text, { baseIri: `${baseUrl}/`, ...fileBounds });
    return { file, examples: examplesIn(quads) };
  } catch (thrown) {
    const line = thrown instanceof FedwayError ? thrown.details.where?.line : undefined;
    const reason = libraryMessage(thrown) ?? "it cannot be read";
    return { file, examples: [], problem: line === undefined ? reason : `line ${line}: ${reason}` };
  }
}

async function readText(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    if (size > fileBounds.maxBytes) {
      throw new FedwayError("REQUEST_TOO_LARGE", `The file is larger than ${fileBounds.maxBytes} bytes.`);
    }
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function examplesInLines(text: string) {
  const lines = text.split("\n").slice(0, mostLines);
  const examples: RawExample[] = [];
  const wrong: number[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const value = parsedJson(line);
    if (isLine.Check(value)) examples.push({ ...value, targets: value.endpoints ?? [] });
    else wrong.push(at + 1);
  }
  if (wrong.length === 0) return { examples };
  const places = wrong.slice(0, 5).join(", ");
  return { examples, problem: `${wrong.length} lines are no example (line ${places}${wrong.length > 5 ? ", …" : ""})` };
}

/** The examples of one file that can be used as they are, and how many there are in all. */
export async function readExamples(file: string, baseUrl: string) {
  const { examples: found, problem } = await readExampleFile(file, baseUrl);
  const examples = found.flatMap((raw) => toExample(raw, { kind: "file", name: file }, () => []) ?? []);
  return { examples, total: found.length, problem };
}
