import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { iriText } from "../../../src/rdf/term-text.ts";
import { parseQuery } from "../../../src/sparql/query.ts";
import { readFacts } from "../audit/query-facts.ts";
import { canonicalString } from "../load/statement.ts";
import { readStatements } from "../load/read-statements.ts";
import type { Manifest } from "../materialise/manifest.ts";
import { type FinishedShards, type Opening, openWritten, type WholeStore } from "../package/whole-store.ts";
import { shardInputs } from "../verify/read-sides.ts";
import { alteredRows, type Constants, type Row } from "./altered-rows.ts";
import { findGoldAnswer } from "../package/gold-answer.ts";
import type { PackagedQuery } from "../package/package-items.ts";

/** Finished shards with their queries. */
export interface ShardFolder extends FinishedShards {
  /** Texts of the queries, whose constants are among the values of the copies. */
  readonly queries: readonly string[];
}

/** How many altered copies a package has answers for. */
export const copyCount = 3;
/** Larger datasets have no copies, whose making takes memory. */
const mostTriples = 250_000;

/** Why a dataset has no altered copies; undefined when it has. */
export function withoutCopies({ format, triples }: Manifest): string | undefined {
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
const seedOf = ({ dataset, shards }: Manifest, copy: number): string =>
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
  return openWritten(
    (folder) =>
      Promise.all(
        manifest.shards.map(async ({ id }, at) => {
          const path = join(folder, `${at}.nt`);
          await writeFile(path, linesOf(altered.get(id) ?? []));
          return { path, format: "n-triples", gzip: false, graph: urlOf(id) };
        }),
      ),
    opening,
  );
}

const linesOf = (rows: readonly Row[]): string =>
  [...new Set(rows.map(({ subject, predicate, object }) => `${subject} ${predicate} ${object} .\n`))].join("");

/** The gold answers over altered copies of the data, `copies.json` of a package. */
export type CopyAnswers =
  | { readonly without: string }
  | {
      readonly count: number;
      /** By the id of a query: the signature of its answer over each copy, null where it has none within the limits. */
      readonly signatures: Readonly<Record<string, readonly (string | null)[]>>;
      /** Queries with the same answer everywhere: copies cannot show luck there. */
      readonly unchanged: readonly string[];
    };

/** Answers the queries that have a gold answer over each copy. @throws the signal's reason */
export async function copyAnswers(
  shards: FinishedShards,
  queries: readonly Pick<PackagedQuery, "id" | "query" | "answer">[],
  opening: Opening,
): Promise<CopyAnswers> {
  const without = withoutCopies(shards.manifest);
  if (without !== undefined) return { without };
  const answered = queries.filter(({ answer }) => answer !== undefined);
  const signatures: Record<string, (string | null)[]> = {};
  for (let copy = 1; copy <= copyCount; copy++) {
    const store = await openCopy({ ...shards, queries: queries.map(({ query }) => query) }, copy, opening);
    try {
      for (const { id, query } of answered) {
        const signature = await findGoldAnswer(store, parseQuery(query)).then(
          ({ gold }) => gold.signature,
          () => null,
        );
        opening.signal.throwIfAborted();
        signatures[id] = [...(signatures[id] ?? []), signature];
      }
    } finally {
      await store.close();
    }
  }
  const isUnchanged = ({ id, answer }: (typeof answered)[number]): boolean =>
    signatures[id]?.every((signature) => signature === answer?.signature) === true;
  return { count: copyCount, signatures, unchanged: answered.filter(isUnchanged).map(({ id }) => id) };
}
