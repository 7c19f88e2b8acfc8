import { createReadStream } from "node:fs";
import { readFile, rename, rm, writeFile, copyFile } from "node:fs/promises";
import { join, resolve, dirname } from "node:path";
import { createHash } from "node:crypto";
import { valueFor } from "../../../src/values.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { amountText } from "../../../src/figures.ts";
import { openShardFolder, readReport, type ShardDataset } from "../finished-folder.ts";
import { type Manifest, manifestName, readManifest, type Source } from "../materialise/manifest.ts";
import type { ShardReport } from "../report/shard-report.ts";
import { builtFactsOf, entryIdOf, shardUrl } from "../shard-entry.ts";
import type { BuildProgress } from "../build-problem.ts";
import { type Audit, auditQueries, textsOf } from "../audit/audit-queries.ts";
import { lockTarget } from "../target-lock.ts";
import type { OpenStore, OpenStores } from "../verify/answer-store.ts";
import { systemClock } from "../../../src/clock.ts";
import { copyAnswers } from "../variants/open-copy.ts";
import { catalogueFiles, type PackagedFile } from "./catalogue-files.ts";
import { composeFile } from "./compose-file.ts";
import { exportFiles, type ExportedQuestion } from "./exports.ts";
import type { ShardEndpoint } from "./federated-forms.ts";
import { leftOutOf, type LeftOut, type PackageItem, packageQuery, type QueryOutcome } from "./package-items.ts";
import { isPackage, packageFormat } from "./open-package.ts";
import { describeShard } from "./shard-descriptions.ts";
import type { Stratum } from "./strata.ts";
import { openWholeStore, type WholeStore } from "./whole-store.ts";
import { makeFolder } from "../../../src/make-folder.ts";

/** A query that takes longer, or whose answer is larger, has no gold answer; nearly all the memory that WebAssembly can address. */
export const packageLimits = { timeoutMs: 60_000, memoryMb: 3_584, maxAnswerBytes: 256 * 1024 * 1024 };

/** A package of shards; a JSON value. */
export interface PackagePlan {
  /** Folder of the result. */
  readonly output: string;
  /** Where the endpoints will be: `<baseUrl>/shards/<dataset>/<shard>/sparql`. */
  readonly baseUrl: string;
  /** Where temporary files go: altered copies, one at a time. */
  readonly scratch?: string | undefined;
  /** Time limit of each query. */
  readonly timeoutMs?: number | undefined;
  /** Of the store that answers. */
  readonly memoryMb?: number | undefined;
}

/** A package to make. */
export interface PackageRequest extends PackagePlan {
  /** Fedway's version. */
  readonly version: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BuildProgress) => void;
}

/** A request, and what opens stores for it. */
interface PackageOptions extends PackageRequest {
  readonly openStore: OpenStore;
}

/** `manifest.json` of a package. The same shards, base URL and version of Fedway give the same bytes. */
export interface PackageManifest extends Source {
  readonly format: typeof packageFormat;
  readonly version: 1;
  readonly engine: { readonly name: "fedway"; readonly version: string };
  readonly baseUrl: string;
  /** The files that the shards were made of, and how many different triples they have. */
  readonly data: { readonly files: Manifest["inputs"]; readonly triples: number };
  /**
   * Inputs that the shards depend on; `sha256` is that of their manifest, `specification` that of mode, reading, queries and rules.
   */
  readonly build: Pick<ShardReport, "mode" | "reading" | "precedence" | "rules"> & {
    readonly sha256: string;
    readonly specification: string;
  };
  readonly questions: number;
  readonly queries: number;
  readonly outcomes: Readonly<Partial<Record<QueryOutcome, number>>>;
  /** How many questions have each flag of the audit, and how many have any. */
  readonly flags: Audit["counts"];
  readonly flagged: number;
  /** How many queries each stratum has. */
  readonly strata: Readonly<Partial<Record<Stratum, number>>>;
  readonly leftOut: readonly LeftOut[];
  /** Every file beside the manifest. */
  readonly files: readonly PackagedFile[];
}

