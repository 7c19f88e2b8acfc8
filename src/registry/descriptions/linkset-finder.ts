import type { Asker, WholeAnswer } from "../../outbound/whole-answer.ts";
import type { Clock } from "../../clock.ts";
import type { AskedEndpoint, Catalog } from "../catalog/catalog.ts";
import { iriOf, isWritable, namespaceOf, written } from "./values.ts";
import { from as fromGraphs, matched } from "./compute/queries.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import { type Answered, countIn, RequestLog } from "./request-log.ts";
import type {
  Linkset,
  MeasurementRecord,
  PropertyPartition,
  UnknownFact,
  VoidDescription,
} from "./void-description.ts";
import { unknownId } from "../../errors/unknown-id.ts";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Job, JobKind, JobQueue } from "../../jobs/job-queue.ts";
import { catalogId } from "../catalog/statements.ts";
import type { DescriptionService } from "./description-service.ts";
import { itemAt } from "../../values.ts";

/** One side of the links that are looked for. */
interface LinkSide {
  readonly endpoint: AskedEndpoint & { readonly id: string };
  readonly description: VoidDescription;
}

/** The links from one endpoint to another, as far as they were found. */
export interface FoundLinksets {
  /** `record` points into `records`. A count is "exact" only when two ways agree on all links; else a lower bound. */
  readonly linksets: readonly Linkset[];
  readonly records: readonly MeasurementRecord[];
  readonly unknown: readonly UnknownFact[];
}

/** Circumstances of one search. */
interface LinkSearch {
  readonly signal: AbortSignal;
  /** Requests to both endpoints together; default 100. */
  readonly maxRequests?: number;
}

const mostProperties = 40;
const sampledClasses = 8;
const subjectsPerClass = 20;
/** Links that are looked at per property; a property with fewer is known whole. */
const sampleLinks = 200;
const batchObjects = 50;
const singleAsks = 5;

