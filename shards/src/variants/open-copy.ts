import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { iriText } from "../../../src/rdf/term-text.ts";
import { parseQuery } from "../../../src/sparql/query.ts";
import { readFacts } from "../audit/query-facts.ts";
import { canonicalString } from "../load/statement.ts";
import { readStatements } from "../load/read-statements.ts";
import type { Manifest } from "../materialise/manifest.ts";
import { openInputs, type Opening, type WholeStore } from "../package/whole-store.ts";
import { shardInputs } from "../verify/read-sides.ts";
import { alteredRows, type Constants, type Row } from "./altered-rows.ts";

/** Finished shards, and the URLs of their endpoints. */
export interface ShardFolder {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly urlOf: (id: string) => string;
  /** Texts of the queries, whose constants are among the values of the copies. */
  readonly queries: readonly string[];
}

/** How many altered copies a package has answers for. */
export const copyCount = 3;
/** Larger datasets have no copies, whose making takes memory. */
const mostTriples = 250_000;

/** Why a dataset has no altered copies; undefined when it has. */
export function withoutCopies({ format, triples }: Pick<Manifest, "format" | "triples">): string | undefined {
  if (format !== "n-triples") return "The dataset has named graphs.";
  return triples > mostTriples ? `The dataset has more than ${mostTriples} triples.` : undefined;
}

/** The literals that queries compare values of properties with. */
export function constantsOf(queries: readonly string[]): Constants {
  const constants = new Map<string, Set<string>>();
  for (const { literals } of queries.map((text) => readFacts(parseQuery(text)))) {
    for (const { value, properties } of literals) {
      for (const name of properties.map(iriText))
        constants.set(name, (constants.get(name) ?? new Set()).add(escaped(value)));
    }
  }
  return constants;
}

const escaped = (value: string): string => canonicalString(value).slice(1, -1);

/** Seed of a copy: the same shards have the same copies. */
const seedOf = ({ dataset, shards }: Pick<Manifest, "dataset" | "shards">, copy: number): string =>
  [dataset, copy, ...shards.map(({ sha256 }) => sha256)].join(" ");

/**
 * The dataset of finished shards with other facts, as a whole store with the same shards: a query that was right by accident
 * gives another answer there than the right one.
 * @param copy from 1
 * @throws FedwayError as `openWholeStore`
 */
export async function openCopy(shards: ShardFolder, copy: number, opening: Opening): Promise<WholeStore> {
  const { manifest, urlOf, queries } = shards;
  const rows: Row[] = [];
  for (const input of shardInputs(shards)) {
    await readStatements(
      [input],
      ({ bytes, start, subjectEnd, predicateEnd, objectEnd }) => {
        const text = (from: number, to: number): string => bytes.toString("utf8", from, to);
        const [subject, predicate] = [text(start, subjectEnd), text(subjectEnd + 1, predicateEnd)];
        rows.push({ shard: input.name, subject, predicate, object: text(predicateEnd + 1, objectEnd) });
      },
      { phase: "verify", signal: opening.signal },
    );
  }
  const altered = Map.groupBy(
    alteredRows(rows, { seed: seedOf(manifest, copy), constants: constantsOf(queries) }),
    ({ shard }) => shard,
  );
  const folder = await mkdtemp(join(opening.scratch ?? tmpdir(), "fedway-copy-"));
  try {
    const inputs = manifest.shards.map(({ id }, at) => ({
      path: join(folder, `${at}.nt`),
      name: id,
      format: "n-triples" as const,
    }));
    for (const { path, name } of inputs) await writeFile(path, linesOf(altered.get(name) ?? []));
    return await openInputs(inputs, { ...opening, graphOf: urlOf });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const linesOf = (rows: readonly Row[]): string =>
  [...new Set(rows.map(({ subject, predicate, object }) => `${subject} ${predicate} ${object} .\n`))].join("");