/** A finished package. */
export interface PackageResult {
  readonly folder: string;
  readonly manifest: PackageManifest;
}

/**
 * Makes the package of finished shards: one folder, there when it is complete. Queries that have no answer or no federated form are
 * in it, each with the name of its outcome.
 * @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID`, `REQUEST_INVALID` (the output holds something else),
 *   `REQUEST_TOO_LARGE` (the store cannot hold all shards), `SHARDS_BUSY`; the signal's reason
 */
export async function packageShards(
  folder: string,
  request: PackageRequest,
  openStores: OpenStores,
): Promise<PackageResult> {
  const { timeoutMs = packageLimits.timeoutMs, memoryMb = packageLimits.memoryMb } = request;
  const output = resolve(request.output);
  await refuseOther(output);
  const lock = await lockTarget(output, { now: systemClock.now });
  const signal = AbortSignal.any([request.signal, lock.lost]);
  const openStore = openStores({ ...packageLimits, timeoutMs, memoryMb });
  const building = `${output}.building`;
  try {
    await rm(building, { recursive: true, force: true });
    const manifest = await writePackage(resolve(folder), building, { ...request, openStore, signal });
    await putInPlace(building, output);
    return { folder: output, manifest };
  } finally {
    await rm(building, { recursive: true, force: true });
    await lock.release();
  }
}

const mib = 1_048_576;

/** @throws FedwayError `REQUEST_TOO_LARGE`; the need is measured: terms and indexes, and a quarter more for queries */
function refuseTooLarge({ shards, triples }: Manifest, { memoryMb = packageLimits.memoryMb }: PackagePlan): void {
  const lineBytes = shards.reduce((sum, shard) => sum + shard.lineBytes, 0);
  const needMb = Math.ceil(((lineBytes * 1.4 + triples * 160) * 1.25) / mib);
  if (needMb <= memoryMb) return;
  const [need, most] = [needMb, packageLimits.memoryMb].map((each) => each.toLocaleString("en"));
  throw new FedwayError(
    "REQUEST_TOO_LARGE",
    `Gold answers need a store of about ${need} MB with all ${amountText(triples, "triple")}; it may have ${memoryMb.toLocaleString("en")} MB.`,
    {
      next:
        needMb <= packageLimits.memoryMb
          ? `Raise FEDWAY_HOSTED_TOTAL_MB to ${needMb}, or run fedway shards package, which may take ${most} MB.`
          : "Name fewer inputs in the description and build again, or do without gold answers: the files of the shards can be hosted by any SPARQL engine as they are.",
    },
  );
}

/** @throws FedwayError `REQUEST_INVALID` */
async function refuseOther(output: string): Promise<void> {
  const isThere = await readFile(output).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
  if (!isThere || (await isPackage(output))) return;
  throw new FedwayError("REQUEST_INVALID", `There is something else than a package at ${output}.`, {
    next: "Choose another folder with --out.",
  });
}

async function putInPlace(building: string, output: string): Promise<void> {
  const replaced = `${output}.replaced`;
  await rm(replaced, { recursive: true, force: true });
  await rename(output, replaced).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rename(building, output);
  await rm(replaced, { recursive: true, force: true });
}

/** The parts of a package that its files are written from. */
interface Parts {
  readonly dataset: ShardDataset;
  readonly shards: Manifest;
  readonly report: ShardReport;
  readonly endpoints: readonly ShardEndpoint[];
  readonly store: WholeStore;
  readonly options: PackageOptions;
}

