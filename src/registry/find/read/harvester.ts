import type * as RDF from "@rdfjs/types";
import type { Clock } from "../../../clock.ts";
import type { JobProgress } from "../../../jobs/job-queue.ts";
import type { Asker, WholeAnswer } from "../../../outbound/whole-answer.ts";
import { literalText } from "../../../rdf/term-text.ts";
import type { AskedEndpoint } from "../../catalog/catalog.ts";
import { from, matched } from "../../descriptions/compute/queries.ts";
import { RequestLog } from "../../descriptions/request-log.ts";
import { iriOf, isWritable, wholeNumberOf, written } from "../../descriptions/values.ts";
import type { PropertyPartition, VoidDescription } from "../../descriptions/void-description.ts";
import { type Harvest, type HarvestRow, mostRows } from "./harvest.ts";
import { languageTypes, rdfs, xsd } from "../../../rdf/vocabularies.ts";
import { iriParts } from "../../../rdf/display-text.ts";

/** The endpoint to read from, and the values to read. */
interface HarvestTarget {
  readonly endpoint: AskedEndpoint;
  readonly description: VoidDescription;
  /** Rows after which its answers are cut, where known. */
  readonly rowCap?: number | undefined;
}

/** How much one run may be. */
interface HarvestBudget {
  /** Default 300. */
  readonly requests?: number;
  /** Decoded bytes; default 32 MiB, as one stored document holds all. */
  readonly bytes?: number;
  /** Milliseconds of the whole run, pauses included; default 10 minutes. */
  readonly ms?: number;
  /** Labels and values; default and at most 50,000. */
  readonly rows?: number;
}

interface HarvesterOptions {
  readonly asker: Asker;
  readonly clock: Clock;
  /** Pause between two requests to one endpoint; default 250, 0 for endpoints that this process hosts. */
  readonly pauseMs?: number | undefined;
  readonly budget?: HarvestBudget | undefined;
}

interface RunOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: JobProgress) => void) | undefined;
}

const mebi = 1024 * 1024;
const defaults = { requests: 300, bytes: 32 * mebi, ms: 600_000, rows: mostRows };
const queryTimeoutMs = 20_000;
const longestLiteral = 200;
const longestStored = 4_000;
/** Different values of one property. */
const mostValues = 1_000;
/** Entities in one answer, and of one class by one property. */
const pageSize = 500;
const mostEntities = 10_000;
/** Counting values reads all triples of a property; of more, only different values are listed. */
const mostCounted = 500_000;
const failuresInARow = 5;

/** Reads labels of entities and values of properties from endpoints, one request at a time. */
export type Harvester = ReturnType<typeof createHarvester>;

/** Creates the harvester; it keeps no state between runs. */
export function createHarvester(options: HarvesterOptions) {
  return {
    /**
     * Resolves also when the endpoint fails or the budget ends, with the values read so far; see `complete`.
     * @throws FedwayError `CANCELLED` when the signal aborts
     */
    async harvest(target: HarvestTarget, run: RunOptions): Promise<Harvest> {
      const reading = new Reading({ ...options, ...run, target });
      await reading.readAll(harvestTasks(target.description));
      return reading.harvest();
    },
  };
}

type ReadingOptions = HarvesterOptions & RunOptions & { readonly target: HarvestTarget };

/** Where a task goes on. */
interface Turn {
  readonly task: HarvestTask;
  readonly offset: number;
  /** The degrees of a page took too long here. */
  readonly plain: boolean;
}

/** One run at one endpoint. */
class Reading {
  readonly #options: ReadingOptions;
  readonly #budget: Required<HarvestBudget>;
  readonly #log: RequestLog;
  readonly #rows = new Map<string, HarvestRow>();
  readonly #whole: [number, number][] = [];
  readonly #classes = new Names();
  readonly #properties = new Names();
  #failures = 0;
  #complete = true;

