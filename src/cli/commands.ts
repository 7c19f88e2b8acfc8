import { toProblem, FedwayError, type Problem } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { parsedJson } from "../json.ts";
import { type CliIo, exitCodes, UsageError } from "./cli-io.ts";
import { RemoteProblem, searchOf, type Service, unreachable, withService } from "./service.ts";
import { pour, write, writeNote, writeProblem } from "./output.ts";
import { resultFormats } from "../results/formats.ts";
import { formatNamed } from "../results/negotiation.ts";
import { tableLines } from "./answer-table.ts";
import { isTerminal, startSpinner, styled } from "./terminal.ts";
import type { PlanDescription } from "../query/explain.ts";
import { planText } from "../views/plan-view.ts";
import type { RunRecord } from "../query/run-log.ts";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { isUtf8 } from "node:buffer";

/** Options that `query` and `explain` share. */
interface QueryOptions {
  readonly endpoint?: string;
  readonly federation?: string;
  readonly url?: string;
  readonly format?: string;
  readonly timeout?: number;
  readonly partial?: boolean;
  readonly subset?: boolean;
  readonly strict?: boolean;
  readonly prune?: boolean | "trust";
  readonly provenance?: boolean;
  readonly json?: boolean;
  readonly portable?: boolean;
  readonly analyze?: boolean;
}

async function refuse(io: CliIo, problem: Problem, query: string): Promise<number> {
  await writeProblem(io, problem, query);
  return io.interrupted.aborted ? exitCodes.interrupted : exitCodes.failed;
}

/** Asks the service; what fails is shown with its place in the query. */
async function asking(
  io: CliIo,
  { text, url }: { readonly text: string; readonly url: string | undefined },
  use: (service: Service) => Promise<number>,
): Promise<number> {
  try {
    return await withService(io, { url }, use);
  } catch (error) {
    if (error instanceof FedwayError && error.code === "CONFIG_INVALID") throw error;
    return refuse(io, error instanceof RemoteProblem ? error.problem : toProblem(error), text);
  }
}

const forTerminal = "text/tab-separated-values, text/turtle;q=0.9, application/sparql-results+json;q=0.5";
const forPipe = "text/csv, text/turtle;q=0.9, application/sparql-results+json;q=0.5";

/** @throws UsageError for a format that is not known */
function acceptOf(io: CliIo, format: string | undefined): string {
  if (format === undefined) return isTerminal(io.stdout) ? forTerminal : forPipe;
  const named = (["bindings", "boolean", "quads"] as const).flatMap(
    (kind) => formatNamed(format, kind)?.mediaType ?? [],
  );
  if (named.length > 0) return [...new Set(named)].join(", ");
  const names = resultFormats.map(({ name }) => name).join(", ");
  throw new UsageError(`"${format}" is no format; known are ${names}, and their media types`);
}

/** `fedway query`: the answer to standard output as it arrives. Resolves to the exit code. */
export async function runQuery(io: CliIo, argument: string, options: QueryOptions): Promise<number> {
  const accept = acceptOf(io, options.format);
  const text = await queryText(argument, io);
  return asking(io, { text, url: options.url }, async (service) => {
    const headers = { "Content-Type": "application/sparql-query", Accept: accept };
    const stopSpinner = startSpinner(io.stderr);
    const response = await service.ask(pathOf(options), { headers, body: text, asClient: true }).finally(stopSpinner);
    const record = async (): Promise<Partial<RunRecord>> => recordOf(service, response.headers.get("Fedway-Run"));
    const notes = response.headers.get("Fedway-Notes")?.split(",") ?? [];
    // The header has their codes only.
    const messages = notes.length === 0 ? [] : ((await record()).notes ?? []).map(({ message }) => message);
    for (const note of messages.length > 0 ? messages : notes) await writeNote(io, note);
    await deliver(io, response, options.format).catch(async (error: unknown) => {
      const { code, detail } = await record();
      throw code === undefined
        ? unreachable(error, io.interrupted)
        : new FedwayError(code, detail ?? "The answer broke off.");
    });
    return closing(io, await record(), options);
  });
}

