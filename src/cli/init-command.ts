import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../make-folder.ts";
import type { Command } from "commander";
import { type CliIo, examples, exitCodes, type Running, UsageError } from "./cli-io.ts";
import { oneLine, write } from "./output.ts";

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
# Address ranges that may be asked although they are private:
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
