import { Yasgui } from "@zazuko/yasgui";
import type { Problem } from "../../../errors/fedway-error.ts";
import type { PlanDescription, RunRecord } from "../../../query/records.ts";
import { ownUrl } from "./own-url.ts";

/** The endpoint or federation of a query; neither: its SERVICE clauses name the endpoints. */
export type Target = { readonly endpoint?: string; readonly federation?: string };

/** The SPARQL route of a target. */
export function routeOf({ endpoint, federation }: Target): string {
  if (endpoint !== undefined) return ownUrl(`/endpoints/${encodeURIComponent(endpoint)}/sparql`);
  return ownUrl(federation === undefined ? "/sparql" : `/federations/${encodeURIComponent(federation)}/sparql`);
}

const mostBytes = 32 * 1024 * 1024;

type Editor = NonNullable<ReturnType<NonNullable<ReturnType<Yasgui["getTab"]>>["getYasqe"]>>;

/** Sends the query of an editor with the editor's own events; of its answer, which is read whole, 32 MB fit. */
export async function sendQuery(editor: Editor): Promise<void> {
  const startedMs = Date.now();
  editor.abortQuery();
  editor.emit("queryBefore", editor);
  const asked = Yasgui.Yasqe.Sparql.getAjaxConfig(editor);
  if (asked === undefined) return;
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(asked.args))
    for (const value of [values].flat()) body.append(name, value);
  const aborter = new AbortController();
  const headers = { Accept: asked.accept, ...asked.headers };
  const request = new Request(asked.url, { method: "POST", headers, body, signal: aborter.signal });
  editor.emit("query", request, aborter);
  const answer = await answerTo(request).catch((error: unknown) => error);
  editor.emit("queryResponse", answer, Date.now() - startedMs);
}

/** @throws Error with the text of a response that is none, or that does not fit */
async function answerTo(request: Request) {
  const response = await fetch(request);
  const { ok, status, statusText, headers, type, body } = response;
  const content = body === null ? "" : await textOf(body);
  if (!ok) throw new Error(content || statusText);
  return { ok, status, statusText, headers, type, content };
}

/** @throws Error for a body that does not fit; as the body otherwise */
async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  // A Response of a stream that fails would not do: of the reason Chromium's `text()` says "Failed to fetch" only.
  const taken = new WritableStream<Uint8Array>({
    write(chunk) {
      bytes += chunk.length;
      if (bytes > mostBytes) throw new Error("The answer is larger than the 32 MB that fit here: add a LIMIT.");
      text += decoder.decode(chunk, { stream: true });
    },
  });
  await body.pipeTo(taken);
  return text + decoder.decode();
}

interface Own {
  readonly signal: AbortSignal;
  /** The session of the query that is asked about. */
  readonly session?: string;
}

async function post<Answer>(path: string, body: object, { signal, session }: Own): Promise<Answer> {
  const headers = { "Content-Type": "application/json", ...(session !== undefined && { "Fedway-Session": session }) };
  return (await fetch(ownUrl(path), { method: "POST", headers, body: JSON.stringify(body), signal })).json();
}

/** The plan of a query, or the problem that it has none for. */
export const explainQuery = (query: string, target: Target, signal: AbortSignal): Promise<PlanDescription | Problem> =>
  post("/api/explain", { query, ...target }, { signal });

/** Cause of an empty answer; undefined where there is none to give. */
export async function whyEmpty(run: string, own: Own): Promise<Problem | undefined> {
  const answer: { data: { diagnosis?: Problem } } = await post("/api/tools/explain_result", { run_id: run }, own);
  return answer.data.diagnosis;
}

async function got<Answer>(path: string): Promise<Answer | undefined> {
  const response = await fetch(ownUrl(path));
  return response.ok ? response.json() : undefined;
}

/** The run of a session with one query, whose id only the first byte of the answer brings; `waitMs`: to wait for its end. */
export async function runOf(session: string, known?: string, waitMs = 0): Promise<RunRecord | undefined> {
  const id = known ?? (await got<{ runs: RunRecord[] }>(`/api/runs?limit=1&session=${session}`))?.runs[0]?.id;
  return id === undefined ? undefined : got(`/api/runs/${encodeURIComponent(id)}?wait=${waitMs}`);
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The problem document in a text, if it is one. */
export function problemIn(text: string): Problem | undefined {
  try {
    const read: Problem = JSON.parse(text);
    return typeof read.code === "string" && typeof read.detail === "string" ? read : undefined;
  } catch {
    return undefined;
  }
}
