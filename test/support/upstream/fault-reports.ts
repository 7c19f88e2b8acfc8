import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire, registerHooks } from "node:module";
import type { QueryEngine } from "@comunica/query-sparql";
import { Parser, Store } from "n3";
import { termToText } from "../../../src/results/terms.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Where the reports are. */
const reportsFolder = join(root, "deploy/comunica/upstream");

/** A report of a fault of Comunica's. */
interface FaultReport {
  readonly name: string;
  readonly query: string;
  readonly data: string;
  readonly expected: string;
  /** What Comunica answers; an error's beginning. */
  readonly got: string;
  /** Undefined where the mending is no small patch. */
  readonly patch: string | undefined;
}

export function faultReports(): readonly FaultReport[] {
  const files = readdirSync(reportsFolder).filter((file) => file.endsWith(".md") && file !== "README.md");
  return files.map((file) => {
    const text = readFileSync(join(reportsFolder, file), "utf8");
    const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gmsu)].map(([, kind, body = ""]) => ({ kind, body }));
    const of = (kind: string) => blocks.filter((block) => block.kind === kind).map(({ body }) => body);
    const [expected, got] = of("text").map((body) => body.trimEnd());
    const [query] = of("sparql");
    if (query === undefined || expected === undefined || got === undefined) throw new Error(`${file} lacks a block`);
    return { name: file.slice(0, -3), query, data: of("turtle").join(""), expected, got, patch: of("diff")[0] };
  });
}

/** Comunica's answers to the reports' queries, with the patches in a scratch folder or without any. */
export async function answersTo(reports: readonly FaultReport[], scratch?: string): Promise<readonly string[]> {
  const changed = scratch === undefined ? {} : patchedFiles(reports, scratch);
  const child = fork(join(import.meta.dirname, "answer-reports.ts"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const asked: Asked = { queries: reports.map(({ query, data }) => ({ query, data })), changed };
  child.send(asked);
  const [answers] = (await Promise.race([once(child, "message"), ended(child)])) as [string[]];
  return answers;
}

async function ended(child: ReturnType<typeof fork>): Promise<never> {
  const [code] = await once(child, "exit");
  throw new Error(`The process that asks Comunica ended with ${code}`);
}

/** Copies of the files that the patches change, with all of them applied. */
function patchedFiles(reports: readonly FaultReport[], scratch: string): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const { patch } of reports) {
    if (patch === undefined) continue;
    for (const [, path = ""] of patch.matchAll(/^--- a\/(\S+)$/gmu)) {
      const copy = join(scratch, path);
      mkdirSync(dirname(copy), { recursive: true });
      if (!existsSync(copy)) copyFileSync(join(root, path), copy);
      changed[join(root, path)] = copy;
    }
    execFileSync("git", ["apply", "-"], { cwd: scratch, input: patch });
  }
  return changed;
}

// A child process that answers queries with Comunica as its packages bring it, or with changed files in their place.

/** What the process is sent; it sends back a `string[]` of answers. */
interface Asked {
  readonly queries: readonly { readonly query: string; readonly data: string }[];
  /** A file with the new text, by the path of the one that it stands for. */
  readonly changed: Readonly<Record<string, string>>;
}

process.once("message", (asked: Asked) => {
  void answerAll(asked).then((answers) => process.send?.(answers, () => process.exit()));
});

async function answerAll({ queries, changed }: Asked): Promise<string[]> {
  const texts = new Map(Object.entries(changed).map(([path, file]) => [realpathSync(path), file]));
  registerHooks({
    load(url, context, next) {
      const file = url.startsWith("file:") ? texts.get(fileURLToPath(url)) : undefined;
      if (file === undefined) return next(url, context);
      return { format: "commonjs", source: readFileSync(file, "utf8"), shortCircuit: true };
    },
  });
  const { QueryEngine: Engine } = createRequire(import.meta.url)("@comunica/query-sparql") as {
    QueryEngine: new () => QueryEngine;
  };
  const answers: string[] = [];
  for (const { query, data } of queries) {
    // A query can reach nobody with its failure, and one of them spoils what all objects share.
    const uncaught = new Promise<never>((_, reject) => {
      process.removeAllListeners("uncaughtException").once("uncaughtException", (error) => {
        reject(new UncaughtError(error.message));
      });
    });
    answers.push(await Promise.race([answer(new Engine(), query, data), uncaught]).catch(errorText));
    for (const key of Object.keys(Object.prototype)) Reflect.deleteProperty(Object.prototype, key);
  }
  return answers;
}

class UncaughtError extends Error {}

const errorText = (error: unknown): string => {
  if (error instanceof UncaughtError) return `Uncaught: ${error.message}`;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
};

/** The answer as reports have it: a line for each solution or triple, sorted. */
async function answer(engine: QueryEngine, query: string, data: string): Promise<string> {
  const result = await engine.query(query, { sources: [new Store(new Parser().parse(data))] });
  if (result.resultType === "quads") {
    const quads = await (await result.execute()).toArray();
    const subjects = new Set(quads.map(({ subject }) => subject.value)).size;
    if (quads.length > 9) return `${quads.length} triples, ${subjects} subjects`;
    return lines(quads.map(({ subject, predicate, object }) => [subject, predicate, object].map(termToText).join(" ")));
  }
  if (result.resultType !== "bindings") throw new Error(`An answer of kind ${result.resultType}`);
  const rows = await (await result.execute()).toArray();
  const cells = rows.map((row) => [...row].map(([{ value }, term]) => `?${value}=${termToText(term)}`).toSorted());
  return lines(cells.map((row) => row.join(" ") || "(an empty solution)")) || "(no solution)";
}

const lines = (items: readonly string[]): string => items.toSorted().join("\n");
