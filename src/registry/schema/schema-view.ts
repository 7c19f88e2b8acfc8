import { atOnce, inTurns } from "../../clock.ts";
import type { FactStatus, VoidDescription, ClassPartition } from "../descriptions/void-description.ts";
import { classNames, classLines } from "./class-lines.ts";
import { composeView, type ViewContent, type ViewLines } from "./compose-view.ts";
import { PrefixTable } from "./prefixes.ts";
import { builtParts, type Part, withParts } from "./part-lines.ts";
import { pathLines } from "./path-lines.ts";
import { summaryLines } from "./summary-lines.ts";
import { voidLines } from "./void-lines.ts";
import { nearest } from "../../errors/nearest.ts";
import { iriParts, plainText } from "../../rdf/display-text.ts";
import { nameText } from "../find/words/words.ts";
import { valueFor } from "../../values.ts";

/**
 * How much of a schema is shown: counts and the largest classes; names of all classes; one line a class with its
 * properties and their ranges; one line a path from class to class; VoID in Turtle, one line a class.
 */
export type SchemaDetail = "summary" | "classes" | "lines" | "paths" | "void";

/** Selection of a description's parts to show. */
interface SchemaRequest {
  readonly detail: SchemaDetail;
  /** Only these classes: IRIs, `prefix:local` or local names; at most 50 are looked at. Paths lead from or to them. */
  readonly classes?: readonly string[];
  /** Most tokens of `text`, as `estimateTokens` counts; 1 to 100,000. */
  readonly maxTokens: number;
  /** Values to show in detail "lines" where room is left, most telling first. */
  readonly examples?: readonly ValueExamples[];
  /** Classes that lie here and elsewhere; default: those that the builder of a shard states. */
  readonly parts?: readonly Part[];
  /** URL of the document that holds a view of detail "void"; the dataset's, without fragment, when absent. */
  readonly document?: string;
  /** How to get what was left out, where the reader has other parameters than those of HTTP. */
  readonly more?: string;
}

/** All values of a property that has few. */
export interface ValueExamples {
  /** Absent: of all subjects. */
  readonly class?: string | undefined;
  readonly property: string;
  /** As they stand in the data, most frequent first. */
  readonly values: readonly string[];
}

/** A count in JSON; null is unknown, never 0. */
export type CountValue = { readonly value: number; readonly status: FactStatus } | null;

/** A property of a class, or of the dataset, in JSON. */
export interface SchemaProperty {
  readonly iri: string;
  readonly label?: string | undefined;
  readonly status: FactStatus;
  readonly triples: CountValue;
  readonly objectClasses: readonly string[];
  readonly datatypes: readonly string[];
  /** False: there may be values of other classes and datatypes. */
  readonly objectsComplete: boolean;
  /** Statements of a shard's builder about the whole dataset; none was found by asking. */
  readonly built?: { readonly subjectClasses: readonly string[]; readonly objectClasses: readonly string[] };
}

/** A class in JSON; `properties` only with detail "lines". */
export interface SchemaClass {
  readonly iri: string;
  readonly label?: string | undefined;
  readonly status: FactStatus;
  readonly entities: CountValue;
  readonly properties?: readonly SchemaProperty[];
  readonly propertiesComplete?: boolean;
}

/** A path in JSON; `subject` is null for subjects without a known class, `object` for values of unknown kind. */
export interface SchemaPath {
  readonly subject: string | null;
  readonly property: string;
  readonly object: string | null;
  readonly triples: CountValue;
  /** Catalogue id of the endpoint that describes the object, for links to elsewhere. */
  readonly endpoint?: string | undefined;
  /** IRI of the dataset that has the object, for links to a dataset that no endpoint of the catalogue is known for. */
  readonly dataset?: string | undefined;
  /** The class of the subject, or of the object, is stated by the builder of the shard. */
  readonly builtSubject?: true;
  readonly builtObject?: true;
}

/** A fact of the summary in JSON. */
export interface SchemaFact {
  readonly fact: string;
  readonly count?: CountValue;
  readonly complete?: boolean;
  readonly values?: readonly string[];
}

/** The facts that stand in the text, for programs. */
export interface SchemaJson {
  readonly detail: SchemaDetail;
  readonly endpoint: string;
  /** The prefixes declared in the text, with their namespaces. */
  readonly prefixes: Readonly<Record<string, string>>;
  readonly facts?: readonly SchemaFact[];
  readonly classes?: readonly SchemaClass[];
  readonly properties?: readonly SchemaProperty[];
  readonly paths?: readonly SchemaPath[];
  readonly parts?: readonly Part[];
  /** Values that the text shows, cut as there. */
  readonly examples?: readonly ValueExamples[];
  /** Wanted classes that the description does not have, each with up to three similar names. */
  readonly notFound?: readonly { readonly name: string; readonly nearest: readonly string[] }[];
}

/** Parts left out for lack of budget. */
interface Omitted {
  /** Whole lines: facts, classes, properties without a class, paths. */
  readonly lines: number;
  /** Properties left out of lines that are shown. */
  readonly properties: number;
  /** Ranges of properties, and values of facts, left out of lines that are shown. */
  readonly values: number;
  /** Lines that are not shown because a name in them is longer than 500 characters; counted in `lines` too. */
  readonly longNames: number;
}

