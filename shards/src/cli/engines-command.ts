import { type CliIo, exitCodes } from "../../../src/cli/cli-io.ts";
import { checkOutputFile, oneLine, write, writeJson, writeOutputFile } from "../../../src/cli/output.ts";
import { withProgress } from "../../../src/cli/progress.ts";
import {
  startCountingProxy,
  type Traffic,
  type EngineForm,
  type EngineRecord,
  isEngineRecord,
  type MeasuredEngine,
  measureEngines,
} from "../evaluate/engines/measure-engines.ts";
import { engineFaults, engineFigures, enginePage, engineRows } from "../evaluate/engines/engine-table.ts";
import { openLines } from "../evaluate/run/run-folder.ts";
import { isCount, isListOf, isShape } from "../guards.ts";
import { type BenchmarkPackage, openPackage, packageChecksum } from "../package/open-package.ts";
import { withPackageService } from "./evaluated-service.ts";
import { columns } from "./score-commands.ts";

/** An engine, and where it takes queries. */
export interface NamedUrl {
  readonly name: string;
  readonly url: string;
}

/** Options of `fedway evaluate engines`. */
export interface EnginesOptions {
  readonly engine: readonly NamedUrl[];
  readonly plain: readonly NamedUrl[];
  readonly forms: readonly EngineForm[];
  readonly questions?: number;
  readonly timeout: number;
  /** Of the proxy. */
  readonly port: number;
  readonly out?: string;
  readonly html?: string;
  readonly json?: boolean;
}

/** `fedway evaluate engines`: also shows its measurements when it is interrupted. Resolves to the exit code. @throws UsageError, FedwayError */
export async function runEngines(io: CliIo, folder: string, options: EnginesOptions): Promise<number> {
  const { html, json = false } = options;
  if (html !== undefined) await checkOutputFile(html, "--html");
  const benchmark = await openPackage(folder);
  const records = await measuredBy(io, { benchmark, options });
  const figures = engineFigures(records, benchmark);
  if (html !== undefined) await writeOutputFile(html, Buffer.from(enginePage(records, benchmark)));
  const faults = engineFaults(records).map((fault) => `- ${oneLine(fault)}\n`);
  const text = [columns(engineRows(figures)), ...(faults.length > 0 ? ["wrong and failed:\n", ...faults] : [])];
  const { dataset } = benchmark.manifest;
  await (json ? writeJson(io, { dataset, figures, records }) : write(io.stdout, text.join("")));
  return io.interrupted.aborted ? exitCodes.interrupted : exitCodes.ok;
}

async function measuredBy(io: CliIo, { benchmark, options }: Measured): Promise<readonly EngineRecord[]> {
  const { out, forms, questions, timeout: timeoutMs } = options;
  const { fetch, interrupted: signal } = io;
  const kept = out === undefined ? undefined : await openOutput(io, benchmark, out);
  const known = kept?.records ?? [];
  const records: EngineRecord[] = [...known];
  const onRecord = async (record: EngineRecord): Promise<void> => {
    records.push(record);
    await kept?.add(record);
  };
  try {
    const queries = spread([...benchmark.queries.values()], questions);
    const measuring = { queries, forms, known, timeoutMs, signal, fetch, onRecord };
    await withProgress(io.stderr, (show) =>
      withEngines(io, { benchmark, options }, (engines) =>
        measureEngines({
          ...measuring,
          engines,
          onProgress: (done, total) => show({ stage: "asking engines", done, total }),
        }),
      ),
    );
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await kept?.close();
  }
  return records;
}

async function openOutput(io: CliIo, benchmark: BenchmarkPackage, out: string) {
  const { manifest } = benchmark;
  const sha256 = await packageChecksum(benchmark);
  const run = {
    package: { dataset: manifest.dataset, sha256 },
    setup: { name: "engines" },
    model: "none",
    limits: {},
    versions: { fedway: io.version, node: process.version, package: manifest.engine.version },
  };
  return openLines(out, run, isEngineRecord);
}

/** This number of them, at equal distances. */
function spread<Item>(all: readonly Item[], most = all.length): readonly Item[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, at) => all[Math.floor((at * all.length) / most)]).filter(
    (item) => item !== undefined,
  );
}

interface Measured {
  readonly benchmark: BenchmarkPackage;
  readonly options: EnginesOptions;
}

/** Fedway hosts the shards in this process; for the others they are behind a proxy that counts. */
async function withEngines(
  io: CliIo,
  { benchmark, options }: Measured,
  use: (engines: readonly MeasuredEngine[]) => Promise<void>,
): Promise<void> {
  const limit = String(options.timeout);
  const settings = { FEDWAY_HARVEST_ROWS: "0", FEDWAY_TIMEOUT_MS: limit, FEDWAY_HOSTED_TIMEOUT_MS: limit };
  await withPackageService(io, { benchmark, settings }, async (url) => {
    const proxy = await startCountingProxy(url, options.port);
    try {
      await use(enginesOf(io, { url, proxy, benchmark, options }));
    } finally {
      await proxy.close();
    }
  });
}

interface Hosted extends Measured {
  /** Of the service. */
  readonly url: string;
  readonly proxy: Awaited<ReturnType<typeof startCountingProxy>>;
}

function enginesOf({ fetch: ask }: CliIo, { url, proxy, benchmark, options }: Hosted): readonly MeasuredEngine[] {
  const { baseUrl, dataset } = benchmark.manifest;
  const sparql = `${url}/sparql`;
  const fedway: MeasuredEngine = {
    name: "fedway",
    urls: { gold: sparql, trivial: sparql, plain: `${url}/federations/${dataset}/sparql` },
    textOf: (query) => query,
    async traffic(answer) {
      const run = answer?.headers.get("Fedway-Run");
      if (run == null) return undefined;
      return trafficIn(await (await ask(`${url}/api/runs/${run}`)).json());
    },
  };
  const names = new Set([...options.engine, ...options.plain].map(({ name }) => name));
  const others = [...names].map((name): MeasuredEngine => {
    const service = options.engine.find((each) => each.name === name)?.url;
    const plain = options.plain.find((each) => each.name === name)?.url;
    return {
      name,
      urls: { ...(service && { gold: service, trivial: service }), ...(plain && { plain }) },
      textOf: (query) => query.replaceAll(`<${baseUrl}/shards/`, `<${proxy.url}/shards/`),
      async traffic() {
        const counted = proxy.take();
        // It has asked elsewhere, or nothing.
        return counted.requests === 0 ? undefined : counted;
      },
    };
  });
  return [fedway, ...others];
}

const hasSources = isShape({ sources: isListOf(isShape({ requests: isCount, bytes: isCount })) });

function trafficIn(record: unknown): Traffic | undefined {
  if (!hasSources(record)) return undefined;
  const sum = (of: "requests" | "bytes"): number => record.sources.reduce((all, source) => all + source[of], 0);
  return { requests: sum("requests"), bytes: sum("bytes") };
}
