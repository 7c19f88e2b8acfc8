import type { DescribedOnce } from "../registry/compute/describe-once.ts";
import type { CatalogFinding, CatalogReport } from "../registry/catalog/check-catalog.ts";
import { type CliIo, exitCodes, UsageError } from "./cli-io.ts";
import { oneLine, pour, write, checkOutputFile, writeOutputFile } from "./output.ts";

/** Formats of `fedway describe`; "json" is the description as a value, the others are RDF views of it. */
export const descriptionFormats = ["turtle", "ntriples", "jsonld", "json"] as const;

/** How a description is written down. */
export interface DescriptionStyle {
  readonly format: (typeof descriptionFormats)[number];
  /** "agent": everything, with how it is known; "planner": only what planners may rely on. */
  readonly view: "agent" | "planner";
  readonly variant: "standard" | "extended";
  /** Text for people and language models instead of a format. */
  readonly summary: boolean;
}

/** Options of `fedway describe`. */
interface DescribeCommandOptions extends Partial<DescriptionStyle> {
  readonly maxRequests?: number;
  readonly timeout?: number;
  readonly retrieve?: boolean;
  readonly partial?: boolean;
  readonly output?: string;
}

/**
 * `fedway describe`: the description of one endpoint to standard output or into a file. One that is unfinished is
 * written too and is a failure, unless `--partial` was given. Resolves to the exit code.
 * @throws UsageError, FedwayError
 */
export async function runDescribe(io: CliIo, target: string, options: DescribeCommandOptions): Promise<number> {
  const style = styleOf(options);
  const { output } = options;
  if (output !== undefined) await checkOutputFile(output);
  const described = await describeWithProgress(io, target, options);
  const { descriptionText } = await import("./description-text.ts");
  const body = descriptionText(described.description, style);
  if (output === undefined) await pour(body, io.stdout);
  else await writeOutputFile(output, body);
  for (const note of notesOn(described)) await write(io.stderr, `${oneLine(note)}\n`);
  if (URL.parse(target) === null) {
    await write(
      io.stderr,
      `note: it is not kept; POST /api/endpoints/${oneLine(target)}/describe has a service describe it and keep that\n`,
    );
  }
  if (described.interrupted) return exitCodes.interrupted;
  return described.description.unfinished && options.partial !== true ? exitCodes.failed : exitCodes.ok;
}

/** What is not said takes its default; what would be without effect is refused. */
function styleOf({ format, view, variant, summary = false }: DescribeCommandOptions): DescriptionStyle {
  if (summary && (format ?? view ?? variant) !== undefined) {
    throw new UsageError("--summary is text of its own; leave out --format, --view and --variant");
  }
  if (format === "json" && (view ?? variant) !== undefined) {
    throw new UsageError("--view and --variant are about RDF; leave them out with --format json");
  }
  return { format: format ?? "turtle", view: view ?? "agent", variant: variant ?? "standard", summary };
}

async function describeWithProgress(
  io: CliIo,
  target: string,
  { maxRequests, timeout, retrieve }: DescribeCommandOptions,
): Promise<DescribedOnce> {
  // The other commands start without it.
  const { createProgressDisplay } = await import("./progress.ts");
  const display = createProgressDisplay(io.stderr);
  try {
    return await io.describe(target, {
      signal: io.interrupted,
      budget: {
        ...(maxRequests !== undefined && { requests: maxRequests }),
        ...(timeout !== undefined && { ms: timeout }),
      },
      retrieve: retrieve ?? true,
      onProgress: (progress) => display.show(progress),
    });
  } finally {
    display.end();
  }
}

function notesOn({ description, retrieved, interrupted }: DescribedOnce): readonly string[] {
  const { classPartitions, propertyPartitions, cost, unfinished, unknown, retrievedFrom } = description;
  const notes: string[] = [];
  if (retrievedFrom !== undefined) notes.push(`note: uses the publisher's description at ${retrievedFrom}`);
  for (const { from, reason } of retrieved?.quarantined ?? []) notes.push(`note: ${from} was set aside: ${reason}`);
  for (const { from, reason } of retrieved?.contradicted ?? []) notes.push(`note: ${from} was not used: ${reason}`);
  const seconds = (cost.ms / 1000).toFixed(1);
  notes.push(
    `${classPartitions.length} classes and ${propertyPartitions.length} properties found with ${cost.requests} requests in ${seconds} s`,
  );
  if (interrupted) notes.push("Interrupted: the description is unfinished.");
  else if (unfinished) notes.push("The description is unfinished: a larger --max-requests or --timeout may find more.");
  if (unknown.length > 0) notes.push(`Not found out: ${unknown.length} facts, listed with --format json`);
  return notes;
}

/** `fedway catalog check`: what is wrong with catalogue files, a line each. Resolves to the exit code. */
export async function runCatalogCheck(
  io: CliIo,
  folders: readonly string[],
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const report = await io.checkCatalog(folders);
  await write(io.stdout, json ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report));
  return report.conforms ? exitCodes.ok : exitCodes.failed;
}

const findingText = ({ file, line, severity, path, reason }: CatalogFinding): string => {
  const place = line === undefined ? file : `${file}:${line}`;
  const about = path === undefined || reason.includes(path) ? "" : `${path}: `;
  return oneLine(`${place}: ${severityNames[severity]}: ${about}${reason}`);
};

/** As compilers say it, so that editors find the places. */
const severityNames = { violation: "error", warning: "warning", info: "info" } as const;

function reportText({ findings, files, endpoints, federations }: CatalogReport): string {
  const count = (severity: CatalogFinding["severity"]): number =>
    findings.filter((finding) => finding.severity === severity).length;
  const found = `${count("violation")} errors, ${count("warning")} warnings, ${count("info")} hints`;
  const summary = `${files} files: ${endpoints} endpoints, ${federations} federations; ${found}`;
  return `${[...findings.map(findingText), summary].join("\n")}\n`;
}

/** `fedway catalog refresh`: takes in published facts, for the next start. Resolves to the exit code. @throws FedwayError */
export async function runCatalogRefresh(io: CliIo, file: string): Promise<number> {
  const { folder, written, unchanged } = await io.refreshCatalog(file);
  const what = written.length === 0 ? "nothing has changed" : `${written.length} changed (${written.join(", ")})`;
  await write(io.stdout, `${oneLine(`${folder}: ${what}, ${unchanged} unchanged`)}\n`);
  return exitCodes.ok;
}

/** `fedway backup`: copies the state into a new file. Resolves to the exit code. @throws UsageError, FedwayError */
export async function runBackup(io: CliIo, file: string): Promise<number> {
  if (file === "") throw new UsageError("the name of the new file is empty");
  const { bytes } = await io.backup(file);
  await write(io.stderr, `${oneLine(file)}: ${bytes} bytes\n`);
  return exitCodes.ok;
}
