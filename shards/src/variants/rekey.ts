import { copyFile, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { makeFolder } from "../../../src/make-folder.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { iriText } from "../../../src/rdf/term-text.ts";
import { type NamedInput, namedInputs } from "../load/input.ts";
import { loadQueries } from "../load/load-queries.ts";
import { readStatements } from "../load/read-statements.ts";
import { canonicalString, type Statement } from "../load/statement.ts";
import type { LocatedSpec } from "../spec-paths.ts";
import { localName, Renaming, wordsOf } from "./renaming.ts";
import { Twin } from "./twin.ts";
import { DataFacts, termsOf } from "./twin-facts.ts";

/** How a twin is made. */
export interface RekeyOptions {
  readonly seed: number;
  /** Only IRIs of instances change, to ids that say nothing. */
  readonly opaque: boolean;
  /** Folder of the result; it must not exist. */
  readonly out: string;
  readonly signal: AbortSignal;
}

/** Content of a twin, and the parts of the original that are still in it: `rekey.json` of its folder. */
export type RekeyResult = Awaited<ReturnType<typeof writeTwin>>;

/**
 * Writes the same dataset under other names, so that no model has seen it: instances, texts and numbers are renamed by a seed, in
 * data, queries and questions alike. `shards build` takes the folder as it is.
 * @throws FedwayError `REQUEST_INVALID`, `DATASET_INVALID` (also for named graphs); the signal's reason
 */
export async function rekeyDataset(spec: LocatedSpec, options: RekeyOptions): Promise<RekeyResult> {
  const folder = resolve(options.out);
  if ((await stat(folder).catch(() => undefined)) !== undefined) {
    const next = "Choose another folder with --out.";
    throw new FedwayError("REQUEST_INVALID", `The folder ${folder} exists already.`, { next });
  }
  const building = `${folder}.building`;
  try {
    await rm(building, { recursive: true, force: true });
    const result = await writeTwin(spec, { ...options, out: building });
    await rename(building, folder);
    return result;
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

async function writeTwin(spec: LocatedSpec, { out, seed, opaque, signal }: RekeyOptions) {
  const inputs = namedInputs(spec.inputs.map((path) => ({ path, skipBadLines: spec.skipBadLines })));
  const { queries, rejected } = await loadQueries(spec.queries, spec);
  const facts = new DataFacts(spec.dataset);
  const read = queries.map((query) => facts.learnQuery(query));
  await readStatements(inputs, (statement) => facts.learn(statement), { phase: "learn", signal });
  const ontology = spec.ontology === undefined ? [] : namedInputs([{ path: spec.ontology }]);
  await readStatements(ontology, (statement) => facts.learnSchema(statement), { phase: "learn", signal });
  const kept = new Set([...facts.uses.schema].flatMap((iri) => wordsOf(localName(iri))));
  const renaming = new Renaming({ seed, opaque, kept, words: facts.words.union(kept) });
  const twin = new Twin({ facts, renaming, queries: read, opaque });
  const questions = read.flatMap((query) => twin.entriesOf(query));
  if (questions.length === 0) throw new FedwayError("REQUEST_INVALID", "The twin would have no queries.");
  await makeFolder(out);
  const triples = await writeData(join(out, "data.nt"), inputs, { twin, schema: facts.uses.schema, signal });
  // The queries are written with their prefixes; topics and the place of the result are of the original.
  const { only: _only, prefixes: _prefixes, topics: _topics, output: _output, ...described } = spec;
  const dataset = `${spec.dataset.slice(0, 27)}-twin`;
  const copied = ontology.map(({ path }) => ({ path, name: `ontology${extname(path)}` }));
  for (const { path, name } of copied) await copyFile(path, join(out, name));
  const names = { dataset, title: `${spec.title} (re-keyed by seed ${seed})`, ontology: copied[0]?.name };
  const twinSpec = { ...described, ...names, inputs: ["data.nt"], queries: "queries.json" };
  const notes = {
    ...twin.notes(),
    leftOut: [...rejected.map(({ id, message }) => ({ id, why: message })), ...twin.notes().leftOut],
  };
  const result = { dataset, seed, opaque, triples, questions: questions.length, ...notes };
  for (const [name, value] of Object.entries({ spec: twinSpec, queries: questions, rekey: result }))
    await writeFile(join(out, `${name}.json`), `${JSON.stringify(value, undefined, 2)}\n`);
  return result;
}

/** @returns the number of statements */
async function writeData(
  path: string,
  inputs: readonly NamedInput[],
  { twin, schema, signal }: { readonly twin: Twin; readonly schema: ReadonlySet<string>; readonly signal: AbortSignal },
): Promise<number> {
  const file = await open(path, "w");
  let [triples, pending] = [0, ""];
  const flush = async (): Promise<void> => {
    await file.appendFile(pending);
    pending = "";
  };
  const visit = (statement: Statement): void => {
    pending += renamedLine(statement, twin, schema);
    triples += 1;
  };
  try {
    await readStatements(inputs, visit, { phase: "learn", signal, afterChunk: flush });
    await flush();
  } finally {
    await file.close();
  }
  return triples;
}

function renamedLine(statement: Statement, twin: Twin, schema: ReadonlySet<string>): string {
  const [subject, predicate, object] = termsOf(statement);
  const { value, datatype, suffix } = object;
  // Names and comments of classes and properties stay.
  const renamed = schema.has(subject) || datatype === undefined ? value : twin.literal(value, datatype, predicate);
  const term = datatype === undefined ? iriText(twin.iri(value)) : `${canonicalString(renamed)}${suffix}`;
  return `${iriText(twin.iri(subject))} ${iriText(predicate)} ${term} .\n`;
}