async function writePackage(folder: string, target: string, options: PackageOptions): Promise<PackageManifest> {
  const { baseUrl, openStore, scratch, signal } = options;
  const dataset = await openShardFolder(folder);
  const shards = await readManifest(folder);
  refuseTooLarge(shards, options);
  const report = await readReport(folder);
  const urlOf = (id: string): string => shardUrl(baseUrl, dataset.dataset, id);
  const endpoints = shards.shards.map(({ id, key }) => ({ id, key, url: urlOf(id) }));
  options.onProgress({ stage: "loading the dataset", done: 0 });
  const store = await openWholeStore({ folder, manifest: shards, urlOf }, { openStore, scratch, signal });
  try {
    const parts: Parts = { dataset, shards, report, endpoints, store, options };
    const items = await packageItems(parts);
    options.onProgress({ stage: "answering over altered copies", done: 0 });
    const packaged = items.map((item) => item.packaged);
    const copies = await copyAnswers({ folder, manifest: shards, urlOf }, packaged, { openStore, scratch, signal });
    const audit = await auditQueries(items, { store, textOf: textsOf(report.queries) });
    const files = new FolderWriter(target);
    await writeEndpoints(parts, files);
    const texts = { ...queryFiles(parts, items, audit), "audit.json": json(audit), "copies.json": json(copies) };
    for (const [name, text] of Object.entries(texts)) await files.write(name, text);
    for (const name of [manifestName, "report.json", "report.html", "rules.lp"]) await files.copy(folder, name);
    for (const { file } of shards.shards) await files.copy(folder, file);
    const catalogued = Object.entries(catalogueOf(parts, items, files.written));
    for (const [name, text] of catalogued) await files.write(name, text);
    const manifest = manifestOf(parts, { items, audit, files: files.written });
    await writeFile(join(target, manifestName), json(manifest));
    return manifest;
  } finally {
    await store.close();
  }
}

/** Files that others find, cite and host the package by. */
function catalogueOf(
  { dataset, shards, options: { baseUrl } }: Parts,
  items: readonly PackageItem[],
  files: readonly PackagedFile[],
): Readonly<Record<string, string>> {
  const { dataset: id } = dataset;
  const served = shards.shards.map((shard) => ({
    ...shard,
    topic: topicOf(dataset, shard),
    url: shardUrl(baseUrl, id, shard.id),
    datasetIri: datasetIri(baseUrl, entryIdOf(id, shard.id)),
  }));
  return {
    "compose.yaml": composeFile(id, baseUrl, served),
    ...catalogueFiles({
      source: dataset,
      iri: `${baseUrl}/federations/${id}`,
      triples: shards.triples,
      questions: questionCount(items),
      shards: served,
      files,
    }),
  };
}

const topicOf = (
  { title }: ShardDataset,
  { id, topic }: { readonly id: string; readonly topic?: string | undefined },
): string => topic ?? `${title} ${id}`;

const datasetIri = (baseUrl: string, entry: string): string => `${baseUrl}/endpoints/${entry}#dataset`;

const questionCount = (items: readonly PackageItem[]): number =>
  items.reduce((sum, { packaged }) => sum + packaged.questions.length, 0);

async function packageItems({ report, endpoints, store, options }: Parts): Promise<readonly PackageItem[]> {
  const { signal, onProgress } = options;
  const items: PackageItem[] = [];
  for (const query of report.queries) {
    onProgress({ stage: "answering the queries", done: items.length, total: report.queries.length });
    items.push(await packageQuery(query, { report, store, shards: endpoints, signal }));
  }
  return items;
}

/** `endpoints.json`, and the VoID documents of each shard, which may be large. */
async function writeEndpoints(parts: Parts, files: FolderWriter): Promise<void> {
  const { dataset, endpoints, store, options } = parts;
  const { licence, citation, source } = dataset;
  const urls = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.url]));
  const listed: object[] = [];
  for (const shard of dataset.shards) {
    options.onProgress({ stage: "describing the shards", done: listed.length, total: dataset.shards.length });
    const url = valueFor(urls, shard.id);
    const entry = entryIdOf(dataset.dataset, shard.id);
    const topic = topicOf(dataset, shard);
    const { standard, extended } = await describeShard(store, {
      id: entry,
      endpoint: url,
      dataset: datasetIri(options.baseUrl, entry),
      title: topic,
      license: licence,
      citation,
      origin: source,
      built: builtFactsOf(dataset, shard),
    });
    await files.write(`void/${shard.id}.standard.ttl`, standard);
    await files.write(`void/${shard.id}.extended.ttl`, extended);
    listed.push({ id: shard.id, entry, url, topic, triples: shard.triples, sha256: shard.sha256 });
  }
  await files.write("endpoints.json", json(listed));
}

