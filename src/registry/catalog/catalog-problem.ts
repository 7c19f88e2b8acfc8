import { FedwayError } from "../../errors/fedway-error.ts";
import type { CatalogProblem } from "./catalog.ts";
import { EntryProblem } from "./statements.ts";

/** What is wrong with a file, where it can be said with its line. */
export function toProblem(file: string, problem: unknown, text = ""): CatalogProblem {
  const line = lineOf(problem, text);
  return Object.freeze({ file, reason: reasonOf(problem), ...(line !== undefined && { line }) });
}

/** The reason in words for the operator, without passwords and without what the program only knows for itself. */
export function reasonOf(problem: unknown): string {
  if (problem instanceof EntryProblem || problem instanceof FedwayError) return withoutPasswords(problem.message);
  const code = problem instanceof Error && "code" in problem ? ` (${String(problem.code)})` : "";
  return `The file cannot be read${code}.`;
}

/** Parsers quote what they stumble over, which may be a URL with a password. */
const withoutPasswords = (message: string): string => message.replaceAll(/\/\/[^\s/"<>]{1,300}@/g, "//...@");

/** Turtle syntax errors know their line; for the others, the last line that has the text they are about. */
function lineOf(problem: unknown, text: string): number | undefined {
  if (problem instanceof FedwayError) return problem.details.where?.line;
  if (!(problem instanceof EntryProblem) || problem.about === undefined) return undefined;
  return lineWith(problem.about, text);
}

/** The last line that has some text, 1-based. */
export function lineWith(part: string, text: string): number | undefined {
  const at = text.lastIndexOf(part);
  return at === -1 ? undefined : text.slice(0, at).split("\n").length;
}