/** Properties that are there to link, asked first (SKOS and OWL mapping properties, `rdfs:seeAlso`). */
const linkingProperties =
  /(?:owl#sameAs|skos\/core#(?:exact|close|broad|narrow|related)Match|rdf-schema#seeAlso|dcterms?\/relation)$/u;

/** Finds links between described endpoints: objects of the one that are subjects at the other. */
type LinksetFinder = ReturnType<typeof createLinksetFinder>;

/** Creates the finder; it keeps no state between searches. */
export function createLinksetFinder(options: { readonly asker: Asker; readonly clock: Pick<Clock, "now"> }) {
  return {
    /** @throws FedwayError `CANCELLED`; failures of the endpoints are records and unknown facts */
    async find(from: LinkSide, to: LinkSide, bounds: LinkSearch): Promise<FoundLinksets> {
      const { signal, maxRequests: requests = 100 } = bounds;
      const search = new Search({ ...options, signal, level, endpoint: from.endpoint, budget: { requests }, limits });
      const namespaces = await subjectNamespaces(search, to);
      const linksets: Linkset[] = [];
      for (const { property } of linkCandidates(from.description)) {
        if (namespaces.size === 0 || search.isSpent) break;
        const linkset = await linksetOf(search, { from, to, property, namespaces });
        if (linkset !== undefined) linksets.push(linkset);
      }
      if (search.isSpent) search.unknown.push({ what: linksTo(to.endpoint.id), why: "budget" });
      return { linksets, records: search.records, unknown: search.unknown };
    },
  };
}

const limits = { timeoutMs: 10_000, maxRows: 1000, maxBytes: 2 * 1024 * 1024 };
/** How searches for links are marked among the records. */
const level = 6;

/** The requests of one search, and the facts they could not find out. */
class Search extends RequestLog {
  readonly unknown: UnknownFact[] = [];

  /** Something that was not looked into; reported once. */
  note(fact: UnknownFact): void {
    if (!this.unknown.some(({ what }) => what === fact.what)) this.unknown.push(fact);
  }

  /** Undefined when the budget is spent or the endpoint failed, which is recorded. */
  async over({ endpoint, description }: LinkSide, { what, form, where, limit }: Question): Promise<Answer | undefined> {
    const query = `${form}${fromGraphs(description.graphs ?? [])} WHERE { ${where}}`;
    const answer = await this.ask(limit === undefined ? query : `${query} LIMIT ${limit}`, { endpoint });
    if (answer === undefined || answer.value !== undefined) return answer;
    this.unknown.push({ what, why: answer.why, record: answer.record });
    return undefined;
  }

  /** Undefined when it is not known for sure. */
  async count(side: LinkSide, { counted, ...question }: Omit<Question, "form"> & { readonly counted: string }) {
    return countIn((await this.over(side, { form: `SELECT (COUNT(${counted}) AS ?n)`, ...question }))?.value);
  }
}

/** A question about the data that a side is described by. */
interface Question {
  /** The fact that stays unknown without an answer. */
  readonly what: string;
  /** The query up to WHERE. */
  readonly form: string;
  readonly where: string;
  readonly limit?: number;
}

type Answer = Answered<WholeAnswer>;

/** The description with links to one endpoint put in the place of older ones to the same, and of what was unknown about them. */
export function withLinksets(description: VoidDescription, targetId: string, found: FoundLinksets): VoidDescription {
  const foundNow = new Set(found.unknown.map(({ what }) => what));
  const base = withoutIdleRequests({
    ...description,
    linksets: description.linksets.filter(({ targetEndpoint }) => targetEndpoint !== targetId),
    unknown: description.unknown.filter(({ what }) => !foundNow.has(what) && what !== linksTo(targetId)),
  });
  const added = withRecords(found, (record) => record + base.records.length);
  return {
    ...base,
    linksets: [...base.linksets, ...added.linksets],
    unknown: [...base.unknown, ...added.unknown],
    records: [...base.records, ...found.records],
  };
}

/** Leaves out the requests of earlier searches for links that no fact refers to any more: they would grow without end. */
function withoutIdleRequests(description: VoidDescription): VoidDescription {
  if (!description.records.some(({ rung }) => rung === level)) return description;
  const used = new Set<number>();
  withRecords(description, (record) => {
    used.add(record);
    return record;
  });
  const kept = description.records.flatMap((record, at) => (record.rung !== level || used.has(at) ? [at] : []));
  if (kept.length === description.records.length) return description;
  const moved = new Map(kept.map((from, to) => [from, to]));
  const records = kept.map((at) => itemAt(description.records, at));
  return { ...withRecords(description, (record) => moved.get(record) ?? record), records };
}

/** A copy in which every index into the records is another one. */
const withRecords = <T>(facts: T, indexOf: (record: number) => number): T =>
  JSON.parse(JSON.stringify(facts), (key, value: unknown) =>
    key === "record" && typeof value === "number" ? indexOf(value) : value,
  );

const linksTo = (id: string): string => `links to ${id}`;

/** A triple pattern in the data of a side: its default graph, or the graphs that were described instead. */
const matchedAt = ({ description }: LinkSide, triple: string): string =>
  matched([triple], description.namedGraphs !== undefined);

const isLiteral = ({ objectClasses, datatypes, objectsComplete }: PropertyPartition): boolean =>
  objectsComplete && objectClasses.length === 0 && datatypes.length > 0;
const rank = ({ property }: PropertyPartition): number => (linkingProperties.test(property) ? 0 : 1);

/** Properties that may have IRIs as objects, those made for linking first, then the frequent ones. */
function linkCandidates({ propertyPartitions }: VoidDescription): readonly PropertyPartition[] {
  return propertyPartitions
    .filter((one) => one.property !== rdf.type && isWritable(one.property) && !isLiteral(one))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, mostProperties);
}

const irisOf = (answer: Answer | undefined, variable: string): readonly string[] =>
  (answer?.value.rows ?? []).flatMap((row) => iriOf(row.get(variable)) ?? []);