function pathOf({
  endpoint,
  federation,
  timeout,
  partial,
  subset,
  strict,
  provenance,
  prune = true,
}: QueryOptions): string {
  const place =
    federation === undefined
      ? endpoint === undefined
        ? ""
        : `/endpoints/${encodeURIComponent(endpoint)}`
      : `/federations/${encodeURIComponent(federation)}`;
  const allowed = subset ? "subset" : partial;
  const pruned = prune === true ? undefined : prune;
  return `${place}/sparql${searchOf({ timeout, partial: allowed, strict, provenance, prune: pruned })}`;
}

/** The record of a run; empty when it is not available. */
async function recordOf(service: Service, run: string | null): Promise<Partial<RunRecord>> {
  if (run === null) return {};
  const response = await service
    .send(`/api/runs/${encodeURIComponent(run)}`, { asClient: true })
    .catch(() => undefined);
  const record: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined;
  return isRecord(record) ? record : {};
}

const isRecord = (value: unknown): value is Partial<RunRecord> =>
  typeof value === "object" && value !== null && "status" in value;

/** To a terminal rows go as a table, ASK as a word, JSON and XML with a line end behind them; to a pipe all goes as it is. */
async function deliver(io: CliIo, response: Response, format: string | undefined): Promise<void> {
  const contentType = response.headers.get("Content-Type") ?? "";
  const isWord = format === undefined && contentType.startsWith("application/sparql-results+json");
  if (isWord && isTerminal(io.stdout)) return write(io.stdout, `${wordOf(await response.text())}\n`);
  const body = response.body === null ? Buffer.alloc(0) : Readable.fromWeb(response.body);
  if (!isTerminal(io.stdout)) return pour(body, io.stdout);
  const isTable = format === undefined && contentType.startsWith("text/tab-separated-values");
  if (isTable) return pour(Readable.from(tableLines(body, io.stdout)), io.stdout);
  await pour(body, io.stdout);
  if (!contentType.startsWith("text/")) await write(io.stdout, "\n");
}

/** `true` or `false`; an answer of another form as it came. */
function wordOf(json: string): string {
  const answer = parsedJson(json);
  const value = typeof answer === "object" && answer !== null && "boolean" in answer ? answer.boolean : undefined;
  return typeof value === "boolean" ? String(value) : json;
}

/** A partial answer is a success only if partial results were allowed. */
async function closing(io: CliIo, record: Partial<RunRecord>, { partial, subset }: QueryOptions): Promise<number> {
  const { status = "ok", partial: kind } = record;
  if (status === "ok" || status === "empty") return exitCodes.ok;
  const effect =
    kind === "uncertain"
      ? " (uncertain): some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data"
      : ": rows may be missing";
  const style = status === "partial" ? "yellow" : "red";
  await write(io.stderr, `${styled(io.stderr, style, `The answer is ${status}${effect}.`)}\n`);
  return status === "partial" && (partial || subset) ? exitCodes.ok : exitCodes.failed;
}

/** `fedway explain`: the plan to standard output; a plan that is a rejection is a failure. Resolves to the exit code. */
export async function runExplain(io: CliIo, argument: string, options: QueryOptions): Promise<number> {
  checkExplainOptions(options);
  const { url, endpoint, federation, strict, prune, analyze, timeout: timeoutMs, partial, subset } = options;
  const query = await queryText(argument, io);
  const run = analyze && { analyze, timeoutMs, partial: subset ? "subset" : partial };
  return asking(io, { text: query, url }, async (service) => {
    const body = { query, endpoint, federation, strict, prune, ...run };
    const plan: unknown = await (await service.ask("/api/explain", { body, asClient: true })).json();
    if (isPlan(plan)) return writePlan(io, plan, { ...options, query });
    throw new FedwayError("ENDPOINT_MALFORMED", "The service did not answer with a plan.");
  });
}

const isPlan = (value: unknown): value is PlanDescription =>
  typeof value === "object" && value !== null && "kind" in value && "notes" in value;

