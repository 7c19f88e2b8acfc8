import { toProblem, FedwayError, type Problem } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { type CliIo, exitCodes, UsageError } from "./cli-io.ts";
import { openRunner, type QueryArguments, type QueryOutput, askService, chooseService, withApp } from "./runner.ts";
import { oneLine, pour, write, problemText, checkOutputFile, writeOutputFile } from "./output.ts";
import { RemoteProblem } from "./remote-runner.ts";
import { readAnswer } from "./noun.ts";
import { resultFormats } from "../results/formats.ts";
import { formatNamed } from "../results/negotiation.ts";
import { tableLines } from "./answer-table.ts";
import type { PlanDescription } from "../query/explain.ts";
import { planText } from "../views/plan-view.ts";
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

async function report(io: CliIo, error: unknown, query: string): Promise<number> {
  return refuse(io, error instanceof RemoteProblem ? error.problem : toProblem(error), query);
}

async function refuse(io: CliIo, problem: Problem, query: string): Promise<number> {
  await write(io.stderr, problemText(problem, query));
  return exitCodes.failed;
}

async function asking(io: CliIo, argument: string, options: QueryOptions): Promise<QueryArguments> {
  return {
    text: await queryText(argument, io),
    endpointId: options.endpoint,
    federationId: options.federation,
    accept: acceptOf(io, options.format),
    timeoutMs: options.timeout,
    partial: options.subset === true ? "subset" : (options.partial ?? false),
    strict: options.strict ?? false,
    prune: options.prune ?? true,
    provenance: options.provenance ?? false,
    analyze: options.analyze ?? false,
  };
}

const forTerminal = "text/tab-separated-values, text/turtle;q=0.9, application/sparql-results+json;q=0.5";
const forPipe = "text/csv, text/turtle;q=0.9, application/sparql-results+json;q=0.5";

/** @throws UsageError for a format that is not known */
function acceptOf(io: CliIo, format: string | undefined): string {
  if (format === undefined) return isTerminal(io) ? forTerminal : forPipe;
  const named = (["bindings", "boolean", "quads"] as const).flatMap(
    (kind) => formatNamed(format, kind)?.mediaType ?? [],
  );
  if (named.length > 0) return [...new Set(named)].join(", ");
  const names = resultFormats.map(({ name }) => name).join(", ");
  throw new UsageError(`"${format}" is no format; known are ${names}, and their media types`);
}

const isTerminal = ({ stdout }: CliIo): boolean => "isTTY" in stdout && stdout.isTTY === true;

/** To a terminal rows go as a table, and JSON and XML with a line end behind them; to a pipe all goes as it is. */
async function deliver(
  io: CliIo,
  { body, contentType, notes }: QueryOutput,
  format: string | undefined,
): Promise<void> {
  for (const note of notes) await write(io.stderr, `note: ${oneLine(note)}\n`);
  if (!isTerminal(io)) return pour(body, io.stdout);
  const isTable = format === undefined && contentType.startsWith("text/tab-separated-values");
  if (isTable) return pour(Readable.from(tableLines(body)), io.stdout);
  await pour(body, io.stdout);
  if (!contentType.startsWith("text/")) await write(io.stdout, "\n");
}

/** A partial answer is a success only for those who asked for what can be had. */
async function closing(io: CliIo, delivery: QueryOutput, { partial }: QueryArguments): Promise<number> {
  const { status = "ok", partial: kind } = (await delivery.ending()) ?? {};
  if (status === "ok" || status === "empty") return exitCodes.ok;
  const effect =
    kind === "uncertain"
      ? " (uncertain): some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data"
      : ": rows may be missing";
  await write(io.stderr, `The answer is ${status}${effect}.\n`);
  return status === "partial" && partial !== false ? exitCodes.ok : exitCodes.failed;
}

/** `fedway query`: the answer to standard output as it arrives. Resolves to the exit code. */
export async function runQuery(io: CliIo, argument: string, options: QueryOptions): Promise<number> {
  const asked = await asking(io, argument, options);
  const runner = await openRunner(io, options.url);
  try {
    const delivery = await runner.run(asked);
    await deliver(io, delivery, options.format);
    return await closing(io, delivery, asked);
  } catch (error) {
    return await report(io, error, asked.text);
  } finally {
    await runner.close();
  }
}

/** `fedway explain`: the plan to standard output; a plan that is a rejection is a failure. Resolves to the exit code. */
export async function runExplain(io: CliIo, argument: string, options: QueryOptions): Promise<number> {
  checkExplainOptions(options);
  const asked = await asking(io, argument, options);
  const runner = await openRunner(io, options.url);
  try {
    const plan = await runner.explain(asked);
    if (options.portable && plan.problem) return await refuse(io, plan.problem, asked.text);
    if (options.portable) return await writePortable(io, plan);
    await write(io.stdout, options.json ? `${JSON.stringify(plan, undefined, 2)}\n` : `${visible(planText(plan))}\n`);
    if (plan.run !== undefined && failures.has(plan.run.status)) {
      await write(io.stderr, failureText(plan.run));
      return exitCodes.failed;
    }
    if (plan.kind !== "rejected") return exitCodes.ok;
    return plan.problem ? await refuse(io, plan.problem, asked.text) : exitCodes.failed;
  } catch (error) {
    return await report(io, error, asked.text);
  } finally {
    await runner.close();
  }
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

/** Options of `fedway export`. */
interface ExportOptions {
  readonly output?: string;
  readonly url?: string;
  readonly reviewed?: boolean;
}

/**
 * `fedway export`: publishes a snapshot of the state of all endpoints, to standard output or into a file. One that looks
 * implausible beside the last published one is refused. Resolves to the exit code.
 * @throws UsageError, RemoteProblem, FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED`
 */
export async function runExport(io: CliIo, { output, url, reviewed = false }: ExportOptions): Promise<number> {
  if (output === "") throw new UsageError("the name of the file is empty");
  if (output !== undefined) await checkOutputFile(output);
  const service = await chooseService(io, url);
  const snapshot =
    service === undefined
      ? await withApp(io, (app) => app.publishSnapshot({ reviewed }))
      : await readAnswer(io, await askService(io, service, { path: `snapshot${reviewed ? "?reviewed=true" : ""}` }));
  const body = Buffer.from(`${JSON.stringify(snapshot, undefined, 2)}\n`);
  if (output === undefined) {
    await pour(body, io.stdout);
  } else {
    await writeOutputFile(output, body);
    await write(io.stderr, `${oneLine(output)}: ${body.byteLength} bytes\n`);
  }
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
