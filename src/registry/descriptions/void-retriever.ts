import type { Asker } from "../../outbound/whole-answer.ts";
import type { Clock } from "../../clock.ts";
import type * as RDF from "@rdfjs/types";
import type { DescribeOptions, DescribeTarget } from "./compute/describer.ts";
import { chooseDataset, linkedDescriptions, type OwnEndpoint, ownEndpoint } from "./choose-dataset.ts";
import { indexNodes, isWritable } from "./values.ts";
import { findStoredVoid, readStoredVoid } from "./stored-void.ts";
import type { PublishedLists } from "./read-partitions.ts";
import { readVoid, type VoidFacts } from "./read-void.ts";
import { RequestLog } from "./request-log.ts";
import { type SpotCheck, spotCheck, verdictOf } from "./spot-checks.ts";
import type { MeasurementRecord, VoidDescription } from "./void-description.ts";

/** Steps of the cascade (registry method, section 3, steps 2-6), in the order in which they are tried. */
type RetrievalStep = "endpoint" | "well-known" | "default-graph" | "named-graph" | "linked";

/** A description that was found and not used. */
interface RefusedDescription {
  readonly step: RetrievalStep;
  /** URL of the document, or IRI of the dataset. */
  readonly from: string;
  /** One or two sentences. */
  readonly reason: string;
}

/** Result of the cascade. */
export interface RetrievedVoid {
  /** All facts "claimed", nothing complete; absent when no description was found that can be trusted. */
  readonly description?: VoidDescription | undefined;
  readonly step?: RetrievalStep | undefined;
  /** Claims of the used description that were held against the data. */
  readonly checks: readonly SpotCheck[];
  /** Descriptions that name another endpoint. */
  readonly quarantined: readonly RefusedDescription[];
  /** Descriptions that the data contradict, or whose claims could not be checked. */
  readonly contradicted: readonly RefusedDescription[];
  /** Every attempt, also when there is no description. */
  readonly records: readonly MeasurementRecord[];
  readonly cost: VoidDescription["cost"];
}

/** Target of retrieval; its `dataset` names one that the publisher did not name. */
type RetrievalTarget = Pick<DescribeTarget, "endpoint" | "dataset">;

/** A description before it is checked. */
interface Found {
  readonly step: RetrievalStep;
  readonly from: string;
  readonly quads: readonly RDF.Quad[];
  readonly nodes: readonly RDF.Term[];
  readonly record: number;
  /** Its partitions, where these are not among the quads. */
  readonly lists?: PublishedLists;
}

const mostLinks = 4;
/** Bounds of one cascade, and of each attempt in it (registry method, section 3). */
const mostRequests = 60;
const limits = { timeoutMs: 5_000, maxRows: 5_000, maxBytes: 2 * 1024 * 1024 };

/** Finds the description that an endpoint's publisher has written. */
export type VoidRetriever = ReturnType<typeof createVoidRetriever>;

/** Creates the retriever; it keeps no state between endpoints. */
export function createVoidRetriever(options: { readonly asker: Asker; readonly clock: Pick<Clock, "now"> }) {
  const { asker, clock } = options;
  return {
    /**
     * @param bounds requests beyond 60 are not sent
     * @throws FedwayError `CANCELLED` when the signal aborts; failures of the endpoint are records
     */
    async retrieve(
      target: RetrievalTarget,
      { signal, budget }: Pick<DescribeOptions, "signal" | "budget">,
    ): Promise<RetrievedVoid> {
      const startedAt = new Date(clock.now()).toISOString();
      const { endpoint } = target;
      const bounds = { ...budget, requests: Math.min(mostRequests, budget?.requests ?? mostRequests) };
      const log = new RequestLog({ asker, clock, endpoint, signal, level: 0, budget: bounds, limits });
      const cascade = new Cascade(log, target.endpoint.url);
      await cascade.run();
      const { best, quarantined, contradicted } = cascade;
      const finishedAt = new Date(clock.now()).toISOString();
      const { records, cost } = log;
      return {
        ...(best !== undefined && {
          description: described(target, best, { startedAt, finishedAt, records, cost }),
          step: best.found.step,
        }),
        checks: best?.checks ?? [],
        quarantined,
        contradicted,
        records,
        cost,
      };
    },
  };
}

/** A description that passed its checks. */
interface Accepted {
  readonly found: Found;
  readonly facts: VoidFacts;
  readonly checks: readonly SpotCheck[];
}

const partitionsOf = ({ classPartitions, propertyPartitions }: VoidFacts): number =>
  classPartitions.length + propertyPartitions.length;

const totalsOf = ({ triples, classes, properties, title }: VoidFacts): number =>
  [triples, classes, properties, title].filter((value) => value !== undefined).length;

const isRicher = (one: VoidFacts, other: VoidFacts): boolean =>
  partitionsOf(one) > partitionsOf(other) ||
  (partitionsOf(one) === partitionsOf(other) && totalsOf(one) > totalsOf(other));

