import { FedwayError } from "../../errors/fedway-error.ts";
import type { RequestBudget } from "../../outbound/request-budget.ts";
import type { QueryService } from "../../query/query-service.ts";
import { valueText } from "../../rdf/display-text.ts";
import { type Building, type Draft, refused, type Step } from "./draft.ts";
import type { AskedStep } from "./read-step.ts";
import type { Schema } from "./schema.ts";
import { textOf, writeDraft } from "./write-query.ts";

/** Rows of a small query of the container itself: cells as N-Triples, null where unbound. @throws FedwayError what a query fails with */
export type AskRows = (request: {
  readonly text: string;
  readonly endpointId?: string | undefined;
  readonly maxRows: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly owner: string;
  readonly budget?: RequestBudget | undefined;
}) => Promise<readonly (readonly (string | null)[])[]>;

/** Parts that steps are judged by. */
export interface JudgeParts {
  readonly queries: Pick<QueryService, "explain">;
  readonly ask: AskRows;
}

/** Caller of a step. */
export interface ContainerCall {
  readonly owner: string;
  /** Holder of the drafts that it may change; the owner's when absent. */
  readonly holder?: string;
  readonly signal: AbortSignal;
  /** Of the call, for questions to endpoints. */
  readonly budget?: RequestBudget | undefined;
}

interface Asking {
  readonly schema: Schema;
  readonly call: ContainerCall;
}

interface Judgement {
  /** Null: unknown. */
  readonly rows: number | null;
  readonly notes: readonly string[];
}

const askMs = 5_000;
const mostValues = 20;
/** Steps after which fewer solutions match. */
const narrowing: ReadonlySet<Step["step"]> = new Set(["class", "property", "path", "filter", "end"] as const);

/** Decides about steps, by the planner and by small questions to the endpoints. */
export function createJudge({ queries, ask }: JudgeParts) {
  /** Undefined when the endpoints did not answer, or not in time. */
  const askSoon = async (text: string, maxRows: number, { schema, call }: Asking) => {
    try {
      return await ask({ text, endpointId: only(schema), maxRows, timeoutMs: askMs, ...call });
    } catch (error) {
      if (call.signal.aborted || !(error instanceof FedwayError)) throw error;
      return undefined;
    }
  };
  const count = async (draft: Draft, asking: Asking): Promise<number | null> => {
    if (draft.triples.length === 0) return null;
    const { prologue, body } = writeDraft(draft, asking.schema);
    const rows = await askSoon(`${prologue}SELECT (COUNT(*) AS ?rows) WHERE {\n{ ${body} }\n}`, 1, asking);
    const value = /^"(\d+)"/.exec(rows?.[0]?.[0] ?? "")?.[1];
    return value === undefined ? null : Number(value);
  };
  const hasMatch = async (draft: Draft, asking: Asking): Promise<boolean | undefined> => {
    const { prologue, pattern } = writeDraft(draft, asking.schema);
    const rows = await askSoon(`${prologue}SELECT * WHERE {\n${pattern}\n} LIMIT 1`, 1, asking);
    return rows && rows.length > 0;
  };
  return {
    /** Rows of a draft's query; null: unknown. */
    count,
    /** @throws FedwayError `STEP_REFUSED` when the query is invalid or empty after this step */
    async step(step: Step, { draft }: Building, asking: Asking): Promise<Judgement> {
      if (draft.triples.length === 0) return { rows: null, notes: [] };
      refuseInvalid(queries, textOf(writeDraft(draft, asking.schema)), asking.schema);
      const rows = await count(draft, asking);
      // An aggregate without groups has one row, whether anything matches or not.
      const isOneRow = draft.groups.length === 0 && draft.shown.some((item) => typeof item !== "string");
      const isUnclear = rows === null || (isOneRow && narrowing.has(step.step));
      const matches = isUnclear ? await hasMatch(draft, asking) : rows > 0;
      if (matches === false) {
        const next = "Choose another value or property; the query is as it was before.";
        throw refused("With this step the query finds nothing.", next);
      }
      return { rows, notes: matches === undefined ? [undecided] : [] };
    },
    /** Some values of a column, for a condition on it. @throws FedwayError `STEP_REFUSED` when there is no such column */
    async values({ choice = 0 }: AskedStep, { draft }: Building, asking: Asking): Promise<readonly string[]> {
      const { variable } = draft.columns[choice - 1] ?? {};
      if (variable === undefined) {
        throw refused("There is no such column.", `Give a choice from 1 to ${draft.columns.length}.`);
      }
      const { prologue, pattern } = writeDraft(draft, asking.schema);
      const text = `${prologue}SELECT DISTINCT ?${variable} WHERE {\n${pattern}\n} LIMIT ${mostValues}`;
      const rows = await askSoon(text, mostValues, asking);
      if (rows === undefined) return [`The values of ?${variable} could not be read in time.`];
      const values = rows.map(([value]) => valueText(value ?? "", 100)).join(", ");
      return [`Values of ?${variable}: ${values}`];
    },
  };
}

const undecided = "Whether the query finds anything could not be decided in time.";
const only = ({ sources }: Schema): string | undefined => (sources.length === 1 ? sources[0]?.id : undefined);

/** Notes on a text that is passed on though it is no SPARQL 1.1, which a draft is. */
const isUnparsed: ReadonlySet<string> = new Set(["RAW_QUERY", "SPARQL_1_2"]);

function refuseInvalid(queries: JudgeParts["queries"], text: string, schema: Schema): void {
  const wanted = { text, endpointId: only(schema), strict: false, defaultGraphs: [], namedGraphs: [] };
  const reason = reasonAgainst(() => {
    const { problem, notes } = queries.explain(wanted);
    return problem?.detail ?? notes.find(({ code }) => isUnparsed.has(code))?.message;
  });
  if (reason === undefined) return;
  throw refused(`The query would not be valid: ${reason}`, "The query is as it was before; choose another step.");
}

function reasonAgainst(explain: () => string | undefined): string | undefined {
  try {
    return explain();
  } catch (error) {
    if (error instanceof FedwayError) return error.message;
    throw error;
  }
}