/** A view of a schema within a budget. */
export interface SchemaView {
  readonly text: string;
  /** The same facts as `text`, no others. */
  readonly json: SchemaJson;
  /** Something known was left out; `text` says what and how to get it, where the budget has room for that. */
  readonly truncated: boolean;
  readonly omitted: Omitted;
  /** Estimated tokens of `text`; never above `maxTokens`. */
  readonly estimatedTokens: number;
  /** The description proves that nothing is missing of what this detail shows, truncation aside. */
  readonly complete: boolean;
}

const mostTokens = 100_000;

const viewLines: Readonly<Record<SchemaDetail, (content: ViewContent) => ViewLines>> = {
  summary: summaryLines,
  classes: classNames,
  lines: classLines,
  paths: pathLines,
  void: voidLines,
};

/**
 * The schema of a described endpoint in at most `maxTokens` tokens, cut at whole lines, most frequent first. Counts
 * carry their status: `~` sampled, `>=` lower bound, `*` stated by the publisher, `?` unknown.
 */
export const schemaView = (description: VoidDescription, request: SchemaRequest): SchemaView =>
  atOnce(viewSteps(description, request));

/** The same, with turns of the event loop for others between its lines. */
export const schemaViewInTurns = (description: VoidDescription, request: SchemaRequest): Promise<SchemaView> =>
  inTurns(viewSteps(description, request));

function* viewSteps(description: VoidDescription, request: SchemaRequest): Generator<void, SchemaView> {
  const table = PrefixTable.of(description);
  yield;
  const chosen = chooseClasses(description, table, request.classes);
  const content: ViewContent = {
    description,
    table,
    chosen,
    examples: request.examples ?? [],
    labels: tellingLabels(description),
    parts: request.parts ?? builtParts(description.built),
    built: new Map(description.built?.properties.map((each) => [each.property, each])),
    document: request.document,
  };
  const maxTokens = Math.min(mostTokens, Math.max(1, Math.floor(request.maxTokens) || 1));
  const own = viewLines[request.detail](content);
  const lines = request.more === undefined ? own : { ...own, more: request.more };
  const shown = request.detail === "void" ? lines : withParts(content, lines);
  return yield* composeView(shown, { content, detail: request.detail, maxTokens });
}

/** The classes that a view is about. */
export interface ChosenClasses {
  /** No choice was made: everything is shown, also what belongs to no class. */
  readonly all: boolean;
  /** In the order of the description. */
  readonly partitions: readonly ClassPartition[];
  readonly iris: ReadonlySet<string>;
  readonly notFound: readonly { readonly name: string; readonly nearest: readonly string[] }[];
}

const mostNames = 50;
/** Suggestions compare letter by letter, so their number and length are kept small. */
const mostSuggestedFor = 5;
const mostCompared = 1_000;
const longestCompared = 60;

/** Finds the wanted classes by IRI, `prefix:local` or local name; a local name may stand for several classes. */
function chooseClasses(
  description: VoidDescription,
  table: PrefixTable,
  wanted: readonly string[] | undefined,
): ChosenClasses {
  const partitions = description.classPartitions;
  const names = (wanted ?? []).map((name) => name.trim()).filter((name) => name !== "");
  if (names.length === 0) {
    return { all: true, partitions, iris: new Set(partitions.map((each) => each.class)), notFound: [] };
  }
  const find = classFinder(partitions, table);
  const iris = new Set<string>();
  const notFound = new Set<string>();
  for (const name of names.slice(0, mostNames)) {
    const found = find(name);
    for (const iri of found) iris.add(iri);
    if (found.length === 0) notFound.add(name);
  }
  return {
    all: false,
    partitions: partitions.filter((each) => iris.has(each.class)),
    iris,
    notFound: [...notFound].map((name, at) => ({
      name: plainText(name, 100),
      nearest: at < mostSuggestedFor ? similar(partitions, table, name) : [],
    })),
  };
}

function classFinder(partitions: readonly ClassPartition[], table: PrefixTable): (name: string) => readonly string[] {
  const known = new Set(partitions.map((each) => each.class));
  const byLocalName = Map.groupBy(known, (iri) => iriParts(iri).local.toLowerCase());
  return (name) => {
    const iri = name.startsWith("<") && name.endsWith(">") ? name.slice(1, -1) : name;
    const exact = [iri, table.expand(name) ?? iri].filter((each) => known.has(each));
    if (exact.length > 0) return exact;
    const alike = byLocalName.get(name.toLowerCase()) ?? [];
    const same = alike.filter((each) => iriParts(each).local === name);
    return same.length > 0 ? same : alike;
  };
}

function similar(partitions: readonly ClassPartition[], table: PrefixTable, name: string): readonly string[] {
  const byLocal = new Map<string, string>();
  for (const { class: iri } of partitions.slice(0, mostCompared)) {
    const { local } = iriParts(iri);
    if (local !== "" && local.length <= longestCompared && iri.length <= 300 && !byLocal.has(local))
      byLocal.set(local, iri);
  }
  const wanted = (iriParts(name).local || name).slice(0, longestCompared);
  return nearest(wanted, byLocal.keys()).map((local) => table.short(valueFor(byLocal, local)).text);
}

/** The labels that say more than the name in the IRI does, for readers of that name. */
const tellingLabels = (description: VoidDescription): ReadonlyMap<string, string> =>
  new Map([...labelsOf(description)].filter(([iri, label]) => nameText(label) !== nameText(iriParts(iri).local)));

/** Labels of the classes and properties of a description by IRI. */
const labelsOf = ({ terms = [] }: VoidDescription): ReadonlyMap<string, string> =>
  new Map(terms.flatMap(({ iri, label }) => (label === undefined ? [] : [[iri, label] as const])));
