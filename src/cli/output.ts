import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { visible, visibleJson } from "../html.ts";
import { constants } from "node:fs";
import { access, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { asCommands } from "./advice.ts";
import { type CliIo, exitCodes, UsageError } from "./cli-io.ts";
import { isTerminal, safeForTerminal, styled } from "./terminal.ts";
import type { Evidence, Problem } from "../errors/fedway-error.ts";

/**
 * Writes text; resolves when it is handed over. A terminal gets control characters in visible form, all others get the text
 * as it is. A reader that has left (EPIPE) is fine.
 */
export async function write(stream: Writable, text: string, show = visible): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write(isTerminal(stream) ? safeForTerminal(text, show) : text, () => resolve());
  });
}

/** Writes a value as JSON. Resolves to the exit code. */
export async function writeJson({ stdout }: Pick<CliIo, "stdout">, value: unknown): Promise<number> {
  await write(stdout, `${JSON.stringify(value, undefined, 2)}\n`, visibleJson);
  return exitCodes.ok;
}

const isEpipe = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EPIPE";

/**
 * Writes a whole body, which is JSON or another text, and leaves the stream open. A terminal gets control characters in
 * visible form, all others get the bytes as they are. A reader that has left is fine.
 */
export async function pour(body: Buffer | Readable, stream: Writable, isJson = false): Promise<void> {
  const source = Buffer.isBuffer(body) ? Readable.from([body]) : body;
  const shown = isTerminal(stream) ? Readable.from(safeParts(source, isJson ? visibleJson : visible)) : source;
  await pipeline(shown, stream, { end: false }).catch((error: unknown) => {
    if (!isEpipe(error)) throw error;
  });
}

/** A CR at the end of a part waits for the next one, which may begin with its LF. */
async function* safeParts(
  source: AsyncIterable<string | Buffer>,
  show: (text: string) => string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of source) {
    const text = rest + (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }));
    rest = text.endsWith("\r") ? "\r" : "";
    yield safeForTerminal(text.slice(0, text.length - rest.length), show);
  }
  yield safeForTerminal(rest + decoder.decode(), show);
}

/** Foreign text on one line, without the characters that would control a terminal. */
export const oneLine = (text: string): string => visible(text.replaceAll(/\s+/g, " ").trim());

/**
 * Refuses a file that could not be written later, before the work is done that goes into it. `option` named it.
 * @throws UsageError
 */
export async function checkOutputFile(path: string, option = "--output"): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory() === true) throw new UsageError(`"${path}" is a folder; ${option} names a file`);
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    throw new UsageError(`"${path}" cannot be written: its folder is missing or may not be written to`, { cause });
  });
}

/** Writes or replaces a file; under its name it is never seen half-written. */
export async function writeOutputFile(path: string, body: Buffer | Readable): Promise<void> {
  const unfinished = `${path}.${process.pid}.partial`;
  try {
    const file = await open(unfinished, "w");
    await pipeline(Buffer.isBuffer(body) ? [body] : body, file.createWriteStream());
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Longest part of a query line that is shown. */
const widestLine = 160;

/** The line of the query that a problem points at, with a caret under the column. */
function pointer(query: string, line: number, column: number | undefined): readonly string[] {
  const text = query.split(/\r\n|\r|\n/)[line - 1];
  if (text === undefined) return [];
  // Far to the right, the start of the line is cut off.
  const from = column !== undefined && column > widestLine ? column - Math.floor(widestLine / 2) : 0;
  const shown = text.slice(from, from + widestLine).replaceAll("\t", " ");
  const label = `${line} | `;
  if (column === undefined) return [`  ${label}${shown}`];
  return [`  ${label}${shown}`, `  ${" ".repeat(label.length - 2)}| ${" ".repeat(Math.max(0, column - 1 - from))}^`];
}

/** Writes a note about an answer to standard error. */
export const writeNote = ({ stderr }: CliIo, text: string): Promise<void> =>
  write(stderr, `${styled(stderr, "dim", `note: ${asCommands(oneLine(text))}`)}\n`);

/** Writes a problem to standard error, what happened in red. */
export async function writeProblem({ stderr }: CliIo, problem: Problem, query?: string): Promise<void> {
  const [first = "", ...rest] = problemText(problem, query).split("\n");
  await write(stderr, [styled(stderr, "red", first), ...rest].join("\n"));
}

/** The first question of each statement, to be asked again. */
const askedLines = ({ statements = [] }: Problem): readonly string[] =>
  statements.flatMap(({ evidence }) => evidence.slice(0, 1).map(evidenceText));

function evidenceText({ endpoint, federation, query, count }: Evidence): string {
  const place = endpoint ?? (federation === undefined ? "" : `federation ${federation}`);
  return `asked${place === "" ? "" : ` ${place}`}: ${oneLine(query)} (${count} ${count === 1 ? "row" : "rows"})`;
}

/** A problem as text for people: code, what happened, where, and what to do next. */
export function problemText(problem: Problem, query?: string): string {
  const { line, column, endpoint } = problem.where ?? {};
  const lines = [`${problem.code}: ${problem.title}`, problem.detail];
  if (line !== undefined) lines.push(`at line ${line}${column === undefined ? "" : `, column ${column}`}`);
  if (line !== undefined && query !== undefined) lines.push(...pointer(query, line, column));
  if (endpoint !== undefined) lines.push(`endpoint: ${endpoint}`);
  if (problem.endpoints && problem.endpoints.length > 0) lines.push(`endpoints: ${problem.endpoints.join(", ")}`);
  lines.push(...askedLines(problem));
  if (problem.next !== undefined) lines.push(`next: ${asCommands(problem.next)}`);
  if (problem.run !== undefined) lines.push(`run: ${problem.run}`);
  return `${visible(lines.join("\n"))}\n`;
}
