import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Asked } from "./answer-reports.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Where the reports are. */
const reportsFolder = join(root, "deploy/comunica/upstream");

/** A report of a fault of Comunica's. */
export interface FaultReport {
  readonly name: string;
  readonly query: string;
  readonly data: string;
  readonly expected: string;
  /** What Comunica answers; an error's beginning. */
  readonly got: string;
  /** Undefined where the mending is no small patch. */
  readonly patch: string | undefined;
}

export function faultReports(): readonly FaultReport[] {
  const files = readdirSync(reportsFolder).filter((file) => file.endsWith(".md") && file !== "README.md");
  return files.map((file) => {
    const text = readFileSync(join(reportsFolder, file), "utf8");
    const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gmsu)].map(([, kind, body = ""]) => ({ kind, body }));
    const of = (kind: string) => blocks.filter((block) => block.kind === kind).map(({ body }) => body);
    const [expected, got] = of("text").map((body) => body.trimEnd());
    const [query] = of("sparql");
    if (query === undefined || expected === undefined || got === undefined) throw new Error(`${file} lacks a block`);
    return { name: file.slice(0, -3), query, data: of("turtle").join(""), expected, got, patch: of("diff")[0] };
  });
}

/** Comunica's answers to the reports' queries, with the patches in a scratch folder or without any. */
export async function answersTo(reports: readonly FaultReport[], scratch?: string): Promise<readonly string[]> {
  const changed = scratch === undefined ? {} : patchedFiles(reports, scratch);
  const child = fork(join(import.meta.dirname, "answer-reports.ts"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const asked: Asked = { queries: reports.map(({ query, data }) => ({ query, data })), changed };
  child.send(asked);
  const [answers] = (await Promise.race([once(child, "message"), ended(child)])) as [string[]];
  return answers;
}

async function ended(child: ReturnType<typeof fork>): Promise<never> {
  const [code] = await once(child, "exit");
  throw new Error(`The process that asks Comunica ended with ${code}`);
}

/** Copies of the files that the patches change, with all of them applied. */
function patchedFiles(reports: readonly FaultReport[], scratch: string): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const { patch } of reports) {
    if (patch === undefined) continue;
    for (const [, path = ""] of patch.matchAll(/^--- a\/(\S+)$/gmu)) {
      const copy = join(scratch, path);
      mkdirSync(dirname(copy), { recursive: true });
      if (!existsSync(copy)) copyFileSync(join(root, path), copy);
      changed[join(root, path)] = copy;
    }
    execFileSync("git", ["apply", "-"], { cwd: scratch, input: patch });
  }
  return changed;
}