/** Namespaces that subjects at the endpoint have: those of its description, and of a sample of its largest classes. */
async function subjectNamespaces(search: Search, side: LinkSide): Promise<ReadonlySet<string>> {
  const { endpoint, description } = side;
  const namespaces = new Set(description.namespaces);
  const classes = description.classPartitions.filter((one) => isWritable(one.class)).slice(0, sampledClasses);
  const patterns = classes.map((one) => `?s ${written(rdf.type)} ${written(one.class)}`);
  const limit = patterns.length === 0 ? sampleLinks : subjectsPerClass;
  const question = { what: `namespaces of ${endpoint.id}`, form: "SELECT DISTINCT ?s", limit };
  for (const pattern of patterns.length === 0 ? ["?s ?p ?o"] : patterns) {
    const found = await search.over(side, { ...question, where: `${matchedAt(side, pattern)}FILTER(isIRI(?s)) ` });
    for (const namespace of irisOf(found, "s").flatMap((iri) => namespaceOf(iri) ?? [])) namespaces.add(namespace);
  }
  return namespaces;
}

interface LinkCandidate {
  readonly from: LinkSide;
  readonly to: LinkSide;
  readonly property: string;
  readonly namespaces: ReadonlySet<string>;
}

async function linksetOf(
  search: Search,
  { from, to, property, namespaces }: LinkCandidate,
): Promise<Linkset | undefined> {
  const what = `links by <${property}> to ${to.endpoint.id}`;
  const where = `${matchedAt(from, `?s ${written(property)} ?o`)}FILTER(isIRI(?o)) `;
  const sample = await search.over(from, { what, form: "SELECT DISTINCT ?s ?o", where, limit: sampleLinks + 1 });
  if (sample === undefined) return undefined;
  // Each link once, also where the endpoint makes nothing of DISTINCT.
  const links = new Map(
    sample.value.rows.map((row) => [`${row.get("s")?.value} ${row.get("o")?.value}`, row.get("o")]),
  );
  const objects = [...links.values()].flatMap((term) => iriOf(term) ?? []);
  if (objects.length === 0) return undefined;
  // Namespaces show whether there are links at all; only all objects show how many, as not all namespaces are known.
  if (!objects.some((iri) => namespaces.has(namespaceOf(iri) ?? ""))) {
    search.note({ what: `links to ${to.endpoint.id} by objects in namespaces not seen there`, why: "partial" });
    return undefined;
  }
  const present = await subjectsAmong(search, to, { what, objects: [...new Set(objects)] });
  const value = objects.filter((iri) => present?.iris.has(iri)).length;
  if (present === undefined || value === 0) return undefined;
  const link = { property, targetEndpoint: to.endpoint.id, targetDataset: to.description.dataset };
  if (!present.counted) return { ...link, status: "exists", record: present.record };
  const { rows, partial } = sample.value;
  const isWhole = rows.length <= sampleLinks && objects.length === links.size && partial === undefined && present.whole;
  const each = `{ SELECT DISTINCT ?s ?o WHERE { ${where}} } `;
  const agrees = isWhole && (await search.count(from, { what, counted: "*", where: each })) === links.size;
  const status = agrees ? "exact" : "lowerBound";
  return { ...link, status, record: present.record, triples: { value, status, record: present.record } };
}

/** Which of some IRIs are subjects at the other endpoint. */
interface Presence {
  readonly iris: ReadonlySet<string>;
  readonly record: number;
  /** All were asked for; else single ones were. */
  readonly counted: boolean;
  /** A second way, counting, agrees with the list. */
  readonly whole: boolean;
}

interface Objects {
  readonly what: string;
  readonly objects: readonly string[];
}