/** The questions and queries, and the exports of those that have all forms. */
function queryFiles(parts: Parts, items: readonly PackageItem[], audit: Audit): Readonly<Record<string, string>> {
  const { dataset, options } = parts;
  const { dataset: id } = dataset;
  const questions = items.flatMap((item) => questionsOf(item, parts));
  const exported = questions.flatMap(({ gold, trivial, answer, ...each }): readonly ExportedQuestion[] =>
    gold === undefined || trivial === undefined || answer === undefined ? [] : [{ ...each, gold, trivial, answer }],
  );
  const flags = new Map(audit.questions.map((each) => [each.id, [...new Set(each.flags.map((flag) => flag.name))]]));
  const federation = `${options.baseUrl}/federations/${id}/sparql`;
  return {
    "README.md": readmeOf(dataset, { baseUrl: options.baseUrl, federation }),
    "questions.jsonl": lines(
      questions.map(({ id: name, question, of }) => ({ id: name, question, query: of, flags: flags.get(name) ?? [] })),
    ),
    "queries.jsonl": lines(items.map(({ packaged }) => packaged)),
    ...exportFiles({ id, iri: `${options.baseUrl}/federations/${id}`, sparql: federation }, exported),
  };
}

/** Each question that asks the query, with what exports say of it. */
function questionsOf(item: PackageItem, { report, endpoints }: Parts) {
  const { packaged, parsed, solutions } = item;
  const { gold, trivial, answer, query, id: of } = packaged;
  const textOf = textsOf(report.queries);
  const urls = endpoints.filter(({ id }) => packaged.endpoints.includes(id)).map(({ url }) => url);
  return packaged.questions.map((id) => {
    const question = textOf(item, id);
    return { id, of, question, form: parsed.form, query, gold, trivial, endpoints: urls, answer, solutions };
  });
}

const lines = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

