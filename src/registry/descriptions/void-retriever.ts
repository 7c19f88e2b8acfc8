import type * as RDF from "@rdfjs/types";
import type { Asker } from "../../outbound/whole-answer.ts";
import type { Clock } from "../../clock.ts";
import type { DescribeOptions, DescribeTarget } from "./compute/describer.ts";
import { hasType, indexNodes, iriTextOf, isWritable, type NodeIndex, partsOf } from "./values.ts";
import { findStoredVoid, readStoredVoid } from "./stored-void.ts";
import { type PublishedLists, readVoid, type VoidFacts } from "./read-void.ts";
import { RequestLog } from "./request-log.ts";
import { spotCheck, type SpotCheck, verdictOf } from "./spot-checks.ts";
import type { MeasurementRecord, VoidDescription } from "./void-description.ts";
import { dcat, foaf, sd, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { termKey } from "../../results/terms.ts";
import { isOwnHost } from "../../outbound/address-guard.ts";
import { descriptionPaths } from "../../outbound/documents.ts";

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
     * @param target its `dataset` names one that the publisher did not name
     * @param options of its budget, requests beyond 60 are not sent
     * @throws FedwayError `CANCELLED` when the signal aborts; failures of the endpoint are records
     */
    async retrieve(target: DescribeTarget, { signal, budget }: DescribeOptions): Promise<RetrievedVoid> {
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
          description: described(target, best, { startedAt, finishedAt }, log),
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
      ...descriptionPaths.map((path) => () => this.#fromDocument("well-known", new URL(path, this.#url).href)),
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
  { endpoint, dataset }: DescribeTarget,
  { found, facts }: Accepted,
  times: { readonly startedAt: string; readonly finishedAt: string },
  { records, cost }: RequestLog,
): VoidDescription {
  const [node] = found.nodes;
  const named = node?.termType === "NamedNode" && isWritable(node.value) ? node.value : undefined;
  return {
    endpoint: endpoint.url,
    id: endpoint.id,
    dataset: named ?? dataset ?? `${endpoint.url.split("#", 1)[0]}#dataset`,
    source: "retrieved",
    retrievedFrom: found.from,
    ...times,
    records,
    cost,
    unfinished: true,
    ...facts,
    unknown: [],
  };
}

/** Which nodes of a document describe the endpoint's data. */
interface DatasetChoice {
  /** The dataset first, then its default graph and the like; empty when there is none. */
  readonly nodes: readonly RDF.Term[];
  /** Why a description that seemed to be the endpoint's is not used. */
  readonly quarantined?: string;
}

/** A node and the endpoints that it is said to be reached by. */
interface Candidate {
  readonly node: RDF.Term;
  readonly endpoints: readonly string[];
  /** Rank among equals: the main topic of the document, or the default dataset of its service. */
  readonly main: boolean;
}

const partitionPredicates = [v.classPartition, v.propertyPartition];
const contentPredicates = [...partitionPredicates, v.triples, v.entities, v.classes, v.properties];
const unionDefaultGraph = `${sd.namespace}UnionDefaultGraph`;

/**
 * Finds the dataset in a description: by its endpoint, else, where that is certain enough, the only one. In a document
 * that the endpoint itself has served, a dataset without an endpoint is its own.
 */
export function chooseDataset(
  index: NodeIndex,
  { own, served }: { readonly own: OwnEndpoint; readonly served: boolean },
): DatasetChoice {
  const candidates = candidatesOf(index);
  const named = candidates.filter(({ endpoints }) => endpoints.some((url) => own.is(url)));
  const unnamed = candidates.filter(({ endpoints }) => endpoints.length === 0);
  const others = candidates.filter(({ endpoints }) => endpoints.length > 0);
  const services = served ? endpointsOfServices(index) : [];
  const alien = alienEndpoint(services, own);
  if (alien !== undefined) return { nodes: [], quarantined: alien };
  const chosen = best(named) ?? (served || (others.length === 0 && unnamed.length === 1) ? best(unnamed) : undefined);
  const judged = chosen ?? (served ? best(others) : others.find(({ endpoints }) => isSuspect(endpoints, own)));
  const reason = judged && alienEndpoint(judged.endpoints, own);
  if (reason !== undefined) return { nodes: [], quarantined: reason };
  if (chosen === undefined) return { nodes: [] };
  return { nodes: [chosen.node, ...partsWithContent(index, chosen.node)] };
}

/**
 * The default graph of a `sd:Dataset`; its named graphs where the default graph is said to be their union; these and its
 * subsets where neither it nor its default graph has partitions of its own.
 */
function partsWithContent(index: NodeIndex, dataset: RDF.Term): readonly RDF.Term[] {
  const graphs = index.objects(dataset, sd.defaultGraph);
  const isUnion = index.subjects.some((node) =>
    index.objects(node, sd.feature).some(({ value }) => value === unionDefaultGraph),
  );
  const named = index.objects(dataset, sd.namedGraph).flatMap((node) => index.objects(node, sd.graph));
  const isEmpty = ![dataset, ...graphs].some((node) => partitionPredicates.some((name) => index.has(node, name)));
  if (!isEmpty) return isUnion ? [...graphs, ...named] : graphs;
  const subsets = index.objects(dataset, v.subset).filter((node) => looksLikeDataset(index, node));
  return [...graphs, ...named, ...subsets];
}

const best = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.find(({ main }) => main) ?? candidates[0];

/** Names nothing but hosts that only its publisher can reach: perhaps meant to be this endpoint. */
const isSuspect = (endpoints: readonly string[], own: OwnEndpoint): boolean =>
  endpoints.length === 1 && alienEndpoint(endpoints, own)?.includes("only its publisher") === true;

const urlsOf = (terms: readonly RDF.Term[]): readonly string[] =>
  terms.map(iriTextOf).filter((url) => url !== undefined);

function endpointsOfServices(index: NodeIndex): readonly string[] {
  return index.subjects.flatMap((node) => urlsOf(index.objects(node, sd.endpoint)));
}

/** Nodes that are datasets: typed so, with content, or served by a service; not parts of others, nor linksets. */
function candidatesOf(index: NodeIndex): readonly Candidate[] {
  const parts = partsOf(index);
  const targets = linkTargets(index);
  const served = servedDatasets(index);
  const topics = new Set(index.subjects.flatMap((node) => index.objects(node, foaf.primaryTopic).map(termKey)));
  const graphs = new Set(
    index.subjects.flatMap((node) => [sd.defaultGraph, sd.graph].flatMap((p) => index.objects(node, p).map(termKey))),
  );
  const candidates = new Map<string, Candidate>();
  for (const node of index.subjects) {
    const key = termKey(node);
    if (!looksLikeDataset(index, node) || graphs.has(key)) continue;
    const endpoints = urlsOf(index.objects(node, v.sparqlEndpoint));
    if (endpoints.length === 0 && (parts.has(key) || (targets.has(key) && !topics.has(key)))) continue;
    candidates.set(key, { node, endpoints, main: topics.has(key) });
  }
  for (const { node, endpoints } of served) {
    const own = candidates.get(termKey(node))?.endpoints ?? [];
    candidates.set(termKey(node), { node, endpoints: [...own, ...endpoints], main: true });
  }
  return [...candidates.values()];
}

/** Datasets that linksets lead to and that no linkset is a subset of or starts from: others publish them. */
function linkTargets(index: NodeIndex): ReadonlySet<string> {
  const linksets = index.subjects.filter((node) => index.has(node, v.linkPredicate) || hasType(index, node, v.Linkset));
  const keysOf = (predicate: string) => linksets.flatMap((node) => index.objects(node, predicate).map(termKey));
  const subsets = new Set(linksets.map(termKey));
  const holders = index.subjects.filter((node) =>
    index.objects(node, v.subset).some((part) => subsets.has(termKey(part))),
  );
  const own = new Set([...keysOf(v.subjectsTarget), ...holders.map(termKey)]);
  return new Set([...keysOf(v.objectsTarget), ...keysOf(v.target)].filter((key) => !own.has(key)));
}

function looksLikeDataset(index: NodeIndex, node: RDF.Term): boolean {
  if (hasType(index, node, v.Linkset) || index.has(node, v.linkPredicate)) return false;
  if (hasType(index, node, v.Dataset) || index.has(node, v.sparqlEndpoint)) return true;
  return contentPredicates.some((predicate) => index.has(node, predicate));
}

/** Datasets that a service is said to serve (SPARQL Service Description, section 3; DCAT 3, section 6.7). */
function servedDatasets(
  index: NodeIndex,
): readonly { readonly node: RDF.Term; readonly endpoints: readonly string[] }[] {
  return index.subjects.flatMap((service) => {
    const endpoints = urlsOf([...index.objects(service, sd.endpoint), ...index.objects(service, dcat.endpointURL)]);
    const datasets = [sd.defaultDataset, dcat.servesDataset].flatMap((predicate) => index.objects(service, predicate));
    return datasets.filter(({ termType }) => termType !== "Literal").map((node) => ({ node, endpoints }));
  });
}

/** IRIs behind which more of a description may stand (registry method, section 3, step 6). */
function linkedDescriptions(index: NodeIndex): readonly string[] {
  const links = [sd.defaultDataset, sd.defaultGraph, sd.graph, v.inDataset, dcat.servesDataset];
  const iris = index.subjects.flatMap((node) => links.flatMap((predicate) => urlsOf(index.objects(node, predicate))));
  return [...new Set(iris.filter((iri) => /^https?:/iu.test(iri)).map((iri) => iri.split("#", 1)[0] ?? iri))];
}

const endpointParts = /^(https?):\/\/([^/?#\\@]{1,255})([^#\\]*)/iu;

/** An endpoint's URL without parts that descriptions often get wrong: scheme and trailing slash. */
function looseUrl(url: string): string | undefined {
  const [, scheme, authority, rest] = endpointParts.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return undefined;
  const host = authority.toLowerCase().replace(/:(?:80|443)$/u, "");
  return host + rest.replace(/\/(?=$|\?)/u, "");
}

/** The endpoint under its URL, and under those that its redirects lead to. */
export function ownEndpoint(...urls: readonly string[]) {
  const loose = new Set(urls.map(looseUrl).filter((url) => url !== undefined));
  const spellings = [...loose].flatMap((url) => {
    const [path = "", query] = url.split("?", 2);
    const ending = query === undefined ? "" : `?${query}`;
    return ["http", "https"].flatMap((scheme) => [`${scheme}://${path}${ending}`, `${scheme}://${path}/${ending}`]);
  });
  return {
    /** All spellings, for queries. */
    spellings,
    /** `http` or `https`, with or without a trailing slash: the same endpoint. */
    is: (url: string): boolean => loose.has(looseUrl(url) ?? ""),
  };
}

/** The endpoint that is being described, under all its spellings. */
type OwnEndpoint = ReturnType<typeof ownEndpoint>;

/** Reason why the endpoints named by a description rule out `own`; undefined when it may be about `own`. */
function alienEndpoint(named: readonly string[], own: OwnEndpoint): string | undefined {
  const alien = named.filter((url) => !own.is(url));
  const local = alien.find((url) => isOwnHost(URL.parse(url)?.hostname ?? ""));
  if (local !== undefined) return `It names ${shown(local)} as its endpoint, which only its publisher can reach.`;
  const [first] = alien;
  if (first === undefined || alien.length < named.length) return undefined;
  return `It names another endpoint: ${shown(first)}.`;
}

const shown = (url: string): string => url.replaceAll(/[\p{C}\s<>"]/gu, "").slice(0, 200);
