import type { Problem } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";

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

/** A problem as text for people: code, what happened, where, and what to do next. */
export function problemText(problem: Problem, query: string | undefined): string {
  const { line, column, endpoint } = problem.where ?? {};
  const lines = [`${problem.code}: ${problem.title}`, problem.detail];
  if (line !== undefined) lines.push(`at line ${line}${column === undefined ? "" : `, column ${column}`}`);
  if (line !== undefined && query !== undefined) lines.push(...pointer(query, line, column));
  if (endpoint !== undefined) lines.push(`endpoint: ${endpoint}`);
  if (problem.endpoints && problem.endpoints.length > 0) lines.push(`endpoints: ${problem.endpoints.join(", ")}`);
  if (problem.next !== undefined) lines.push(`next: ${problem.next}`);
  if (problem.run !== undefined) lines.push(`run: ${problem.run}`);
  return `${visible(lines.join("\n"))}\n`;
}
