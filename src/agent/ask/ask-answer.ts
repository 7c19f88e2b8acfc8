import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import { parsedJson } from "../../values.ts";
import { Problem, withAdvice } from "../../errors/problem.ts";
import type { ToolAnswer } from "../tool.ts";
import { boolean, type Given, text, texts } from "../../shapes.ts";
import { iriParts } from "../../rdf/display-text.ts";

const { Optional } = Type;
const name = Type.String({ minLength: 1, maxLength: 64 });

/** An agent, as benchmarks vary it. */
const AskSetup = Type.Object(
  {
    tools: Type.Array(name, { maxItems: 20, description: "That the model may call." }),
    prompt: Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: "Instead of the task that models are given.",
    }),
    lookup: boolean("Whether endpoints and terms are looked up, with these tools, before the model is asked."),
    turns: Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    tokens: Optional(Type.Integer({ minimum: 1_000, maximum: 10_000_000, description: "Of the model, in and out." })),
    timeoutMs: Optional(Type.Integer({ minimum: 1_000, maximum: 3_600_000 })),
  },
  {
    additionalProperties: false,
    description: "Another agent, to compare it: what fedway evaluate sends. The limits of the operator hold, too.",
  },
);

export type AskSetup = Given<Static<typeof AskSetup>>;

/** A question. */
export const AskRequest = Type.Object(
  {
    question: Type.String({ minLength: 1, maxLength: 4_000, description: "In plain words." }),
    rounds: Optional(
      Type.Integer({ minimum: 0, maximum: 9, description: "Corrections after the first query; 2 when absent." }),
    ),
    endpoints: Optional(
      Type.Array(name, {
        minItems: 1,
        maxItems: 3,
        description: "Ids of the endpoints to ask; found by the question when absent.",
      }),
    ),
    setup: Optional(AskSetup),
  },
  { additionalProperties: false },
);
export type AskRequest = Given<Static<typeof AskRequest>>;

/** Why there was no further turn. */
export type Stop = "answered" | "submitted" | "unknown" | "rounds" | "turns" | "tokens" | "time" | "model";

const count = Type.Integer({ minimum: 0 });

/** A call of a tool or of the model for a question. */
const Step = Type.Object({
  step: text("A tool, or model."),
  atMs: Type.Integer({ minimum: 0, description: "When it began, since the question did." }),
  ms: count,
  outcome: Optional(text("Outcome of a query, or code of a failure.")),
  query: Optional(text("That the tool was given, as it was written.")),
  run: Optional(
    text("Id of its run, as in GET /api/sessions/{id}?format=calls; of an earlier one where its answer was kept."),
  ),
});
export type Step = Given<Static<typeof Step>>;

const entity = Type.Object({ kind: Type.Literal("entity"), term: Type.String(), label: Type.String() });

/** The answer to a question: rows with their query, never a model's word for them. */
export const AskAnswer = Type.Object(
  {
    status: Type.Enum(["ok", "empty", "partial", "failed", "cancelled", "unknown"], {
      description: "That of the last query; unknown: none was written.",
    }),
    stopped: Type.Unsafe<Stop>(text("answered, submitted, unknown, rounds, turns, tokens, time or model.")),
    question: Type.String(),
    query: Type.Union([Type.String(), Type.Null()], {
      description: "The submitted query, else the last one that was run.",
    }),
    endpoints: texts("Ids of the endpoints that the model was shown."),
    text: text("The rows, or why there are none."),
    result: Type.Unsafe<ToolAnswer["data"] | null>(
      Type.Any({ description: "The same as data, as the tool run_query gives it; null when no query was run." }),
    ),
    diagnosis: Type.Union([Problem, Type.Null()]),
    dropped: Type.Array(Type.Omit(entity, ["kind"]), {
      description: "What the question names, by labels of the data, and its query does not.",
    }),
    model: Type.String(),
    session: text("For GET /api/sessions/{id}."),
    turns: count,
    rounds: count,
    tokens: Type.Object({ input: count, output: count, estimated: Type.Boolean() }),
    cost: Type.Union([Type.Number(), Type.Null()], { description: "By FEDWAY_CHAT_PRICE; null without one." }),
    steps: Type.Array(Step),
  },
  { title: "AskAnswer" },
);
export type AskAnswer = Given<Static<typeof AskAnswer>>;

/** A thing with its label, as the data have it; its IRI is in angle brackets. */
export interface Entity {
  readonly term: string;
  readonly label: string;
}

/** Entities in the answer of `search_terms` whose labels are in the question. */
export function namedEntities(question: string, found: ToolAnswer | undefined): readonly Entity[] {
  const listed = found?.data["entities"];
  const words = wordsOf(question);
  return (Array.isArray(listed) ? listed : []).flatMap((each: unknown) =>
    Check(entity, each) && words.includes(wordsOf(each.label)) ? { term: each.term, label: each.label } : [],
  );
}

const wordsOf = (words: string): string => ` ${(words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["-"]).join(" ")} `;

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
  if (problem) return { ...known, status: "failed", text: withAdvice(problem), diagnosis: problem };
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