  constructor(options: ReadingOptions) {
    const { asker, clock, signal, target, pauseMs = 250 } = options;
    this.#options = options;
    const { rows = mostRows } = options.budget ?? {};
    this.#budget = { ...defaults, ...options.budget, rows: Math.min(mostRows, rows) };
    const limits = { timeoutMs: queryTimeoutMs, maxRows: mostRows, maxBytes: 8 * mebi };
    const bounds = { budget: this.#budget, limits, pause: { ms: pauseMs, clock } };
    this.#log = new RequestLog({ asker, clock, endpoint: target.endpoint, signal, level: 1, ...bounds });
  }

  /** Tasks take turns page by page, so that one large class does not use up the budget of all. */
  async readAll(tasks: readonly HarvestTask[]): Promise<void> {
    const turns: Turn[] = tasks.map((task) => ({ task, offset: 0, plain: false }));
    for (let done = 0; turns.length > 0 && !this.#isOver; done += 1) {
      const turn = turns.shift();
      this.#tell(done, done + turns.length + 1);
      const next = turn && (await this.#take(turn));
      if (next) turns.push(next);
    }
    this.#complete &&= turns.length === 0;
  }

  harvest(): Harvest {
    const { target, clock } = this.#options;
    const { requests, bytes, ms } = this.#log.cost;
    return {
      endpoint: target.endpoint.url,
      describedAt: target.description.finishedAt,
      harvestedAt: new Date(clock.now()).toISOString(),
      complete: this.#complete,
      classes: this.#classes.all,
      properties: this.#properties.all,
      rows: [...this.#rows.values()],
      whole: this.#whole,
      cost: { requests, bytes, ms },
    };
  }

  get #isOver(): boolean {
    const isSpent = this.#log.isSpent || this.#rows.size >= this.#budget.rows;
    return isSpent || this.#failures >= failuresInARow || this.#log.unreachable;
  }

  #tell(done: number, total: number): void {
    const { requests, bytes } = this.#log.cost;
    const figures = { requests, bytes, rows: this.#rows.size };
    this.#options.onProgress?.({ stage: "labels and values", done, total, figures });
  }

  async #take(turn: Turn): Promise<Turn | undefined> {
    return turn.task.kind === "values" ? this.#takeValues(turn.task) : this.#takeLabels(turn);
  }

  async #takeValues(task: HarvestTask): Promise<undefined> {
    const counted = (task.triples ?? 0) <= mostCounted;
    const answer = await this.#ask(valuesQuery(task, this.#options.target.description, counted));
    if (answer === undefined) return;
    for (const row of answer.rows) this.#keep(task, row);
    const isAll = answer.rows.length < Math.min(mostValues, this.#cap) && answer.partial === undefined;
    if (isAll) this.#whole.push([this.#classes.place(task.class), this.#properties.place(task.property)]);
    else this.#complete = false;
  }

  async #takeLabels({ task, offset, plain }: Turn): Promise<Turn | undefined> {
    const limit = Math.min(pageSize, this.#cap);
    const answer = await this.#ask(labelsQuery(task, this.#options.target.description, { limit, offset, plain }));
    // Once more without degrees, which may be too much work.
    if (answer === undefined) return plain ? undefined : { task, offset, plain: true };
    for (const row of answer.rows) this.#keep(task, row);
    if (answer.rows.length < limit) return undefined;
    if (offset + limit < mostEntities) return { task, offset: offset + limit, plain };
    this.#complete = false;
    return undefined;
  }

  get #cap(): number {
    return this.#options.target.rowCap ?? Number.POSITIVE_INFINITY;
  }

  /** Undefined when no answer came. */
  async #ask(query: string): Promise<WholeAnswer | undefined> {
    const attempt = await this.#log.ask(query);
    if (attempt?.value === undefined) {
      this.#failures += 1;
      this.#complete = false;
      return undefined;
    }
    this.#failures = 0;
    return attempt.value;
  }

  #keep(task: HarvestTask, row: ReadonlyMap<string, RDF.Term>): void {
    const [subject, value, count] = [row.get("s"), row.get("v"), row.get("n")];
    if (value?.termType !== "Literal" || !isName(value.value) || this.#rows.size >= this.#budget.rows) return;
    const iri = subject === undefined ? "" : iriOf(subject);
    const literal = literalText(value);
    // A datatype may be as long as it likes.
    if (iri === undefined || literal.length > longestStored) return;
    const [classAt, propertyAt] = [this.#classes.place(task.class), this.#properties.place(task.property)];
    const degree = (count && wholeNumberOf(count)) ?? -1;
    this.#rows.set(`${iri} ${classAt} ${propertyAt} ${literal}`, [iri, literal, classAt, propertyAt, degree]);
  }
}

/** Neither long nor invisible texts are names. */
const isName = (text: string): boolean => text.length <= longestLiteral && /[\p{L}\p{N}]/u.test(text);

/** IRIs by the place they have in a list. */
class Names {
  readonly all: string[] = [];
  readonly #places = new Map<string, number>();

  /** -1 for none. */
  place(name: string | undefined): number {
    if (name === undefined) return -1;
    const place = this.#places.get(name) ?? this.all.push(name) - 1;
    this.#places.set(name, place);
    return place;
  }
}

const fromGraphs = ({ graphs = [] }: VoidDescription): string => from(graphs);

function patternOf(task: HarvestTask, { namedGraphs }: VoidDescription): string {
  const type = task.class === undefined ? [] : [`?s a ${written(task.class)}`];
  return `${matched([...type, `?s ${written(task.property)} ?v`], namedGraphs !== undefined)}FILTER(isLiteral(?v)) `;
}

/** Different values, where they are counted the most frequent first. */
function valuesQuery(task: HarvestTask, description: VoidDescription, counted: boolean): string {
  const where = `${fromGraphs(description)} WHERE { ${patternOf(task, description)}}`;
  return counted
    ? `SELECT ?v (COUNT(*) AS ?n)${where} GROUP BY ?v ORDER BY DESC(?n) LIMIT ${mostValues}`
    : `SELECT DISTINCT ?v${where} LIMIT ${mostValues}`;
}

