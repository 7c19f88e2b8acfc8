import { readdir, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type CliIo, exitCodes, UsageError } from "../../../src/cli/cli-io.ts";
import { oneLine, write } from "../../../src/cli/output.ts";
import { loadQueries } from "../load/load-queries.ts";
import { datasetPattern, noLicence } from "../spec.ts";

const data = /\.(?:nt|nq|ttl|trig|rdf|owl|jsonld)(?:\.gz)?$/i;
const isOntology = (name: string): boolean =>
  /\.owl$/i.test(name) || (/\.(?:ttl|nt|rdf)$/i.test(name) && /ontology/i.test(name));

/** `fedway shards init`: a spec of the data and queries of a folder; never replaces a file. Resolves to the exit code. @throws UsageError */
export async function runShardInit(io: CliIo, folder: string): Promise<number> {
  const spec = join(folder, "spec.json");
  const { files, inputs, ontology } = await dataOf(folder);
  const [queries, ...others] = await queriesOf(folder, files);
  if (queries === undefined) {
    const next = `fedway shards questions ${inputs.map((file) => word(join(folder, file))).join(" ")} --out ${word(join(folder, "queries.json"))}`;
    throw new UsageError(`"${folder}" has no usable queries (.rq, .sparql, JSON or CSV); this makes some: ${next}`);
  }
  const fields = {
    dataset: datasetName(folder),
    inputs,
    ...(ontology && { ontology }),
    queries: queries.path,
    licence: noLicence,
  };
  await writeFile(spec, `${JSON.stringify(fields, undefined, 2)}\n`, { flag: "wx" }).catch((cause: unknown) => {
    throw new UsageError(`"${spec}" is there already or cannot be written; nothing was changed`, { cause });
  });
  const lines = [
    `data: ${inputs.join(", ")}`,
    ...(ontology ? [`ontology: ${ontology}`] : []),
    `queries: ${queries.count} in ${queries.path}${queries.rejected === 0 ? "" : `; ${queries.rejected} cannot be used`}`,
    ...others.map(
      ({ path, count }) => `not used: ${count} queries in ${path}; a spec names one file or folder of them`,
    ),
    `licence: not evaluated; put that of the data into ${spec} before you publish`,
    `next: fedway shards build ${word(spec)}`,
  ];
  await write(io.stdout, lines.map((line) => `${oneLine(line)}\n`).join(""));
  return exitCodes.ok;
}

async function dataOf(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new UsageError(`"${folder}" is no folder that can be read`, { cause });
  });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const found = files.filter((name) => data.test(name)).toSorted();
  if (found.length === 0) throw new UsageError(`"${folder}" has no RDF files, such as data.ttl or data.nt.gz`);
  const [ontology, ...more] = found.filter((name) => isOntology(name));
  const isApart = ontology !== undefined && more.length === 0 && found.length > 1;
  return { files, inputs: isApart ? found.filter((name) => name !== ontology) : found, ontology: isApart && ontology };
}

/** Files and folders with queries that can be used, the most first. */
async function queriesOf(folder: string, files: readonly string[]) {
  const folders = await readdir(folder, { withFileTypes: true });
  const names = folders.flatMap((each) => (each.isDirectory() && !each.name.startsWith(".") ? each.name : []));
  const paths = [...files.filter((name) => /\.(?:jsonl?|csv)$/i.test(name)), ".", ...names];
  const found = await Promise.all(
    paths.map(async (path) => {
      const loaded = await loadQueries(join(folder, path)).catch(() => undefined);
      return loaded === undefined ? [] : { path, count: loaded.questions, rejected: loaded.rejected.length };
    }),
  );
  return found.flat().toSorted((one, other) => other.count - one.count);
}

function datasetName(folder: string): string {
  const words = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-");
  const name = words.replace(/^[^a-z0-9]+/, "").slice(0, 32);
  return datasetPattern.test(name) ? name : "dataset";
}

/** As a shell takes it for one word. */
const word = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);
