import type { Asker } from "../../outbound/whole-answer.ts";
import { type Clock, systemClock } from "../../clock.ts";
import type { JobContext } from "../../jobs/job-queue.ts";
import type { AskedEndpoint, CatalogEntry } from "../catalog/catalog.ts";
import type { Capabilities, ProbedConstruct, ProbeOutcome } from "./capabilities.ts";
import type { RequestMethod } from "../../outbound/sparql-request.ts";
import { RequestLog } from "../descriptions/request-log.ts";
import {
  bindTable,
  canary,
  constructProbes,
  emptyTable,
  formatProbes,
  plainCanary,
  prefixesIn,
  prefixProbe,
  type Probe,
  rowCapQuery,
  rowsOfProduct,
  type Table,
  urlProbe,
  valuesProbe,
  valuesTable,
} from "./probes.ts";
import { outcomeOf } from "./judges.ts";
import { sampleOf, sampleProbes, textProbes, type TextSearch } from "./text-search.ts";
import type { RdfDocument } from "../../outbound/documents.ts";
import { toFedwayError } from "../../errors/fedway-error.ts";

/** Options of a probing run; `clock` is the asker's own. */
interface ProbeOptions {
  readonly asker: Asker;
  readonly clock?: Clock;
  readonly signal: AbortSignal;
  /** Called before each part of the run. */
  readonly progress?: JobContext["progress"];
  /** Milliseconds between an answer and the next question; default 250. */
  readonly pauseMs?: number;
  /** HTTP requests of one run; default 80. */
  readonly requests?: number;
}

const limits = { timeoutMs: 20_000, maxRows: 1_000, maxBytes: 16 * 1024 * 1024 };
const runMs = 300_000;

/**
 * Finds out what an endpoint can do: asks questions that touch no data and whose right answers are known, one at a time. An
 * endpoint that does not answer is a result, too. @throws FedwayError `CANCELLED`
 */
export async function probeCapabilities(endpoint: AskedEndpoint, options: ProbeOptions): Promise<Capabilities> {
  const { asker, clock = systemClock, signal, pauseMs = 250, requests = 80 } = options;
  const probedAt = new Date(clock.now()).toISOString();
  const budget = { requests, ms: runMs };
  const pause = { ms: pauseMs, clock };
  const run = new Run(new RequestLog({ asker, clock, endpoint, signal, level: 1, limits, budget, pause }), endpoint);
  const unfinished = !(await run.finish(options.progress)) || undefined;
  const constructs = Object.fromEntries(run.findings.constructs);
  return { endpoint: endpoint.url, probedAt, ...run.findings, constructs, unfinished };
}

/** Findings so far. */
interface Findings {
  reachable: boolean;
  readonly constructs: Map<ProbedConstruct, ProbeOutcome>;
  readonly methods: RequestMethod[];
  readonly formats: string[];
  rowCap?: number | undefined;
  rowCapSilent?: boolean;
  wholeRows?: number;
  maxValuesRows?: number | undefined;
  maxUrlBytes?: number | undefined;
  textSearch?: TextSearch;
  predefinedPrefixes?: Readonly<Record<string, string>>;
}

const methodOrder: readonly RequestMethod[] = ["post-form", "post-direct", "get"];
/** Probes that need a table of known rows. */
const withTables: ReadonlySet<string> = new Set(["result formats", "row cap", "VALUES rows", "URL length"]);
/** A row takes the fewest bytes. */
const lineFormats = ["text/tab-separated-values", "text/csv"];
const blockSizes = [10, 100, 1_000, 10_000];
/** The transport sends no longer URLs. */
const urlSizes = [2_048, 8_192];

/** How a question departs from the usual. */
interface Asking {
  readonly method?: RequestMethod;
  readonly accept?: string;
  readonly maxRows?: number;
}

/** Ends a run early; findings until then count. */
class StopProbing extends Error {}

/** One run at one endpoint. */
class Run {
  readonly #log: RequestLog;
  readonly #endpoint: AskedEndpoint;
  #table: Table = valuesTable;
  readonly findings: Findings = { reachable: false, constructs: new Map(), methods: [], formats: [] };

  constructor(log: RequestLog, endpoint: AskedEndpoint) {
    this.#log = log;
    this.#endpoint = endpoint;
  }

