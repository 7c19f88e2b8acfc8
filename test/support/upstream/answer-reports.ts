import { readFileSync, realpathSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { QueryEngine } from "@comunica/query-sparql";
import { Parser, Store } from "n3";
import { termToText } from "../../../src/results/terms.ts";

// A child process that answers queries with Comunica as its packages bring it, or with changed files in their place.

/** What the process is sent; it sends back a `string[]` of answers. */
export interface Asked {
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
