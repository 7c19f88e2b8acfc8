import { cpus } from "node:os";
import { rounded, writePicture, writeReport } from "../proxy/report.ts";
import { chart } from "./chart.ts";
import type { Measured } from "./compare.ts";

/** Prints results: a row a query, and for each peer its requests and time. */
export function printComparison(results: readonly Measured[]): void {
  const groups = Map.groupBy(results, ({ members, latencyMs }) => `${members} members, ${latencyMs} ms latency`);
  for (const [title, group] of groups) {
    const peers = [...new Set(group.map(({ peer }) => peer))];
    const rows = [["", ...peers]];
    for (const [query, each] of Map.groupBy(group, (one) => one.query)) {
      rows.push([query, ...peers.map((peer) => cellOf(each.find((one) => one.peer === peer)))]);
    }
    printRows(
      `\n${title}: requests (first time) + all that verified facts, members asked, ms, kB sent + received`,
      rows,
    );
  }
}

/** Says on standard error what has just been measured. */
export function progress({ query, peer, members, latencyMs, outcome, requests, ms, detail = "" }: Measured): void {
  process.stderr.write(
    `bench: ${query}, ${peer}, ${members} members, ${latencyMs} ms: ${outcome}, ${requests} requests, ${rounded(ms)} ms ${detail.slice(0, 200)}\n`,
  );
}

function cellOf(measured: Measured | undefined): string {
  if (!measured) return "";
  const { outcome, requests, firstRequests, verifications, membersAsked, ms, sentBytes, answerBytes } = measured;
  if (outcome === "timeout") return `time-out, ${requests}`;
  const traffic = `${requests} (${firstRequests})${verifications > 0 ? ` + ${verifications}` : ""} at ${membersAsked}, ${rounded(ms)} ms, ${rounded(sentBytes / 1e3)} + ${rounded(answerBytes / 1e3)} kB`;
  return outcome === "right" ? traffic : `${outcome.toUpperCase()} ${traffic}`;
}

function printRows(title: string, rows: readonly (readonly string[])[]): void {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  process.stdout.write(`${[title, ...lines].join("\n")}\n`);
}

/** Writes results as JSON, and as a picture beside it. */
export async function writeComparison(name: string, results: readonly Measured[], more: object): Promise<void> {
  const machine = { node: process.version, processors: cpus().length, model: cpus()[0]?.model ?? "unknown" };
  const path = await writeReport(name, { machine, ...more, results });
  const picture = await writePicture(name, chart(name, results));
  process.stdout.write(`\nwritten to ${path} and ${picture}\n`);
}
