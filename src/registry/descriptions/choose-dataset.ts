import type * as RDF from "@rdfjs/types";
import { dcat, foaf, sd, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { hasType, partsOf, type NodeIndex, iriTextOf } from "./values.ts";
import { termKey } from "../../results/terms.ts";
import { isOwnHost } from "../../outbound/address-guard.ts";

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
export function linkedDescriptions(index: NodeIndex): readonly string[] {
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
export type OwnEndpoint = ReturnType<typeof ownEndpoint>;

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
