import type { RequestMethod } from "../../outbound/sparql-client.ts";
import type { AskedEndpoint } from "../catalog/asking.ts";
import type { ProbedConstruct, ProbeOutcome } from "./capabilities.ts";
import {
  canary,
  constructProbes,
  formatProbes,
  type Probe,
  rowCapQuery,
  serviceProbe,
  urlProbe,
  valuesProbe,
  wholeRows,
} from "./probes.ts";
import { type Asking, type ProbeSession, StopProbing } from "./session.ts";
import { bindTable, type Table, valuesTable } from "./tables.ts";
import { outcomeOf } from "./verdict.ts";

/** What has been found so far. */
export interface Findings {
  reachable: boolean;
  readonly constructs: Map<ProbedConstruct, ProbeOutcome>;
  readonly methods: RequestMethod[];
  readonly formats: string[];
  rowCap?: number;
  rowCapSilent?: boolean;
  wholeRows?: number;
  maxValuesRows?: number;
  maxUrlBytes?: number;
  service?: boolean;
}

/** One part of a run. */
export interface ProbePart {
  readonly stage: string;
  readonly run: () => Promise<"unreachable" | undefined>;
}

const methodOrder: readonly RequestMethod[] = ["post-form", "post-direct", "get"];
const blockSizes = [10, 100, 1_000, 10_000];
/** The transport sends no longer URLs. */
const urlSizes = [2_048, 8_192];

/** The parts of a run over one session, and what they find. */
export function createProbeRun(session: ProbeSession, endpoint: AskedEndpoint) {
  const findings: Findings = { reachable: false, constructs: new Map(), methods: [], formats: [] };
  const run = new Run(session, endpoint, findings);
  const parts = (serviceToItself: boolean): readonly ProbePart[] => [
    { stage: "the canary", run: () => run.reach() },
    { stage: "request methods", run: () => run.methods() },
    ...constructProbes.map(({ construct, ...probe }) => ({
      stage: `construct ${construct}`,
      run: () => run.construct(construct, probe),
    })),
    { stage: "result formats", run: () => run.formats() },
    { stage: "row cap", run: () => run.rowCap() },
    { stage: "VALUES rows", run: () => run.valuesRows() },
    { stage: "URL length", run: () => run.urlLength() },
    ...(serviceToItself ? [{ stage: "SERVICE", run: () => run.service() }] : []),
  ];
  return { findings, parts };
}

class Run {
  readonly #session: ProbeSession;
  readonly #endpoint: AskedEndpoint;
  readonly #findings: Findings;
  #table: Table = valuesTable;

  constructor(session: ProbeSession, endpoint: AskedEndpoint, findings: Findings) {
    this.#session = session;
    this.#endpoint = endpoint;
    this.#findings = findings;
  }

  /** Asks and judges. */
  async #try(probe: Probe, asking: Partial<Asking> = {}): Promise<ProbeOutcome> {
    const [method] = this.#findings.methods;
    const given: Asking = { table: this.#table, ...(method !== undefined && { method }), ...asking };
    return outcomeOf(await this.#session.ask(probe, given), probe.judge);
  }

  /** The same; what is not right counts only when the endpoint still answers afterwards. @throws StopProbing */
  async #confirmed(probe: Probe, asking: Partial<Asking> = {}): Promise<ProbeOutcome> {
    const outcome = await this.#try(probe, asking);
    if (outcome.verdict !== "right") await this.#stillThere();
    return outcome;
  }

  async #stillThere(): Promise<void> {
    const { verdict } = await this.#try(canary);
    if (verdict !== "right") throw new StopProbing("The endpoint stopped answering.");
  }

  /** With VALUES, else without: an endpoint that lacks them is there all the same. */
  async reach(): Promise<"unreachable" | undefined> {
    const outcome = await this.#try(canary);
    this.#findings.constructs.set("values", outcome);
    if (outcome.verdict === "right") {
      this.#findings.reachable = true;
      return undefined;
    }
    if (outcome.verdict !== "failed") {
      this.#table = bindTable;
      this.#findings.reachable = (await this.#try(canary)).verdict === "right";
    }
    if (this.#findings.reachable) return undefined;
    // A refusal of everything says nothing about VALUES.
    this.#findings.constructs.set("values", { ...outcome, verdict: "failed" });
    return "unreachable";
  }

  async methods(): Promise<undefined> {
    const working: RequestMethod[] = [];
    for (const method of methodOrder) {
      if ((await this.#try(canary, { method })).verdict === "right") working.push(method);
    }
    this.#findings.methods.push(...working);
  }

  async construct(construct: ProbedConstruct, probe: Probe): Promise<undefined> {
    this.#findings.constructs.set(construct, await this.#confirmed(probe));
  }

  async formats(): Promise<undefined> {
    for (const probe of formatProbes) {
      const { mediaType } = probe;
      const judge: Probe["judge"] = (answer) =>
        answer.format === mediaType ? probe.judge(answer) : `${answer.format} came`;
      if ((await this.#confirmed({ ...probe, judge }, { accept: mediaType })).verdict === "right") {
        this.#findings.formats.push(mediaType);
      }
    }
  }

  /** An endpoint that cuts answers cuts them at the same place again; one that ran out of time does not. */
  async rowCap(): Promise<undefined> {
    const first = await this.#productRows();
    if (first === undefined) await this.#stillThere();
    else if (first.rows === wholeRows) this.#findings.wholeRows = wholeRows;
    else if ((await this.#productRows())?.rows === first.rows) {
      this.#findings.rowCap = first.rows;
      this.#findings.rowCapSilent = first.silent;
    }
    return undefined;
  }

  /** Rows of the large product, and whether nothing said that some are missing; undefined when they tell nothing. */
  async #productRows(): Promise<{ readonly rows: number; readonly silent: boolean } | undefined> {
    const [method] = this.#findings.methods;
    const probe: Probe = { kind: "bindings", query: rowCapQuery, judge: () => undefined };
    const asking = { table: this.#table, ...(method !== undefined && { method }), maxRows: wholeRows };
    const { answer } = await this.#session.ask(probe, asking);
    if (answer === undefined || answer.rows.length === 0) return undefined;
    const how = answer.partial?.how;
    if (how !== undefined && how !== "virtuoso-maxrows" && how !== "row-cap") return undefined;
    return { rows: answer.rows.length, silent: how === undefined };
  }

  async valuesRows(): Promise<undefined> {
    const method = this.#findings.methods.find((one) => one !== "get");
    if (method === undefined || this.#table !== valuesTable) return;
    for (const count of blockSizes) {
      if ((await this.#confirmed(valuesProbe(count), { method })).verdict !== "right") return;
      this.#findings.maxValuesRows = count;
    }
  }

  async urlLength(): Promise<undefined> {
    if (!this.#findings.methods.includes("get")) return;
    for (const bytes of urlSizes) {
      const probe = urlProbe(this.#endpoint.url, bytes);
      if ((await this.#confirmed(probe, { method: "get" })).verdict !== "right") return;
      this.#findings.maxUrlBytes = bytes;
    }
  }

  async service(): Promise<undefined> {
    const { verdict } = await this.#confirmed(serviceProbe(this.#endpoint.url));
    // A failure may have any cause; only an answer and a refusal tell.
    if (verdict !== "failed") this.#findings.service = verdict === "right";
  }
}