async function writePlan(
  io: CliIo,
  plan: PlanDescription,
  { portable, json, query }: QueryOptions & { readonly query: string },
): Promise<number> {
  if (portable && plan.problem) return refuse(io, plan.problem, query);
  if (portable) return writePortable(io, plan);
  await write(io.stdout, json ? `${JSON.stringify(plan, undefined, 2)}\n` : `${visible(planText(plan))}\n`);
  if (plan.run !== undefined && failures.has(plan.run.status)) {
    await write(io.stderr, failureText(plan.run));
    return exitCodes.failed;
  }
  if (plan.kind !== "rejected") return exitCodes.ok;
  return plan.problem ? refuse(io, plan.problem, query) : exitCodes.failed;
}

/** An option that has no effect is a misunderstanding. @throws UsageError */
function checkExplainOptions({ portable, json, analyze, timeout, partial, subset }: QueryOptions): void {
  if (portable && json)
    throw new UsageError("--portable writes a query and --json a plan, which has that query, too: use one of them");
  if (portable && analyze) throw new UsageError("--portable writes a query and --analyze runs it: use one of them");
  if (analyze) return;
  const given = { "--timeout": timeout !== undefined, "--partial": partial, "--subset": subset };
  const [idle] = Object.entries(given).find(([, isGiven]) => isGiven) ?? [];
  if (idle !== undefined) throw new UsageError(`${idle} is for a run: use it with --analyze`);
}

type Failure = Pick<NonNullable<PlanDescription["run"]>, "status" | "code" | "detail">;

function failureText({ status, code, detail = "" }: Failure): string {
  const what = status === "cancelled" ? "The run was cancelled" : `The run ${status}`;
  return `${visible(`${what}${code === undefined ? "" : ` (${code})`}. ${detail}`.trimEnd())}\n`;
}

const failures: ReadonlySet<string> = new Set(["failed", "cancelled"]);

/** The plan as a query for any engine. */
async function writePortable(io: CliIo, { portable }: PlanDescription): Promise<number> {
  const text = portable?.query;
  if (text !== undefined) {
    for (const { code, message } of portable?.notes ?? []) await write(io.stderr, `note ${code}: ${message}\n`);
    await write(io.stdout, `${text.trimEnd()}\n`);
    return exitCodes.ok;
  }
  const why = portable?.why ?? "The query is not executed; explain it without --portable to see why.";
  const next = portable?.next === undefined ? "" : ` ${portable.next}`;
  await write(io.stderr, `There is no portable plan. ${why}${next}\n`);
  return exitCodes.failed;
}

/** `fedway serve`: listens until interrupted. Resolves to the exit code. */
export async function runServe(io: CliIo, overrides: Readonly<Record<string, string>>): Promise<number> {
  const app = await io.openApp(overrides);
  const url = await app.listen();
  await write(io.stderr, app.startMessage(url));
  if (!io.interrupted.aborted) {
    await new Promise<void>((resolve) => {
      io.interrupted.addEventListener("abort", () => resolve(), { once: true });
    });
  }
  await app.close();
  return exitCodes.ok;
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new FedwayError("QUERY_ENCODING", "The query is not UTF-8 text.");
  return bytes.toString("utf8");
}

const looksLikeQuery = (text: string): boolean => /[\s{}]/.test(text);

/**
 * The query that an argument means: `-` is standard input, the name of a file its content, anything with blanks or
 * braces is the query itself.
 * @throws UsageError when it is neither; FedwayError `QUERY_ENCODING`
 */
export async function queryText(argument: string, { stdin }: Pick<CliIo, "stdin">): Promise<string> {
  if (argument === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
    return decoded(Buffer.concat(chunks));
  }
  if (looksLikeQuery(argument)) {
    const content = await readFile(argument).catch(() => undefined);
    return content ? decoded(content) : argument;
  }
  const content = await readFile(argument).catch((error: unknown) => {
    throw new UsageError(`"${argument}" is no file that can be read, and no query`, { cause: error });
  });
  return decoded(content);
}
