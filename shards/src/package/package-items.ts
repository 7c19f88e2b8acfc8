import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { type Query, parseQuery } from "../../../src/sparql/query.ts";
import type { RejectedQuery } from "../load/load-queries.ts";
import type { QueryReport, ShardReport } from "../report/shard-report.ts";
import { federatedForms, type FederatedForms, type ShardEndpoint } from "./federated-forms.ts";
import { graphForm, queryOfGraphs } from "./graph-form.ts";
import { findGoldAnswer, type GoldAnswer, isGoldAnswer } from "./gold-answer.ts";
import { neededShards, type Stratum, strataOf } from "./strata.ts";
import type { Solution, WholeStore } from "./whole-store.ts";

/**
 * Outcome of a query. `answered`: it has a gold answer and federated forms. `empty`: these too, but the answer has no row
 * (an ASK says no). `unequal`: a federated form gives another answer over the shards. `not-federable`: it has no federated form.
 * `unanswered`: the whole dataset gave no answer within the limits.
 */
export type QueryOutcome = "answered" | "empty" | "unequal" | "not-federable" | "unanswered";

/** Comparison of a federated form with the gold answer where the shards are graphs of one store; `unknown`: it gave none. */
type Checked = "equal" | "unequal" | "unknown";

/** One query of the package; its JSON is a line of `queries.jsonl`. Shards are named by id. */
export interface PackagedQuery {
  readonly id: string;
  /** Ids of the questions that ask it. */
  readonly questions: readonly string[];
  readonly outcome: QueryOutcome;
  /** Why it is not `answered`. */
  readonly why?: string | undefined;
  readonly query: string;
  /** Each pattern at the shards that have matches of it. */
  readonly gold?: string | undefined;
  /** Each pattern at every shard. */
  readonly trivial?: string | undefined;
  readonly checked?: { readonly gold: Checked; readonly trivial: Checked } | undefined;
  /** Shards that the gold query names. */
  readonly endpoints: readonly string[];
  /** Patterns that no shard has a match of. */
  readonly unmatched: readonly string[];
  /** Shards that the covering rules make, and those with a match of one of its patterns: f(q). */
  readonly fanOut: { readonly implied: number; readonly realised: number };
  readonly touched: readonly string[];
  /** Names of the rules that cover it, and of those that made a shard that it touches. */
  readonly rules: readonly string[];
  readonly apartBy: readonly string[];
  /** Where its answer comes from: `several-shards` when no shard has it alone. */
  readonly source?: QueryReport["source"];
  /** Absent: unknown. */
  readonly strata?: readonly Stratum[] | undefined;
  /** Shards without which the gold query gives another answer; absent: unknown. */
  readonly needed?: readonly string[] | undefined;
  readonly answer?: GoldAnswer | undefined;
}

/** A packaged query, and what exports need beside it. */
export interface PackageItem {
  readonly packaged: PackagedQuery;
  readonly parsed: Query;
  readonly solutions: readonly Solution[];
}

interface ItemParts {
  readonly report: ShardReport;
  readonly store: WholeStore;
  readonly shards: readonly ShardEndpoint[];
  readonly signal: AbortSignal;
}

/** Answers one query of the report and writes its federated forms. @throws the signal's reason */
export async function packageQuery(query: QueryReport, parts: ItemParts): Promise<PackageItem> {
  const parsed = parseQuery(query.text);
  const forms = await orFailure(() => federatedForms(parsed, parts), parts.signal);
  const answer = await orFailure(() => findGoldAnswer(parts.store, parsed), parts.signal);
  const gold = "why" in answer ? answer : answer.gold;
  const checked = "why" in gold || "why" in forms ? undefined : await checkForms(forms, gold, parts);
  const packaged: PackagedQuery = {
    id: query.id,
    questions: query.same,
    ...outcomeOf({ forms, answer: gold, checked }),
    query: query.text,
    ...("why" in forms ? noForms : forms),
    checked,
    ...placesOf(query, parts),
    source: query.source,
    ...(await demandsOf(query, { forms, answer: gold, checked }, parts)),
    ...("why" in gold ? {} : { answer: gold }),
  };
  return { packaged, parsed, solutions: "why" in answer ? [] : answer.solutions };
}

const noForms = { endpoints: [], unmatched: [] } as const;

