import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startProgram } from "./built-program.ts";

/** Shell commands of a Markdown page, with the files that the page has its reader write before. */
export interface MarkdownStep {
  /** The heading, or the bold lead, above it. */
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly commands: string;
  /** The block below: the expected output; undefined where the page shows none. */
  readonly shown: string | undefined;
}

/** A heading or bold lead; the line above a block; the block's language and text. */
const parts = /^(?:#+ (?<heading>.*)|\*\*(?<lead>\d[^*]*)\*\*.*)$|^```(?<language>[^\n]*)\n(?<text>[^]*?)^```$/gm;
const fileName = /`([\w.-]+\.\w+)`[^\n]*:\n\n$/;

/**
 * The steps of a page: `sh` blocks run, `sh skip` do not; a block below a line that begins with a file's name in backticks and
 * ends with a colon is that file; another block right after an `sh` block is its expected output.
 */
export function stepsOf(page: string): readonly MarkdownStep[] {
  const steps: MarkdownStep[] = [];
  let [title, files, openAt] = ["", {} as Record<string, string>, 0];
  for (const { groups = {}, index, 0: whole } of page.matchAll(parts)) {
    const { heading, lead, language, text = "" } = groups;
    if (language === undefined) {
      title = heading ?? lead ?? title;
      continue;
    }
    const before = page.slice(0, index);
    const name = fileName.exec(before.slice(before.lastIndexOf("\n\n", before.length - 3) + 2))?.[1];
    const last = steps.at(-1);
    if (language === "sh") {
      steps.push({ title, files, commands: text, shown: undefined });
      files = {};
      openAt = index + whole.length;
    } else if (name !== undefined) files[name] = text;
    else if (last !== undefined && page.slice(openAt, index).trim() === "") {
      steps[steps.length - 1] = { ...last, shown: text };
    }
  }
  return steps;
}

/** Somebody who follows a page. */
export interface Reader {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Replaces the URLs and folders that pages name by those of the reader's service. */
  readonly here: (text: string) => string;
}

/** Standard output of a step's commands, run by a reader. @throws Error when a command fails */
export async function outputOf(step: MarkdownStep, { folder, env, here }: Reader): Promise<string> {
  await Promise.all(Object.entries(step.files).map(([name, text]) => writeFile(join(folder, name), here(text))));
  const shell = startProgram(["/bin/bash", "--norc", "-euo", "pipefail", "-c", here(step.commands)], env, folder);
  const status = await shell.ended;
  if (status !== 0)
    throw new Error(`"${step.title}" ended with ${status}:\n${shell.output.stdout}${shell.output.stderr}`);
  return shell.output.stdout;
}

/** Output as a page shows it: lines in order; three dots stand for any text, alone on a line for any lines. */
export const linesAs = (shown: string): RegExp =>
  new RegExp(
    shown
      .trim()
      .split("\n")
      .map((line) => (line.trim() === "..." ? "[^]*" : RegExp.escape(line).replaceAll(String.raw`\.\.\.`, ".*")))
      .join(String.raw`\r?\n`),
  );
