import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addEvaluate } from "../../shards/src/cli/evaluate-program.ts";
import type { CallRecord, QuestionRecord } from "../../shards/src/evaluate/records.ts";
import { openPackage } from "../../shards/src/package/open-package.ts";
import { makePackage } from "./benchmark-package.ts";
import { cli } from "./run-cli.ts";
import { newFolder } from "./scratch-folder.ts";
import { openWorkspace } from "./shard-workspace.ts";

const prefix = "PREFIX : <https://tiny.example/>";

/** Names lie in one shard, ages in another, and colours, which no question needs, in a third. */
const data = `
  <https://tiny.example/ann> <https://tiny.example/name> "Ann" .
  <https://tiny.example/ann> <https://tiny.example/age> "30"^^<http://www.w3.org/2001/XMLSchema#integer> .
  <https://tiny.example/bob> <https://tiny.example/name> "Bob" .
  <https://tiny.example/bob> <https://tiny.example/age> "40"^^<http://www.w3.org/2001/XMLSchema#integer> .
  <https://tiny.example/sky> <https://tiny.example/colour> "blue" .
`;

/** A package of two questions, both of which need two of its three endpoints. */
export async function tinyPackage() {
  const workspace = await openWorkspace();
  const ages = "?p :name ?name ; :age ?age";
  const queries = [
    { id: "ages", question: "How old is who?", sparql: `${prefix} SELECT ?name ?age { ${ages} }` },
    {
      id: "oldest",
      question: "Who is oldest?",
      sparql: `${prefix} SELECT ?name { ${ages} } ORDER BY DESC(?age) LIMIT 1`,
    },
  ];
  await writeFile(join(workspace.input, "tiny.nt"), data);
  await writeFile(join(workspace.input, "tiny.json"), JSON.stringify(queries));
  await workspace.describe({
    inputs: ["tiny.nt"],
    queries: "tiny.json",
    ontology: undefined,
    reading: "literal",
    mode: "paper",
  });
  const { folder = "" } = await workspace.build();
  const made = await makePackage(folder);
  const pkg = await openPackage(made.folder);
  return { folder: made.folder, pkg };
}

/** A record of a question that an agent submitted a query for. */
export const record = (changes: Partial<QuestionRecord> & Pick<QuestionRecord, "question">): QuestionRecord => ({
  setup: "baseline",
  model: "planted",
  repeat: 0,
  outcome: "submitted",
  final: null,
  calls: [],
  turns: 1,
  tokens: { input: 100, output: 10, estimated: false },
  cost: 0.5,
  ms: 1_000,
  ...changes,
});

/** A query that an agent ran. */
export const ran = (query: string, changes: Partial<CallRecord> = {}): CallRecord => ({
  tool: "run_query",
  atMs: 100,
  ms: 50,
  query,
  outcome: "ok",
  rows: 1,
  endpoints: [],
  requests: 1,
  bytes: 10,
  repairs: 0,
  ...changes,
});

/** A folder of runs with these lines. */
export async function runFolder(lines: readonly (object | string)[], settings: object | string = {}): Promise<string> {
  const folder = newFolder();
  const text = (line: object | string): string => (typeof line === "string" ? line : JSON.stringify(line));
  await writeFile(join(folder, "run.json"), text(settings));
  await writeFile(join(folder, "runs.jsonl"), lines.map((line) => `${text(line)}\n`).join(""));
  return folder;
}

/** `fedway evaluate`. */
export const evaluate = (...words: readonly string[]) =>
  cli(["evaluate", ...words], {
    plugins: [addEvaluate],
    interrupted: new AbortController().signal,
  });