async function subjectsAmong(search: Search, to: LinkSide, asked: Objects): Promise<Presence | undefined> {
  const { what, objects } = asked;
  const iris = new Set<string>();
  let record: number | undefined;
  let whole = true;
  for (let at = 0; at < objects.length; at += batchObjects) {
    const values = objects.slice(at, at + batchObjects).map(written);
    const where = `VALUES ?o { ${values.join(" ")} } ${matchedAt(to, "?o ?p ?x")}`;
    const found = await search.over(to, { what, form: "SELECT DISTINCT ?o", where });
    if (found === undefined && at === 0) return askSingly(search, to, asked);
    const listed = irisOf(found, "o");
    for (const iri of listed) iris.add(iri);
    record ??= found?.record;
    const isWhole = found !== undefined && found.value.partial === undefined;
    const counted = isWhole ? await search.count(to, { what, counted: "DISTINCT ?o", where }) : undefined;
    whole &&= counted === listed.length;
  }
  return record === undefined ? undefined : { iris, record, counted: true, whole };
}

/** For endpoints without VALUES. */
async function askSingly(search: Search, to: LinkSide, { what, objects }: Objects): Promise<Presence | undefined> {
  for (const iri of objects.slice(0, singleAsks)) {
    const found = await search.over(to, { what, form: "ASK", where: matchedAt(to, `${written(iri)} ?p ?x`) });
    if (found === undefined) return undefined;
    const { record } = found;
    if (found.value.boolean === true) return { iris: new Set([iri]), record, counted: false, whole: false };
  }
  return undefined;
}

interface LinksetServiceOptions {
  readonly catalog: Pick<Catalog, "byId" | "entries">;
  readonly finder: LinksetFinder;
  readonly descriptions: Pick<DescriptionService, "get" | "put">;
  readonly jobs: Pick<JobQueue, "enqueue">;
}

const kindName = "find-linksets";
const longestJobId = 128;
const payloads = Compile(Type.Object({ from: catalogId, to: catalogId }));

function payloadOf(payload: unknown) {
  if (payloads.Check(payload) && payload.from !== payload.to) return payload;
  throw new FedwayError("REQUEST_INVALID", `A ${kindName} job needs the ids of two different endpoints.`);
}

async function sideOf({ catalog, descriptions }: LinksetServiceOptions, id: string): Promise<LinkSide> {
  const entry = catalog.byId(id);
  if (!entry) throw unknownId("endpoint", id, catalog);
  const description = await descriptions.get(id);
  if (description) {
    const { url, method } = entry;
    return { endpoint: { id, url, method }, description };
  }
  throw new FedwayError("DESCRIPTION_UNKNOWN", `The endpoint "${id}" has not been described yet.`, {
    next: `POST /api/endpoints/${id}/describe has it described; links are looked for after that.`,
  });
}

/** The service over a finder and the stored descriptions. */
export function createLinksetService(options: LinksetServiceOptions) {
  const { descriptions, finder, jobs } = options;
  const run: JobKind["run"] = async (payload, { signal, progress }) => {
    const { from, to } = payloadOf(payload);
    progress({ stage: `looking for links to ${to}`, done: 0 });
    const [start, end] = await Promise.all([sideOf(options, from), sideOf(options, to)]);
    const found = await finder.find(start, end, { signal });
    // Read again: the description may have been renewed meanwhile.
    await descriptions.put(from, withLinksets((await sideOf(options, from)).description, to, found));
    const { linksets, records, unknown } = found;
    return { from, to, linksets: linksets.length, requests: records.length, unknown: unknown.map(({ what }) => what) };
  };
  return {
    /** The job that looks for the links of one pair; to be started with the queue. */
    kind: { name: kindName, validate: (payload: unknown) => void payloadOf(payload), run },
    /** @throws FedwayError `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN`, `REQUEST_INVALID`, `STORE_FAILED` */
    async request(from: string, to: string): Promise<Job> {
      const payload = payloadOf({ from, to });
      await Promise.all([sideOf(options, from), sideOf(options, to)]);
      const id = `links.${from}.${to}`;
      return jobs.enqueue(kindName, payload, id.length <= longestJobId ? { id } : {});
    },
  };
}