  /** False when the run ended early. */
  async finish(progress: ProbeOptions["progress"]): Promise<boolean> {
    const parts = this.#parts();
    try {
      for (const [done, [stage, run]] of parts.entries()) {
        if (this.#isPlain && withTables.has(stage)) continue;
        progress?.({ stage, done, total: parts.length });
        if ((await run()) === "unreachable") return true;
      }
      return true;
    } catch (thrown) {
      if (thrown instanceof StopProbing) return false;
      throw thrown;
    }
  }

  #parts(): readonly (readonly [stage: string, run: () => Promise<"unreachable" | undefined>])[] {
    return [
      ["the canary", () => this.#reach()],
      ["request methods", () => this.#methods()],
      ...constructProbes.map(({ construct, ...probe }) => {
        return [`construct ${construct}`, () => this.#construct(construct, probe)] as const;
      }),
      ["result formats", () => this.#formats()],
      ["row cap", () => this.#rowCap()],
      ["VALUES rows", () => this.#valuesRows()],
      ["URL length", () => this.#urlLength()],
      ["text search", () => this.#textSearch()],
      ["predefined prefixes", () => this.#prefixes()],
    ];
  }

  /** @throws StopProbing when the budget is spent */
  async #ask({ query, kind }: Probe, { method = this.findings.methods[0], ...asking }: Asking = {}) {
    const { accept } = asking;
    const formats = accept === undefined ? undefined : [accept];
    const endpoint = { ...this.#endpoint, method: method ?? this.#endpoint.method, formats };
    const attempt = await this.#log.ask(query(this.#table), { endpoint, kind, ...asking });
    if (attempt === undefined) throw new StopProbing("The budget of the run is spent.");
    return attempt;
  }

  /** Asks and judges. */
  async #try(probe: Probe, asking?: Asking): Promise<ProbeOutcome> {
    return outcomeOf(await this.#ask(probe, asking), probe.judge);
  }

  /** The same; a wrong answer counts only when the endpoint still answers afterwards. @throws StopProbing */
  async #confirmed(probe: Probe, asking?: Asking): Promise<ProbeOutcome> {
    const outcome = await this.#try(probe, asking);
    if (outcome.verdict !== "right") await this.#stillThere();
    return outcome;
  }

  /** It knows no inline data, and what takes some can only be seen to be refused. */
  get #isPlain(): boolean {
    return this.#table === emptyTable;
  }

  get #canary(): Probe {
    return this.#isPlain ? plainCanary : canary;
  }

  async #stillThere(): Promise<void> {
    const { verdict } = await this.#try(this.#canary);
    if (verdict !== "right") throw new StopProbing("The endpoint stopped answering.");
  }

  /** With VALUES, else without: an endpoint that lacks them is there all the same. */
  async #reach(): Promise<"unreachable" | undefined> {
    const outcome = await this.#try(canary);
    this.findings.constructs.set("values", outcome);
    if (outcome.verdict === "right") {
      this.findings.reachable = true;
      return undefined;
    }
    if (outcome.verdict !== "failed") {
      this.#table = bindTable;
      this.findings.reachable = (await this.#try(canary)).verdict === "right" || (await this.#reachPlain());
    }
    if (this.findings.reachable) return undefined;
    // A refusal of everything says nothing about VALUES.
    this.findings.constructs.set("values", { ...outcome, verdict: "failed" });
    return "unreachable";
  }

  /** The refusal may have been one of the method, too. */
  async #reachPlain(): Promise<boolean> {
    this.#table = emptyTable;
    for (const method of methodOrder) {
      if ((await this.#try(plainCanary, { method })).verdict === "right") return true;
    }
    return false;
  }

  async #methods(): Promise<undefined> {
    const working: RequestMethod[] = [];
    for (const method of methodOrder) {
      if ((await this.#try(this.#canary, { method })).verdict === "right") working.push(method);
    }
    this.findings.methods.push(...working);
  }

  async #construct(construct: ProbedConstruct, probe: Probe): Promise<undefined> {
    const outcome = await this.#confirmed(probe);
    if (!this.#isPlain || outcome.verdict === "refused") this.findings.constructs.set(construct, outcome);
  }

  async #formats(): Promise<undefined> {
    for (const probe of formatProbes) {
      const { mediaType } = probe;
      const judge: Probe["judge"] = (answer) =>
        answer.mediaType === mediaType ? probe.judge(answer) : `${answer.mediaType} came`;
      if ((await this.#confirmed({ ...probe, judge }, { accept: mediaType })).verdict === "right") {
        this.findings.formats.push(mediaType);
      }
    }
  }

  /** An endpoint that cuts answers cuts them at the same place again; one that ran out of time does not. */
  async #rowCap(): Promise<undefined> {
    const first = await this.#productRows();
    if (first === undefined) await this.#stillThere();
    else if (first.rows === rowsOfProduct) this.findings.wholeRows = rowsOfProduct;
    else if ((await this.#productRows())?.rows === first.rows) {
      this.findings.rowCap = first.rows;
      this.findings.rowCapSilent = first.silent;
    }
    return undefined;
  }

  /** Rows of the large product, and whether nothing said that some are missing; undefined when they tell nothing. */
  async #productRows(): Promise<{ readonly rows: number; readonly silent: boolean } | undefined> {
    const accept = lineFormats.find((format) => this.findings.formats.includes(format));
    const query = rowCapQuery(accept === undefined ? "?none" : "?d4");
    const probe: Probe = { kind: "bindings", query, judge: () => undefined };
    const { value: answer } = await this.#ask(probe, { maxRows: rowsOfProduct, ...(accept && { accept }) });
    if (answer === undefined || answer.rows.length === 0) return undefined;
    const how = answer.partial?.how;
    if (how !== undefined && how !== "virtuoso-maxrows" && how !== "row-cap") return undefined;
    return { rows: answer.rows.length, silent: how === undefined };
  }

  async #valuesRows(): Promise<undefined> {
    const method = this.findings.methods.find((one) => one !== "get");
    if (method === undefined || this.#table !== valuesTable) return;
    for (const count of blockSizes) {
      if ((await this.#confirmed(valuesProbe(count), { method })).verdict !== "right") return;
      this.findings.maxValuesRows = count;
    }
  }

  async #urlLength(): Promise<undefined> {
    if (!this.findings.methods.includes("get")) return;
    for (const bytes of urlSizes) {
      const probe = urlProbe(this.#endpoint.url, bytes);
      if ((await this.#confirmed(probe, { method: "get" })).verdict !== "right") return;
      this.findings.maxUrlBytes = bytes;
    }
  }

  async #prefixes(): Promise<undefined> {
    const { value: answer } = await this.#ask({ ...prefixProbe, judge: () => undefined });
    const found = answer && prefixesIn(answer);
    if (found !== undefined) this.findings.predefinedPrefixes = found;
  }

  /** Proved by what finds a label again that the endpoint has; what fails or finds nothing says nothing. */
  async #textSearch(): Promise<undefined> {
    for (const probe of sampleProbes) {
      const { value: answer } = await this.#ask(probe);
      const sample = answer && sampleOf(answer);
      if (sample === undefined) continue;
      for (const { search, probe: proof } of textProbes(sample)) {
        if ((await this.#try(proof)).verdict !== "right") continue;
        this.findings.textSearch = search;
        return;
      }
      return;
    }
  }
}

const hydraSearch = "http://www.w3.org/ns/hydra/core#search";

/** True if a document has the search form (Hydra) of a Triple Pattern Fragments interface. */
export const hasSearchForm = (quads: RdfDocument["quads"]): boolean =>
  quads.some(({ predicate }) => predicate.value === hydraSearch);

const bounds = {
  tpf: { maxBytes: 4 * 1024 * 1024, maxQuads: 20_000, namedGraphs: true },
  file: { maxBytes: 2 ** 26, maxQuads: 500_000 },
};
const timeoutMs = 30_000;

/**
 * A canary for RDF files and Triple Pattern Fragments: the document comes and is RDF; a fragment has the search form
 * (Hydra) by which it is asked. What such endpoints hold is not looked at.
 */
export async function documentCanary(
  { id, url, interface: kind }: CatalogEntry,
  { asker, clock, signal }: Canary,
): Promise<Capabilities> {
  const frame = { endpoint: url, probedAt: new Date(clock.now()).toISOString(), constructs: {}, methods: [] };
  try {
    const most = kind === "tpf" ? bounds.tpf : bounds.file;
    const { quads, mediaType } = await asker.fetchDocument({ url, signal, timeoutMs, ...most, endpoint: id });
    const reachable = kind !== "tpf" || hasSearchForm(quads);
    return { ...frame, reachable, formats: reachable ? [mediaType] : [] };
  } catch (thrown) {
    if (toFedwayError(thrown).code === "CANCELLED") throw thrown;
    return { ...frame, reachable: false, formats: [] };
  }
}

interface Canary {
  readonly asker: Pick<Asker, "fetchDocument">;
  readonly clock: Pick<Clock, "now">;
  readonly signal: AbortSignal;
}