function placesOf({ implied, touched, rules, apartBy }: QueryReport, { shards }: ItemParts) {
  const idOf = new Map(shards.map(({ id, key }) => [key, id]));
  const fanOut = { implied: implied.length, realised: touched.length };
  return { fanOut, touched: touched.map((key) => idOf.get(key) ?? key), rules, apartBy };
}

/** The strata of a query, and the shards that it needs. */
async function demandsOf(
  { apartBy }: QueryReport,
  { forms, answer, checked }: Judged,
  { report, store, shards, signal }: ItemParts,
): Promise<Pick<PackagedQuery, "strata" | "needed">> {
  const kinds = new Set(report.rules.flatMap(({ name, kind }) => (apartBy.includes(name) ? [kind] : [])));
  const made = [...kinds].toSorted();
  if ("why" in forms) return { strata: made };
  const { gold, endpoints } = forms;
  const shown = await orFailure(() => strataOf(gold, store), signal);
  if ("why" in shown) return {};
  const asked = shards.filter(({ id }) => endpoints.includes(id));
  const isKnown = !("why" in answer) && checked?.gold === "equal";
  const needed = isKnown
    ? await orFailure(async () => neededShards({ gold, answer }, asked, store), signal)
    : undefined;
  const known = needed === undefined || "why" in needed ? undefined : needed;
  const strata: readonly Stratum[] = [
    ...shown,
    ...(known === undefined || known.length === 0 ? [] : ["member-down" as const]),
    ...(!("why" in answer) && isEmpty(answer) ? ["empty" as const] : []),
    ...made,
  ];
  return { strata, needed: known };
}

type Failure = { readonly why: string };

async function orFailure<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result | Failure> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    return { why: toFedwayError(error).message };
  }
}

async function checkForms({ gold, trivial }: FederatedForms, answer: GoldAnswer, { store, signal }: ItemParts) {
  const check = async (text: string): Promise<Checked> => {
    const found = await orFailure(() => store.ask(queryOfGraphs(graphForm(text))), signal);
    if ("why" in found) return "unknown";
    return isGoldAnswer(answer, found) ? "equal" : "unequal";
  };
  return { gold: await check(gold), trivial: await check(trivial) };
}

interface Judged {
  readonly forms: FederatedForms | Failure;
  readonly answer: GoldAnswer | Failure;
  readonly checked: PackagedQuery["checked"];
}

function outcomeOf({ forms, answer, checked }: Judged): Pick<PackagedQuery, "outcome" | "why"> {
  if ("why" in answer) return { outcome: "unanswered", why: answer.why };
  if ("why" in forms) return { outcome: "not-federable", why: forms.why };
  const wrong = checked && Object.entries(checked).find(([, found]) => found === "unequal")?.[0];
  if (wrong !== undefined)
    return { outcome: "unequal", why: `Over the shards the ${wrong} query gives another answer.` };
  if (!isEmpty(answer)) return { outcome: "answered" };
  const [first] = forms.unmatched;
  const why = first === undefined ? "No solution satisfies all of it." : `No shard has a match of ${first}.`;
  return { outcome: "empty", why };
}

/** An ASK that says no has its answer. */
function isEmpty(answer: GoldAnswer): boolean {
  if (answer.kind === "boolean") return false;
  return (answer.kind === "graph" ? answer.triples : answer.rows).length === 0;
}

/** Why a question is not in the package. */
type LeftOutReason = "unparsable" | "duplicate-id" | "no-query" | "names-endpoints" | "too-large";

/** A question that is not in the package; `where` is its place in the file of queries. */
export interface LeftOut extends Failure {
  readonly id: string;
  readonly outcome: LeftOutReason;
  readonly where: string;
}

/** The queries that the build left out, each with the name of its outcome. */
export function leftOutOf({ leftOut, queries }: ShardReport): readonly LeftOut[] {
  const used = new Set(queries.flatMap(({ same }) => same));
  return leftOut.map((query) => ({
    id: query.id,
    outcome: reasonOf(query, used),
    why: query.message,
    where: query.place,
  }));
}

function reasonOf({ id, code, message }: RejectedQuery, used: ReadonlySet<string>): LeftOutReason {
  if (code === "QUERY_TOO_LARGE") return "too-large";
  if (code !== "REQUEST_INVALID") return "unparsable";
  if (used.has(id) && message.includes("is taken")) return "duplicate-id";
  return message.includes("SERVICE") ? "names-endpoints" : "no-query";
}