function countsOf<Name extends string>(names: readonly Name[]): Readonly<Partial<Record<Name, number>>> {
  const counts: Partial<Record<Name, number>> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

interface Written {
  readonly items: readonly PackageItem[];
  readonly audit: Audit;
  readonly files: PackageManifest["files"];
}

function manifestOf(parts: Parts, { items, audit, files }: Written): PackageManifest {
  const { dataset: named, shards, report, options } = parts;
  const { dataset, title, licence, citation, source, creators } = named;
  const { mode, reading, precedence, rules } = report;
  const queries = report.queries.map(({ id, text, same }) => ({ id, text, same }));
  return {
    format: packageFormat,
    version: 1,
    engine: { name: "fedway", version: options.version },
    dataset,
    title,
    licence,
    citation,
    source,
    creators,
    baseUrl: options.baseUrl,
    data: { files: shards.inputs, triples: shards.triples },
    build: {
      mode,
      reading,
      precedence,
      rules,
      sha256: valueFor(new Map(files.map((file) => [file.name, file.sha256])), `build/${manifestName}`),
      specification: sha256(JSON.stringify([mode, reading, precedence, queries, shards.rules])),
    },
    questions: questionCount(items),
    queries: items.length,
    flags: audit.counts,
    flagged: audit.questions.length,
    outcomes: countsOf(items.map(({ packaged }) => packaged.outcome)),
    strata: countsOf(items.flatMap(({ packaged }) => packaged.strata ?? [])),
    leftOut: leftOutOf(report),
    files: files.toSorted((left, right) => (left.name < right.name ? -1 : 1)),
  };
}

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** Writes files below a folder and notes their sizes and checksums. The shards lie in `build/`, which a service hosts as it is. */
class FolderWriter {
  readonly written: PackagedFile[] = [];
  readonly #target: string;

  constructor(target: string) {
    this.#target = target;
  }

  async write(name: string, text: string): Promise<void> {
    await makeFolder(dirname(join(this.#target, name)));
    await writeFile(join(this.#target, name), text);
    this.written.push({ name, bytes: Buffer.byteLength(text), sha256: sha256(text) });
  }

  async copy(folder: string, file: string): Promise<void> {
    const name = `build/${file}`;
    const path = join(this.#target, name);
    await makeFolder(dirname(path));
    await copyFile(join(folder, file), path);
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of createReadStream(path)) {
      if (!Buffer.isBuffer(chunk)) continue;
      hash.update(chunk);
      bytes += chunk.length;
    }
    this.written.push({ name, bytes, sha256: hash.digest("hex") });
  }
}

/** The text that a package begins with, for those who find it without Fedway. */
const readmeOf = (
  { dataset, title, licence, citation, source }: ShardDataset,
  { baseUrl, federation }: { readonly baseUrl: string; readonly federation: string },
): string => `# ${title}

A federated benchmark: questions over ${dataset}, whose triples are spread over several SPARQL endpoints.

Licence: <${licence}>${citation === undefined ? "" : `\nCite as: ${citation}`}${source === undefined ? "" : `\nSource: <${source}>`}

| file | |
| --- | --- |
| \`questions.jsonl\` | \`id\`, \`question\`, and the id of its \`query\`, and the \`flags\` of the audit |
| \`audit.json\` | doubts about gold queries: name, evidence, place in the query. Flagged questions stay; give scores with and without them |
| \`copies.json\` | signatures of the gold answers over altered copies of the data: a query that is right by luck is wrong there |
| \`queries.jsonl\` | original \`query\`, \`gold\` federated query (each pattern at the shards with matches), \`trivial\` federation (each pattern at all shards), gold \`answer\` with signature and ties, \`fanOut\`, \`rules\`, \`outcome\`, \`strata\`, shards without which the answer is another one (\`needed\`) |
| \`endpoints.json\`, \`void/\` | the endpoints: their topics, and VoID with and without extensions |
| \`build/\` | the shards, their rules and their report |
| \`exports/\` | the same for t2s-metrics, text2sparql-client, QALD and SHACL |
| \`compose.yaml\` | serves the endpoints without Fedway |
| \`croissant.json\`, \`dcat.ttl\`, \`CITATION.cff\` | the package in the words of catalogues and citations: Croissant, DCAT with VoID, CFF. What its makers did not state is not there |
| \`manifest.json\` | versions, checksums of all files, and how many queries have which outcome |

The endpoints are expected at <${baseUrl}>:

    FEDWAY_PUBLIC_URL=${baseUrl} fedway shards serve build

or, without Fedway, by one Apache Jena Fuseki a shard behind a proxy, and any engine that sends SERVICE asks the gold queries:

    docker compose up --detach --wait

Another hosting has to keep terms as they are spelled, as gold answers count \`01\` and \`1\` as two. Fuseki in memory (\`--file\`) does. TDB2 stores
values: of 496 triples of a test with such spellings it had 486, and 404 were unchanged. Jena's \`ja:MemoryModel\` keeps the spellings, but \`007\` matches \`7\`.
Compare COUNT(*) of each endpoint with \`triples\` in \`endpoints.json\`.

Whoever asks <${federation}> need not name endpoints. In \`exports/t2s-metrics.*.jsonl\` put the queries of your system into
\`generated\`.

The records of \`croissant.json\` are the questions that have an answer, and the text of each shard. Read the other files as files: mlcroissant 1.1.1
takes an id \`007\` of JSON Lines for 7, and cuts lines of text at commas.

Answers: numbers are equal by value, \`xsd:string\` is a plain literal, rows of one class of \`ties\` may change places, and of the
last one any \`take\` of its rows and \`others\` are right, and so is each of \`alternatives\`. The signature is the SHA-256 of the set of rows, columns in the order that makes it smallest.
`;
