import { hash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { FedwayError } from "../errors/fedway-error.ts";
import { readExamples } from "../registry/find.ts";
import { longestQuery, mostWatches, type WatchDefinition } from "./watch.ts";

/** Queries to be watched, and what could not be used. */
export interface QueryCollection {
  readonly queries: readonly (WatchDefinition & { readonly id: string })[];
  readonly problems: readonly { readonly file: string; readonly reason: string }[];
}

/**
 * Reads a `.rq` file, SHACL examples (`.ttl`), or a folder of both, in name order.
 * @param baseUrl what relative IRIs of examples are resolved against, without a trailing slash
 * @throws FedwayError `CONFIG_INVALID` when nothing can be read there
 */
export async function readCollection(path: string, baseUrl: string): Promise<QueryCollection> {
  try {
    const names = (await stat(path)).isDirectory()
      ? (await readdir(path)).toSorted().map((name) => join(path, name))
      : [path];
    const files = names.filter((name) => /\.(?:rq|ttl)$/.test(name)).slice(0, mostWatches);
    const read = await Promise.all(
      files.map((file) => (file.endsWith(".ttl") ? examplesIn(file, baseUrl) : queryIn(file))),
    );
    const byId = new Map(read.flatMap(({ queries }) => queries).map((query) => [query.id, query]));
    return { queries: [...byId.values()].slice(0, mostWatches), problems: read.flatMap(({ problems }) => problems) };
  } catch (cause) {
    throw new FedwayError("CONFIG_INVALID", `Queries cannot be read from ${path}.`, { cause });
  }
}

/** As grlc has them: `#+ summary: text`; also with a plain `#`. */
const headers = /^#\+?[ \t]*(endpoint|federation|summary):[ \t]*["'<]?([^\n"'>]{1,300})/gim;

const headerOf = (text: string, name: string): string | undefined =>
  [...text.matchAll(headers)].find(([, written = ""]) => written.toLowerCase() === name)?.[2]?.trim();

async function queryIn(file: string): Promise<QueryCollection> {
  if ((await stat(file)).size > 4 * longestQuery)
    return { queries: [], problems: [{ file, reason: "it is too large" }] };
  const query = await readFile(file, "utf8");
  const [endpoint, federation, name = basename(file, ".rq")] = ["endpoint", "federation", "summary"].map((each) =>
    headerOf(query, each),
  );
  return { queries: [{ id: idOf(basename(file, ".rq")), name, query, endpoint, federation }], problems: [] };
}

async function examplesIn(file: string, baseUrl: string): Promise<QueryCollection> {
  const { examples, total, problem } = await readExamples(file, baseUrl);
  const queries = examples.map(({ id, question, query, targets }) => {
    const unique = `${question.slice(0, 40)} ${hash("sha256", id).slice(0, 6)}`;
    return { id: idOf(unique), name: question, query, endpoint: targets[0] };
  });
  const left = total - examples.length;
  const reason = problem ?? (left > 0 ? `${left} of ${total} examples cannot be watched` : undefined);
  return { queries, problems: reason === undefined ? [] : [{ file, reason }] };
}

/** An id that is like a text. */
export const idOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9._]+/g, "-")
    .replaceAll(/^[^a-z0-9]+|(?<!-)-+$/g, "")
    .slice(0, 64) || "query";
