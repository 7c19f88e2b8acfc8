import type { Command } from "commander";
import type { CatalogFinding, CatalogReport } from "../registry/catalog/check-catalog.ts";
import { type CliIo, examples, exitCodes, type Running, serviceCommand, UsageError } from "./cli-io.ts";
import { readAnswer } from "./noun.ts";
import { checkOutputFile, oneLine, pour, write, writeOutputFile } from "./output.ts";
import { withService } from "./service.ts";

/** Adds `catalog check` and `catalog refresh`. */
export function addCatalog(program: Command, running: Running): void {
  const catalog = program.command("catalog").description("work on the files of the catalogue");
  catalog
    .command("check")
    .description("check catalogue files: syntax, shapes, addresses, duplicates, members")
    .argument("[folder...]", "folders of Turtle files (FEDWAY_CATALOG)")
    .option("--json", "the report as JSON")
    .addHelpText("after", () => examples("catalog check", "catalog check ./catalog ./catalog/examples --json"))
    .action(running(runCatalogCheck));
  catalog
    .command("refresh")
    .description("take published facts about public endpoints from a collection into the catalogue")
    .argument("<file>", "JSON with the facts of all endpoints; catalog/README.md describes it")
    .addHelpText("after", () => examples("catalog refresh facts.json"))
    .action(running(runCatalogRefresh));
}

/** Adds `backup`. */
export function addBackup(program: Command, running: Running): void {
  program
    .command("backup")
    .description("copy the state of the service into a new file, also while the service runs")
    .argument("<file>", "the new file; a file that exists is never replaced")
    .addHelpText("after", () => examples("backup fedway-monday.db", "backup /backups/$(date +%F).db"))
    .action(running(runBackup));
}

/** Adds `export`. */
export function addExport(program: Command, running: Running): void {
  const about = "publish a snapshot: state, uptime, incidents and score of all endpoints, as JSON";
  serviceCommand(program, "export", { about, help: ["export --output status.json", "export --reviewed"] })
    .option("-o, --output <file>", "write to this file, replacing it at the end")
    .option("--reviewed", "publish although it has lost much since the last snapshot: somebody looked at it")
    .action(running(runExport));
}

/** `fedway catalog check`: faults of catalogue files, a line each. Resolves to the exit code. */
async function runCatalogCheck(
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
async function runCatalogRefresh(io: CliIo, file: string): Promise<number> {
  const { folder, written, unchanged } = await io.refreshCatalog(file);
  const what = written.length === 0 ? "nothing has changed" : `${written.length} changed (${written.join(", ")})`;
  await write(io.stdout, `${oneLine(`${folder}: ${what}, ${unchanged} unchanged`)}\n`);
  return exitCodes.ok;
}

/** `fedway backup`: copies the state into a new file. Resolves to the exit code. @throws UsageError, FedwayError */
async function runBackup(io: CliIo, file: string): Promise<number> {
  if (file === "") throw new UsageError("the name of the new file is empty");
  const { bytes } = await io.backup(file);
  await write(io.stderr, `${oneLine(file)}: ${bytes} bytes\n`);
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
async function runExport(io: CliIo, { output, url, reviewed = false }: ExportOptions): Promise<number> {
  if (output === "") throw new UsageError("the name of the file is empty");
  if (output !== undefined) await checkOutputFile(output);
  const path = `/api/snapshot${reviewed ? "?reviewed=true" : ""}`;
  const snapshot = await withService(io, { url }, async (service) =>
    readAnswer(io, await service.ask(path, { method: "POST" })),
  );
  const body = Buffer.from(`${JSON.stringify(snapshot, undefined, 2)}\n`);
  if (output === undefined) {
    await pour(body, io.stdout);
  } else {
    await writeOutputFile(output, body);
    await write(io.stderr, `${oneLine(output)}: ${body.byteLength} bytes\n`);
  }
  return exitCodes.ok;
}
