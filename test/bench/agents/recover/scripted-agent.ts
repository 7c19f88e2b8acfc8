import { tableOf } from "../../../support/table-rows.ts";
import type { Problem, Repair } from "../../../../src/errors/fedway-error.ts";

/** Where the agent works. */
export interface Desk {
  readonly url: string;
}

/** A query on its way. */
export interface Sent {
  readonly text: string;
  readonly endpoint?: string | undefined;
  readonly federation?: string | undefined;
}

/** Rows of an answer by column. */
export interface Answer {
  readonly run?: string;
  readonly status: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  readonly diagnosis: Problem | null;
}

interface Checked {
  readonly query: string;
  readonly repairs: readonly Repair[];
  readonly suggested: string | null;
}

async function post(url: string, body: object): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
}

/** Runs a query as it is. */
export async function run({ url }: Desk, { text, federation }: Sent): Promise<Answer> {
  const answer = tableOf(
    JSON.stringify(await post(`${url}/api/query`, { query: text, federation, terms: "ntriples" })),
  ) as object as Partial<Answer> & Partial<Problem>;
  // What is refused before it runs is a problem document.
  if (answer.columns === undefined) return { status: "failed", columns: [], rows: [], diagnosis: answer as Problem };
  return answer as Answer;
}

/** What the check says of a query. */
export async function check({ url }: Desk, { text, endpoint, federation }: Sent): Promise<Checked> {
  const answer = await post(`${url}/api/tools/check_query`, { query: text, endpoint: endpoint ?? federation });
  return (answer as { data: Checked }).data;
}

/** What became of a query: the answer that the agent takes for right, after so many steps. */
export interface Outcome {
  readonly answer: Answer;
  readonly steps: number;
  /** Feedback that was followed. */
  readonly followed: readonly string[];
}

const mostSteps = 2;

/**
 * Follows feedback only. Each query is checked first; what the check mends by itself costs no step. Then, at most twice: the
 * query that the check suggests, else the first repair of the diagnosis of an answer that is empty or failed,
 * or else of what the check offers without suggesting it.
 */
export async function work(desk: Desk, sent: Sent): Promise<Outcome> {
  const { endpoint, federation } = sent;
  const followed: string[] = [];
  let { text } = sent;
  for (;;) {
    const { query, suggested, repairs } = await check(desk, { text, endpoint, federation });
    text = query;
    if (suggested !== null && followed.length < mostSteps) {
      followed.push("check");
      text = suggested;
      continue;
    }
    const answer = await run(desk, { text, federation });
    const steps = followed.length;
    if (answer.rows.length > 0 || steps === mostSteps) return { answer, steps, followed };
    const diagnosis = await explained(desk, answer);
    const next = repairedBy(diagnosis, text) ?? repairedBy({ repairs }, text);
    if (next === undefined) return { answer, steps, followed };
    followed.push(`diagnosis ${diagnosis?.code}`);
    text = next;
  }
}

/** The diagnosis of an answer; where it has no repair, that of the tool which takes more time for it. */
export async function explained({ url }: Desk, { run: id, diagnosis }: Answer): Promise<Problem | null> {
  if (id === undefined || (diagnosis?.repairs ?? []).length > 0) return diagnosis;
  const answer = await post(`${url}/api/tools/explain_result`, { run_id: id });
  return (answer as { data?: { diagnosis: Problem | null } }).data?.diagnosis ?? diagnosis;
}

/** The text with the first repair that is offered and puts something in the place of something; undefined for none. */
function repairedBy(offered: Pick<Problem, "repairs"> | null, text: string): string | undefined {
  for (const { before, after, applied } of offered?.repairs ?? []) {
    if (applied || before === "" || after === "" || !text.includes(before)) continue;
    return text.replace(before, () => after);
  }
  return undefined;
}

/** Whether the check would change a query. */
export async function isDoubted(desk: Desk, sent: Sent): Promise<boolean> {
  const { query, suggested } = await check(desk, sent);
  return suggested !== null || query !== sent.text;
}
