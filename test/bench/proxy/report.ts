import { mkdir, writeFile } from "node:fs/promises";

/** One line of the table. `met` is information, never a verdict on the run. */
export interface Measure {
  readonly name: string;
  readonly nginx?: string;
  readonly fedway: string;
  /** The number that the target is about. */
  readonly value: number;
  readonly unit: string;
  readonly target?: string;
  readonly met?: boolean;
}

const columns = ["measure", "nginx", "fedway", "result", "target", ""] as const;

/** Prints the measures as a table. */
export function printTable(measures: readonly Measure[]): void {
  const lines = measures.map(({ name, nginx = "", fedway, value, unit, target = "", met }) => [
    name,
    nginx,
    fedway,
    `${rounded(value)} ${unit}`.trim(),
    target,
    met === undefined ? "" : met ? "met" : "not met",
  ]);
  const rows = [[...columns], ...lines];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
}

/** Writes a report below .artifacts/bench of the repository. @returns the path, relative to the repository */
export const writeReport = (name: string, report: object): Promise<string> =>
  writeArtifact(`${name}.json`, `${JSON.stringify(report, undefined, 2)}\n`);

/** Writes a picture (SVG) beside the reports. @returns the path, relative to the repository */
export const writePicture = (name: string, svg: string): Promise<string> => writeArtifact(`${name}.svg`, svg);

async function writeArtifact(file: string, text: string): Promise<string> {
  const folder = new URL("../../../.artifacts/bench/", import.meta.url);
  await mkdir(folder, { recursive: true });
  await writeFile(new URL(file, folder), text);
  return `.artifacts/bench/${file}`;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

/** Three significant digits below a thousand, whole numbers above. */
export const rounded = (value: number): string =>
  Math.abs(value) >= 1_000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
