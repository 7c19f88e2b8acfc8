import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import { parsedJson } from "../../json.ts";
import type { Problem } from "../../errors/fedway-error.ts";
import type { RunStatus } from "../../query/run-log.ts";
import type { ToolAnswer } from "../tool.ts";
import type { TokenCount } from "./chat-model.ts";
import { iriParts } from "../../registry/schema/text.ts";

/** A question. */
export interface AskRequest {
  readonly question: string;
  /** Corrections that the model may make after its first query; default 2. */
  readonly rounds?: number | undefined;
  /** Ids of the endpoints to ask; found by the question when absent. */
  readonly endpoints?: readonly string[] | undefined;
  /** Another agent than the one that Fedway recommends, to compare them. */
  readonly setup?: AskSetup | undefined;
}

/** An agent, as benchmarks vary it. Limits are beside those of the operator. */
export interface AskSetup {
  /** Names of the tools that it has; with `submit_final_query` it ends a question itself. */
  readonly tools: readonly string[];
  /** Instead of the task that models are given. */
  readonly prompt: string;
  /** Endpoints, terms and schemas are looked up, with its tools, before the model is asked. */
  readonly lookup: boolean;
  readonly turns?: number | undefined;
  readonly tokens?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Why there was no further turn. */
export type Stop = "answered" | "submitted" | "unknown" | "rounds" | "turns" | "tokens" | "time" | "model";

/** Steps taken for a question, in order. */
export interface Step {
  /** A tool, or "model". */
  readonly step: string;
  /** When it began, since the question did. */
  readonly atMs: number;
  readonly ms: number;
  /** Outcome of a query, or code of a failure. */
  readonly outcome?: string | undefined;
  /** The query that it was given, as it was written. */
  readonly query?: string | undefined;
  /** Id of its run; of an earlier one where its answer was kept. */
  readonly run?: string | undefined;
}

/** The answer to a question: rows with their query, never a model's word for them. */
export interface AskAnswer {
  /** That of the last query; "unknown" when none was written, "failed" also when the model or the time did. */
  readonly status: Exclude<RunStatus, "running"> | "unknown";
  readonly stopped: Stop;
  readonly question: string;
  /** The last query that was run. */
  readonly query: string | null;
  /** Ids of the endpoints that the model was shown, best first. */
  readonly endpoints: readonly string[];
  /** Its result as `run_query` shows it, or why there is none. */
  readonly text: string;
  /** The same as data. */
  readonly result: ToolAnswer["data"] | null;
  readonly diagnosis: Problem | null;
  /** Entities that the question names, by the labels of the data, and its query does not. */
  readonly dropped: readonly Entity[];
  readonly model: string;
  /** Joins the runs of this question. */
  readonly session: string;
  /** Completions of the model. */
  readonly turns: number;
  /** Corrections among them. */
  readonly rounds: number;
  readonly tokens: TokenCount;
  /** In the currency of the configured price; null without one. */
  readonly cost: number | null;
  readonly steps: readonly Step[];
}

const entity = Type.Object({ kind: Type.Literal("entity"), term: Type.String(), label: Type.String() });

/** A thing with its label, as the data have it; its IRI is in angle brackets. */
export type Entity = Pick<Static<typeof entity>, "term" | "label">;

/** Entities in the answer of `search_terms` whose labels are in the question. */
export function namedEntities(question: string, found: ToolAnswer | undefined): readonly Entity[] {
  const listed = found?.data["entities"];
  const words = wordsOf(question);
  return (Array.isArray(listed) ? listed : []).flatMap((each: unknown) =>
    Check(entity, each) && words.includes(wordsOf(each.label)) ? { term: each.term, label: each.label } : [],
  );
}

const wordsOf = (text: string): string => ` ${(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["-"]).join(" ")} `;

/** Those that a query names neither by IRI nor by label; of several with one label, none. */
function droppedOf(named: readonly Entity[], query: string): readonly Entity[] {
  const words = wordsOf(query);
  const isUsed = ({ term, label }: Entity): boolean =>
    query.includes(term) || query.includes(`:${iriParts(term.slice(1, -1)).local}`) || words.includes(wordsOf(label));
  const groups = Map.groupBy(named, ({ label }) => wordsOf(label));
  return [...groups.values()].flatMap((group) => (group.some(isUsed) ? [] : group.slice(0, 1)));
}

/** Outcome of a query. */
export interface Outcome {
  readonly query: string;
  readonly status: AskAnswer["status"];
  /** Absent: it was not run. */
  readonly shown?: ToolAnswer | undefined;
}

const outcomes: ReadonlySet<string> = new Set(["ok", "empty", "partial", "failed", "cancelled"]);

type ResultFields = Pick<AskAnswer, "status" | "query" | "text" | "result" | "diagnosis" | "dropped">;

/** Result of a question: the last query's result, unless the model does not know, or something failed. */
export function resultOf(
  { stopped, last, named }: { stopped: Stop; last: Outcome | undefined; named: readonly Entity[] },
  problem: Problem | undefined,
): ResultFields {
  const { query = null, status = "unknown", shown } = last ?? {};
  const isUnknown = stopped === "unknown" || shown === undefined;
  const dropped = query === null ? [] : droppedOf(named, query);
  const known = { query, result: shown?.data ?? null, dropped };
  if (problem) return { ...known, status: "failed", text: problem.detail, diagnosis: problem };
  if (isUnknown) return { ...known, status: "unknown", text: unknownText[stopped], diagnosis: null };
  const left = dropped.map(({ term, label }) => `not in the query, though the question names it: "${label}" ${term}`);
  return { ...known, status, text: [shown.text, ...left].join("\n"), diagnosis: shown.problem ?? null };
}

/** Texts where there is no result. */
const unknownText: Readonly<Record<Stop, string>> = {
  answered: "",
  submitted: "The query was submitted; it was not run.",
  unknown: "It is not known: no endpoint of the catalogue fits the question, or the model found no way to ask them.",
  rounds: "It is not known: the model wrote no query.",
  turns: "It is not known: the model wrote no query in its turns.",
  tokens: "It is not known: the tokens for this question are used up.",
  time: "It is not known: the time is over.",
  model: "It is not known: the model failed.",
};

/** Ids in the answer of `find_endpoints`. */
export function idsIn(found: ToolAnswer | undefined): readonly string[] {
  const listed = found?.data["endpoints"];
  const entries: readonly unknown[] = Array.isArray(listed) ? listed : [];
  return entries.flatMap((entry) =>
    typeof entry === "object" && entry !== null && "id" in entry && typeof entry.id === "string" ? entry.id : [],
  );
}

/** The query among the arguments of a call, as it was written. */
export function writtenQuery(given: unknown): string | undefined {
  const value = typeof given === "string" ? (parsedJson(given) ?? { query: given }) : given;
  const query = typeof value === "object" && value !== null && "query" in value ? value.query : undefined;
  return typeof query === "string" ? query : undefined;
}

export const submitTool = "submit_final_query";
const queryTools: ReadonlySet<string> = new Set(["run_query", "run_sparql_query", submitTool]);

/** Record of a tool's call. */
export function stepOf(tool: string, given: unknown, { data, problem }: ToolAnswer): Partial<Step> {
  const { status, run = problem?.run } = data;
  return {
    outcome: problem?.code ?? (typeof status === "string" ? status : undefined),
    query: queryTools.has(tool) ? writtenQuery(given) : undefined,
    run: typeof run === "string" ? run : undefined,
  };
}

const isOutcome = (value: unknown): value is Outcome["status"] => typeof value === "string" && outcomes.has(value);

/** The outcome of a query in the answer of `run_query`. */
export function statusOf({ data, problem }: ToolAnswer): Outcome["status"] {
  const { status } = data;
  return isOutcome(status) && problem === undefined ? status : "failed";
}

/** True if that answer is whole and not empty, or has rows. */
export function isAnswer(shown: ToolAnswer): boolean {
  const { rows_received: received, rows } = shown.data;
  const hasRows = typeof received === "number" ? received > 0 : Array.isArray(rows) && rows.length > 0;
  const status = statusOf(shown);
  return status === "ok" || (status === "partial" && hasRows);
}