/**
 * One page of entities with their labels and, unless `plain`, in how many triples each of them is. Pages are not ordered, which
 * would make an endpoint sort a whole class for each of them; one that mixes them up gives some entities twice and others not.
 */
function labelsQuery(
  task: HarvestTask,
  description: VoidDescription,
  how: { readonly limit: number; readonly offset: number; readonly plain: boolean },
): string {
  const graphs = fromGraphs(description);
  const offset = how.offset === 0 ? "" : ` OFFSET ${how.offset}`;
  const page = `WHERE { ${patternOf(task, description)}FILTER(isIRI(?s)) } LIMIT ${how.limit}${offset}`;
  if (how.plain) return `SELECT ?s ?v${graphs} ${page}`;
  const isNamed = description.namedGraphs !== undefined;
  const triples = ["?s ?p ?o", "?o ?p ?s"].map((triple) => `{ ${matched([triple], isNamed)}}`);
  const around = triples.join(" UNION ");
  return `SELECT ?s ?v (COUNT(*) AS ?n)${graphs} WHERE { { SELECT ?s ?v ${page} } ${around} } GROUP BY ?s ?v`;
}

/** One property of the instances of a class, or of all subjects. */
interface HarvestTask {
  /** "labels": the subjects with their names; "values": what different values there are. */
  readonly kind: "labels" | "values";
  readonly class?: string | undefined;
  readonly property: string;
  /** Triples and different values, where known. */
  readonly triples?: number | undefined;
  readonly distinct?: number | undefined;
}

/** Properties of well-known vocabularies whose values are names of their subjects. */
const labelProperties: ReadonlySet<string> = new Set([
  rdfs.label,
  "http://www.w3.org/2004/02/skos/core#prefLabel",
  "http://www.w3.org/2004/02/skos/core#altLabel",
  "http://schema.org/name",
  "https://schema.org/name",
  "http://schema.org/alternateName",
  "https://schema.org/alternateName",
  "http://xmlns.com/foaf/0.1/name",
  "http://purl.org/dc/terms/title",
  "http://purl.org/dc/elements/1.1/title",
]);
/** A local name that ends like this says that the values are names. */
const labelName = /(?:name|label|title)$/i;

/** True if a property holds names of its subjects, judged by its own name. */
export const isLabel = (property: string): boolean =>
  labelProperties.has(property) || labelName.test(iriParts(property).local);

const textTypes: ReadonlySet<string> = new Set([xsd.string, ...languageTypes]);
/** More different values are no choice; one of them is found by asking the endpoint. */
const mostDistinct = 10_000;
/** Numbers, dates and codes are worth knowing only when they are a handful. */
const mostDistinctOther = 30;
const mostTasks = 2_000;

/**
 * Values to read from an endpoint, most useful first: of text properties, then names of entities, then other
 * literals; the largest classes first.
 */
function harvestTasks(description: VoidDescription): readonly HarvestTask[] {
  const placed = new Set<string>();
  const all: PlannedTask[] = [];
  for (const { class: iri, properties } of description.classPartitions) {
    for (const partition of properties) {
      placed.add(partition.property);
      all.push(...tasksOf(partition, iri));
    }
  }
  for (const partition of description.propertyPartitions) {
    if (!placed.has(partition.property)) all.push(...tasksOf(partition, undefined));
  }
  const texts = all.filter(({ kind, distinct = 0, other }) => kind === "values" && !other && distinct <= mostDistinct);
  const labels = all.filter(({ kind }) => kind === "labels");
  const others = all.filter(({ kind, other }) => kind === "values" && other).filter(isChoice);
  return [...texts, ...labels, ...others].slice(0, mostTasks);
}

/** A few values that come again and again: a choice, not measurements or numbers that identify. */
const isChoice = ({ triples = 0, distinct }: HarvestTask): boolean =>
  distinct !== undefined && distinct <= mostDistinctOther && triples >= 3 * distinct;

function tasksOf(partition: PropertyPartition, of: string | undefined): readonly PlannedTask[] {
  const { property, triples, distinctObjects } = partition;
  if (!isWritable(property) || (of !== undefined && !isWritable(of))) return [];
  const literals = literalsOf(partition);
  if (literals === "none") return [];
  const kind = literals === "text" && isLabel(property) ? "labels" : "values";
  const counts = { triples: triples?.value, distinct: distinctObjects?.value };
  return [{ kind, class: of, property, ...counts, other: literals === "other" }];
}

interface PlannedTask extends HarvestTask {
  readonly other: boolean;
}

/** Kinds of literals of a property; where nothing is known they may be texts. */
function literalsOf({ datatypes, objectClasses, objectsComplete }: PropertyPartition): "none" | "text" | "other" {
  if (datatypes.some(({ iri }) => textTypes.has(iri))) return "text";
  if (datatypes.length > 0) return "other";
  return objectsComplete || objectClasses.length > 0 ? "none" : "text";
}