/** One run over the steps; it ends with the first trusted description that has partitions. */
class Cascade {
  readonly quarantined: RefusedDescription[] = [];
  readonly contradicted: RefusedDescription[] = [];
  best: Accepted | undefined;
  readonly #log: RequestLog;
  readonly #url: string;
  #own: OwnEndpoint;
  #links: readonly string[] = [];
  /** Type of the page found at the endpoint's URL in place of an RDF document. */
  #page: string | undefined;
  readonly #seen = new Set<string>();

  constructor(log: RequestLog, url: string) {
    this.#log = log;
    this.#url = url;
    this.#own = ownEndpoint(url);
  }

  async run(): Promise<void> {
    const steps: readonly (() => Promise<void>)[] = [
      () => this.#fromDocument("endpoint", this.#url),
      () => this.#fromDocument("well-known", new URL("/.well-known/void", this.#url).href),
      () => this.#fromDocument("well-known", new URL("/void.ttl", this.#url).href),
      () => this.#fromData("default-graph"),
      () => this.#fromData("named-graph"),
      () => this.#fromLinks(),
    ];
    for (const step of steps) {
      await step();
      if (this.best !== undefined && partitionsOf(this.best.facts) > 0) return;
    }
    // Many endpoints answer with a page where no query is: only those that answer queries with one, too, are reported.
    if (this.#page !== undefined && this.#log.isNoEndpoint)
      this.quarantined.push({ step: "endpoint", from: this.#url, reason: this.#page });
  }

  async #fromDocument(step: RetrievalStep, url: string): Promise<void> {
    if (this.#seen.has(url)) return;
    this.#seen.add(url);
    const fetched = await this.#log.document(url);
    if (fetched === undefined) return;
    if (fetched.value === undefined) {
      const { code, message } = fetched.error;
      if (code === "ENDPOINT_MALFORMED") this.quarantined.push({ step, from: url, reason: message });
      if (code === "ENDPOINT_NOT_SPARQL" && step === "endpoint") this.#page = message;
      return;
    }
    const { quads, url: from } = fetched.value;
    // The endpoint answers under the URL that its redirects lead to, too.
    if (step === "endpoint") this.#own = ownEndpoint(this.#url, from);
    const index = indexNodes(quads);
    if (step === "endpoint") this.#links = linkedDescriptions(index).filter((link) => !this.#own.is(link));
    const choice = chooseDataset(index, { own: this.#own, served: step === "endpoint" });
    if (choice.quarantined !== undefined) this.quarantined.push({ step, from, reason: choice.quarantined });
    else await this.#consider({ step, from, quads, nodes: choice.nodes, record: fetched.record });
  }

  async #fromData(step: "default-graph" | "named-graph"): Promise<void> {
    if (this.#log.unreachable) return;
    const where = step === "named-graph" ? "named" : "default";
    for (const stored of await findStoredVoid(this.#log, this.#own.spellings, where)) {
      const read = await readStoredVoid(this.#log, stored);
      if (read === undefined) continue;
      const from = stored.dataset ?? stored.graph ?? this.#url;
      const choice = chooseDataset(indexNodes(read.quads), { own: this.#own, served: true });
      if (choice.quarantined !== undefined) this.quarantined.push({ step, from, reason: choice.quarantined });
      else await this.#consider({ step, from, nodes: [read.dataset], ...read });
      if (this.best !== undefined && partitionsOf(this.best.facts) > 0) return;
    }
  }

  async #fromLinks(): Promise<void> {
    for (const link of this.#links.slice(0, mostLinks)) {
      await this.#fromDocument("linked", link);
      if (this.best !== undefined && partitionsOf(this.best.facts) > 0) return;
    }
  }

  /** Takes a description whose claims hold, when it says more than what there is. */
  async #consider(found: Found): Promise<void> {
    if (found.nodes.length === 0) return;
    const index = indexNodes(found.quads);
    const facts = readVoid({ index, nodes: found.nodes, record: found.record }, found.lists);
    if (partitionsOf(facts) + totalsOf(facts) === 0) return;
    if (this.best !== undefined && !isRicher(facts, this.best.facts)) return;
    const checks = await spotCheck(this.#log, facts);
    const { trusted, reason = "" } = verdictOf(checks);
    if (trusted) this.best = { found, facts, checks };
    else this.contradicted.push({ step: found.step, from: found.from, reason });
  }
}

function described(
  target: RetrievalTarget,
  { found, facts }: Accepted,
  frame: Pick<VoidDescription, "startedAt" | "finishedAt" | "records" | "cost">,
): VoidDescription {
  const { endpoint } = target;
  const [node] = found.nodes;
  const named = node?.termType === "NamedNode" && isWritable(node.value) ? node.value : undefined;
  return {
    endpoint: endpoint.url,
    id: endpoint.id,
    dataset: named ?? target.dataset ?? `${endpoint.url.split("#", 1)[0]}#dataset`,
    source: "retrieved",
    retrievedFrom: found.from,
    ...frame,
    unfinished: true,
    ...facts,
    unknown: [],
  };
}
