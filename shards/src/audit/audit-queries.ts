import type { PackageItem } from "../package/package-items.ts";
import type { WholeStore } from "../package/whole-store.ts";
import type { QueryReport } from "../report/shard-report.ts";
import type { Flag } from "./audited.ts";
import { columnFlags, groupFlags } from "./column-checks.ts";
import { conditionFlags, literalFlags } from "./condition-checks.ts";
import { answerFlags, constantFlags, numberFlags } from "./data-checks.ts";
import { type DataFacts, readDataFacts } from "./data-facts.ts";
import { readFacts } from "./query-facts.ts";
import { readQuestion } from "./question-text.ts";

/** A packaged query. */
export type AuditedItem = Pick<PackageItem, "packaged" | "parsed">;

/** Texts of the questions of a query, by id. */
export type Texts = (item: AuditedItem, id: string) => string;

/** The text of a question; those that have none of their own have the query's. */
export const textsOf =
  (queries: readonly Pick<QueryReport, "id" | "question" | "questions">[]): Texts =>
  ({ packaged }, id) => {
    const asked = queries.find((query) => query.id === packaged.id);
    return asked?.questions?.[id] ?? asked?.question ?? "";
  };

/** The doubts about a package; its JSON is `audit.json`. */
export interface Audit {
  /** How many questions have each flag. */
  readonly counts: Readonly<Record<string, number>>;
  /** Set when the data could not be read: what the checks of values would find is unknown. */
  readonly unchecked?: string;
  /** Questions with flags. */
  readonly questions: readonly { readonly id: string; readonly query: string; readonly flags: readonly Flag[] }[];
}

/** Finds doubts about gold queries. @throws FedwayError as the store */
export async function auditQueries(
  items: readonly AuditedItem[],
  { store, textOf }: { readonly store: WholeStore; readonly textOf: Texts },
): Promise<Audit> {
  const data = await readDataFacts(store);
  const twice = duplicates(items, textOf);
  const questions: Audit["questions"][number][] = [];
  for (const item of items) {
    const { packaged } = item;
    const ofQuery = await queryFlags(item, data, store);
    for (const id of packaged.questions) {
      const flags = distinct([...questionFlags(item, textOf(item, id), data), ...ofQuery, ...(twice.get(id) ?? [])]);
      if (flags.length > 0) questions.push({ id, query: packaged.id, flags });
    }
  }
  const counts: Record<string, number> = {};
  for (const name of questions.flatMap(({ flags }) => [...new Set(flags.map((flag) => flag.name))]))
    counts[name] = (counts[name] ?? 0) + 1;
  return { counts, ...("why" in data && { unchecked: data.why }), questions };
}

type Known = DataFacts | { readonly why: string };

async function queryFlags(
  { packaged, parsed }: AuditedItem,
  known: Known,
  store: WholeStore,
): Promise<readonly Flag[]> {
  const facts = readFacts(parsed);
  const answer = answerFlags(facts, packaged.answer);
  return "why" in known
    ? answer
    : [...answer, ...(await constantFlags(facts, known, store)), ...numberFlags(facts, known)];
}

function questionFlags({ parsed }: AuditedItem, text: string, known: Known): readonly Flag[] {
  const question = readQuestion(text);
  if (question.words.length === 0) return [];
  const audited = { question, facts: readFacts(parsed), data: "why" in known ? undefined : known };
  return [...columnFlags(audited), ...literalFlags(audited), ...conditionFlags(audited), ...groupFlags(audited)];
}

const distinct = (flags: readonly Flag[]): readonly Flag[] => [
  ...new Map(flags.map((flag) => [JSON.stringify(flag), flag])).values(),
];

/** Questions that are asked with another query, too. */
function duplicates(items: readonly AuditedItem[], textOf: Texts): ReadonlyMap<string, readonly Flag[]> {
  const asked = items.flatMap((item) =>
    item.packaged.questions.map((id) => ({
      id,
      of: item.packaged.id,
      text: readQuestion(textOf(item, id)).words.join(" "),
    })),
  );
  const byText = Map.groupBy(asked, ({ text }) => text);
  const found = new Map<string, readonly Flag[]>();
  for (const { id, of, text } of asked) {
    const other = text === "" ? undefined : byText.get(text)?.find((each) => each.of !== of);
    if (other !== undefined)
      found.set(id, [
        { name: "duplicate", evidence: `The question ${other.id} is the same with another query.`, place: "SELECT" },
      ]);
  }
  return found;
}
