import { storeOpener } from "../../src/hosting/file-store.ts";
import { parseQuery } from "../../src/sparql/query.ts";
import { type AuditedItem, auditQueries } from "../../shards/src/audit/audit-queries.ts";
import { type DataFacts, readDataFacts } from "../../shards/src/audit/data-facts.ts";
import { findGoldAnswer } from "../../shards/src/package/gold-answer.ts";
import { openWritten, type WholeStore } from "../../shards/src/package/whole-store.ts";
import type { Random } from "./random.ts";
import { type FaultKind, faultKinds, plantFaults } from "./planted-faults.ts";

/** A query and what its questions ask, by id. */
export interface AskedQuery {
  readonly sparql: string;
  readonly questions: Readonly<Record<string, string>>;
}

const limits = { timeoutMs: 60_000, memoryMb: 3_584, maxAnswerBytes: 100_000_000 };
const signal = new AbortController().signal;

/** A file of N-Triples as a whole store. */
export const openDataset = (path: string): Promise<WholeStore> =>
  openWritten(async () => [{ path, format: "n-triples", gzip: false, graph: "urn:all" }], {
    openStore: storeOpener(limits),
    signal,
  });

/** Audits queries as a package does. */
export async function audit(store: WholeStore, queries: readonly AskedQuery[]) {
  const texts = new Map<string, string>();
  const items: AuditedItem[] = [];
  for (const [at, { sparql, questions }] of queries.entries()) {
    const parsed = parseQuery(sparql);
    const { gold } = await findGoldAnswer(store, parsed);
    for (const [id, text] of Object.entries(questions)) texts.set(id, text);
    items.push({
      parsed,
      packaged: { ...unused, id: `query ${at}`, questions: Object.keys(questions), query: sparql, answer: gold },
    });
  }
  return auditQueries(items, { store, textOf: (_item, id) => texts.get(id) ?? "" });
}

const unused = {
  outcome: "answered",
  endpoints: [],
  unmatched: [],
  fanOut: { implied: 0, realised: 0 },
  touched: [],
  rules: [],
  apartBy: [],
} as const;

/** Plants faults in queries, and counts for each kind how many questions with one are flagged by its name, of how many. */
export async function recallOf(store: WholeStore, right: readonly AskedQuery[], random: Random) {
  const data = (await readDataFacts(store)) as DataFacts;
  const counts = new Map<FaultKind, { found: number; all: number }>();
  const missed: string[] = [];
  for (const query of right) {
    const question = Object.values(query.questions).join(" ");
    const faults = new Map(plantFaults({ text: query.sparql, question }, data, random));
    faults.set("another query", random.pick(right.filter((other) => other !== query)).sparql);
    for (const [kind, sparql] of faults) {
      const again = kind === "another query" ? [query] : [];
      const questions = Object.fromEntries(Object.entries(query.questions).map(([id, text]) => [`wrong ${id}`, text]));
      if (kind === "a limit through ties" && !(await cutsTies(store, sparql))) continue;
      const { questions: flagged } = await audit(store, [...again, { sparql, questions }]);
      for (const id of Object.keys(questions)) {
        const flags = flagged.find((each) => each.id === id)?.flags ?? [];
        const names: readonly string[] = faultKinds[kind];
        const isFound = flags.some(({ name }) => names.includes(name));
        const count = counts.get(kind) ?? { found: 0, all: 0 };
        counts.set(kind, { found: count.found + Number(isFound), all: count.all + 1 });
        if (!isFound) missed.push(`${kind}: ${questions[id]} ${sparql}`);
      }
    }
  }
  return { counts, missed };
}

/** Whether other rows, which differ from those in the answer, are as right. */
async function cutsTies(store: WholeStore, sparql: string): Promise<boolean> {
  const { gold } = await findGoldAnswer(store, parseQuery(sparql));
  if (gold.kind !== "bindings") return false;
  const shown = new Set(gold.rows.map(String));
  return gold.ties?.some(({ others = [] }) => others.some((row) => !shown.has(String(row)))) === true;
}
