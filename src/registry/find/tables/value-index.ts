import { setImmediate } from "node:timers/promises";
import type { Embedder } from "../../../embeddings/embedder.ts";
import { plainText } from "../../../rdf/display-text.ts";
import type { Harvest, HarvestRow } from "../read/harvest.ts";
import { createLabelTable, type LabelMatch, type LabelTable } from "./label-table.ts";
import { mentionsIn } from "../rank/mentions.ts";
import { type PlacedText, TextVectors } from "./text-vectors.ts";
import { itemAt, parsedJson } from "../../../values.ts";
import type { ValueExamples } from "../../schema/schema-view.ts";

/** A thing with a name, or a value that a property has. */
type ValueKind = "entity" | "value";

/** A search for values. */
export interface ValueRequest {
  /** Labels, values or whole questions, in which the names that occur are looked for; 20 texts of 500 characters. */
  readonly texts: readonly string[];
  /** Only of these endpoints; all when absent. */
  readonly endpoints?: readonly string[] | undefined;
  /** All kinds when absent. */
  readonly kinds?: readonly ValueKind[] | undefined;
  /** Hits for each text; 1 to 100. */
  readonly limit: number;
}

/** One entity or value with where it occurs. Hits of equal label stand side by side, so that homonyms can be distinguished. */
export interface ValueHit {
  /** The text of the request that it was found for. */
  readonly text: string;
  readonly kind: ValueKind;
  /** Id of the endpoint. */
  readonly endpoint: string;
  /** As N-Triples: the entity's IRI, or the value. */
  readonly term: string;
  /** The label or value as N-Triples, just as it stands in the data, language and datatype included. */
  readonly literal: string;
  /** The same for readers: on one line, cut to 200 characters. Foreign text. */
  readonly label: string;
  /** IRI of the class of the entity, or of the subjects that have the value. */
  readonly class?: string | undefined;
  /** IRI of the property that has the label or value. */
  readonly property: string;
  /** Triples that the entity is in, or that have the value; absent when unknown. */
  readonly degree?: number | undefined;
  /** 0 to 1. */
  readonly score: number;
  /**
   * The same text; the same but for case, accents, signs and number; it has all the words, or one of several; nearly the same
   * letters; a like meaning.
   */
  readonly why: LabelMatch["how"];
}

/** Harvests in memory. */
export type ValueIndex = ReturnType<typeof createValueIndex>;

const mostTexts = 20;
const longestText = 500;
const longestLabel = 200;
const mostHits = 100;
/** Rows of all endpoints together; 40 MB. */
const mostInAll = 200_000;
/** Values of an endpoint, and of all, that get vectors: 8 MB. */
const mostEmbedded = 1_000;
const mostVectors = 20_000;

/** Values of an endpoint; what finding needs of them is made when somebody looks for something. */
class IndexedValues {
  readonly harvest: Harvest;
  /** Within the size limit. */
  readonly rows: readonly HarvestRow[];
  #labels: readonly string[] | undefined;
  #table: LabelTable | undefined;
  #keys: readonly KeyGroup[] | undefined;

  constructor(harvest: Harvest, mostRows: number) {
    this.harvest = harvest;
    this.rows = harvest.rows.slice(0, mostRows);
  }

  /** Texts of the rows. */
  get labels(): readonly string[] {
    return (this.#labels ??= this.rows.map(([, literal]) => literalValue(literal)));
  }

  get table(): LabelTable {
    return (this.#table ??= createLabelTable(this.labels));
  }

  keys(endpoint: string): readonly KeyGroup[] {
    return (this.#keys ??= keysOf(endpoint, this));
  }
}

interface ValueIndexOptions {
  /** Rows of all endpoints together; default 200,000. */
  readonly mostRows?: number;
  /** Lets values be found by their meaning, those of properties that have few. */
  readonly embedder?: Pick<Embedder, "embed"> | undefined;
  /** Called with why the model made no vectors; values are then found by their text alone. */
  readonly onFault?: (error: unknown) => void;
}

/** An empty index. */
export function createValueIndex(options: ValueIndexOptions = {}) {
  const { mostRows = mostInAll, embedder, onFault = () => undefined } = options;
  const vectors = embedder && new TextVectors({ embedder, onFault, most: mostVectors });
  const byEndpoint = new Map<string, IndexedValues>();
  const rowsOfOthers = (id: string): number =>
    byEndpoint.entries().reduce((sum, [other, { rows }]) => sum + (other === id ? 0 : rows.length), 0);
  return {
    /** Replaces the values of an endpoint; undefined removes them. */
    set(id: string, harvest: Harvest | undefined): void {
      if (harvest === undefined) {
        byEndpoint.delete(id);
        vectors?.set(id, undefined);
        return;
      }
      const indexed = new IndexedValues(harvest, Math.max(0, mostRows - rowsOfOthers(id)));
      byEndpoint.set(id, indexed);
      vectors?.set(id, () => textsOf(indexed));
    },
    /** Best first within each text, the texts in their order. */
    async find({ texts, endpoints, kinds, limit }: ValueRequest): Promise<readonly ValueHit[]> {
      const searched = [...byEndpoint].filter(([id]) => endpoints === undefined || endpoints.includes(id));
      const most = Math.min(mostHits, Math.max(1, limit));
      const asked = texts.slice(0, mostTexts).map((text) => text.slice(0, longestText));
      const questions = await vectors?.questions(asked);
      const nearIn = (id: string, at: number): readonly LabelMatch[] => {
        const question = questions?.[at];
        const near = question === undefined ? [] : (vectors?.nearest(id, question) ?? []);
        return near
          .slice(0, most)
          .filter(({ cosine }) => cosine >= leastNear)
          .map(byMeaning);
      };
      const found: ValueHit[] = [];
      for (const [at, text] of asked.entries()) {
        const hits: FoundHit[] = [];
        for (const [id, indexed] of searched) {
          hits.push(...hitsIn(id, indexed, { text, kinds, most, near: nearIn(id, at) }));
          // Other requests go on meanwhile.
          await setImmediate();
        }
        const telling = withoutGuesses(hits).map(({ hit }) => hit);
        found.push(...telling.toSorted(bestFirst).slice(0, most));
      }
      return found;
    },
    /** True if all names and values to read from an endpoint have been read. */
    isComplete: (id: string): boolean => byEndpoint.get(id)?.harvest.complete === true,
    /** True if all values of a property at an endpoint are known. */
    holdsAll: (id: string, property: string): boolean => isWhole(byEndpoint.get(id)?.harvest, property),
    /** Values of each property and IRIs of each class that endpoints are known to have, 100 of each. */
    keys: (): readonly KeyGroup[] => [...byEndpoint].flatMap(([id, indexed]) => indexed.keys(id)),
    /** How many labels of entities by this property are known, which is at most its number of triples there. */
    labelsBy(id: string, property: string): number {
      const { harvest, rows = [] } = byEndpoint.get(id) ?? {};
      const own = rows.filter(([iri, , , at]) => iri !== "" && harvest?.properties[at] === property);
      return new Set(own.map(([iri, literal]) => `${iri} ${literal}`)).size;
    },
    /** All values of those properties of an endpoint that have few, for its schema view: texts first, fewest values first. */
    examples: (id: string) => examplesOf(byEndpoint.get(id)),
    /** Resolves when the vectors of all that is indexed are there. */
    settled: async (): Promise<void> => vectors?.settled(),
    close: async (): Promise<void> => vectors?.close(),
  };
}

function hitsIn(
  endpoint: string,
  { harvest, rows, labels, table }: IndexedValues,
  {
    text,
    kinds,
    most,
    near,
  }: { text: string; kinds: ValueRequest["kinds"]; most: number; near: readonly LabelMatch[] },
): readonly FoundHit[] {
  const isWanted = ({ at }: LabelMatch): boolean => kinds === undefined || kinds.includes(kindOf(rows[at]));
  const best = new Map<number, LabelMatch>();
  for (const match of [...mentionsIn(table, text), ...near]) {
    if (isWanted(match) && match.score > (best.get(match.at)?.score ?? 0)) best.set(match.at, match);
  }
  return [...best.values()]
    .toSorted((left, right) => right.score - left.score || degreeOf(rows[right.at]) - degreeOf(rows[left.at]))
    .slice(0, most)
    .map(({ at, score, how, words = [] }) => {
      const [iri, literal, classAt, propertyAt, degree] = itemAt(rows, at);
      const hit: ValueHit = {
        text,
        kind: kindOf(rows[at]),
        endpoint,
        term: iri === "" ? literal : `<${iri}>`,
        literal,
        label: plainText(itemAt(labels, at), longestLabel),
        class: harvest.classes[classAt],
        property: harvest.properties[propertyAt] ?? "",
        degree: degree < 0 ? undefined : degree,
        score,
        why: how,
      };
      return { hit, words };
    });
}

/** Lowest score of a match with all words of a text; matches with some words score less. */
const leastWords = 0.5;

const isGuess = ({ why }: ValueHit): boolean => why === "spelling" || why === "meaning";
const isPart = ({ why, score }: ValueHit): boolean => why === "words" && score < leastWords;

interface FoundHit {
  readonly hit: ValueHit;
  /** Of the text, folded, that it was found for. */
  readonly words: readonly string[];
}

/**
 * Without labels that only look alike where one has each word just so, at whatever endpoint, and without those that have
 * but one word of several where anything is named.
 */
function withoutGuesses(hits: readonly FoundHit[]): readonly FoundHit[] {
  const named = hits.filter(({ hit }) => !isGuess(hit) && !isPart(hit));
  const met = new Set(named.flatMap(({ words }) => words));
  return hits.filter(({ hit, words }) => {
    if (isPart(hit)) return named.length === 0;
    return hit.why !== "spelling" || !words.every((word) => met.has(word));
  });
}

/** Least cosine of a hit: below it models find something for everything. */
const leastNear = 0.45;
const byMeaning = ({ at, cosine }: { at: number; cosine: number }): LabelMatch => ({
  at,
  score: 0.9 * Math.min(1, cosine),
  how: "meaning",
});

/** Values that get vectors: those of properties that have few, each text once. */
function textsOf({ harvest, rows, labels }: IndexedValues): readonly PlacedText[] {
  const whole = new Set(harvest.whole.map(([classAt, propertyAt]) => `${classAt} ${propertyAt}`));
  const seen = new Set<string>();
  const texts = rows.flatMap(([, , classAt, propertyAt], at) => {
    const text = itemAt(labels, at);
    const key = `${propertyAt} ${text}`;
    if (!whole.has(`${classAt} ${propertyAt}`) || seen.has(key) || !/\p{L}{3}/u.test(text)) return [];
    seen.add(key);
    return { at, text };
  });
  return texts.slice(0, mostEmbedded);
}

/** All its values were read: of any subject, or of each class where nothing was left out. */
function isWhole(harvest: Harvest | undefined, property: string): boolean {
  const pairs = harvest?.whole.filter(([, propertyAt]) => harvest.properties[propertyAt] === property) ?? [];
  return pairs.some(([classAt]) => classAt === -1 || harvest?.complete === true);
}

const kindOf = (row: HarvestRow | undefined): ValueKind => (row?.[0] === "" ? "value" : "entity");
const degreeOf = (row: HarvestRow | undefined): number => row?.[4] ?? -1;

/** Ties by degree, so that the better known of two homonyms comes first. */
export const bestFirst = (left: ValueHit, right: ValueHit): number =>
  right.score - left.score ||
  (right.degree ?? -1) - (left.degree ?? -1) ||
  left.endpoint.localeCompare(right.endpoint, "en");

/** The text of a literal in N-Triples syntax, which this service wrote. */
function literalValue(literal: string): string {
  const value = parsedJson(literal.slice(0, literal.lastIndexOf('"') + 1));
  return typeof value === "string" ? value : "";
}

/** Names that other data may refer to: values of a property, or IRIs of instances of a class. */
export interface KeyGroup {
  readonly endpoint: string;
  readonly class?: string | undefined;
  /** Absent: IRIs of the class. */
  readonly property?: string | undefined;
  /** IRIs, or literals as N-Triples. */
  readonly terms: readonly string[];
}

const mostKeys = 100;

/** The groups of an endpoint, by the values read from it. */
function keysOf(endpoint: string, { harvest, rows }: IndexedValues): readonly KeyGroup[] {
  const groups = new Map<string, KeyGroup & { readonly found: Set<string> }>();
  for (const [iri, literal, classAt, propertyAt] of rows) {
    if (iri !== "" && classAt === -1) continue;
    const property = iri === "" ? harvest.properties[propertyAt] : undefined;
    const of = { class: harvest.classes[classAt], property };
    const key = property ?? `class ${of.class}`;
    const group = groups.get(key) ?? { endpoint, ...of, terms: [], found: new Set<string>() };
    groups.set(key, group);
    if (group.found.size < mostKeys) group.found.add(iri === "" ? literal : iri);
  }
  return Array.from(groups.values(), ({ found, ...group }) => ({ ...group, terms: [...found] }));
}

/** Values of a property that are shown. */
const mostShown = 40;

const fewOnce = 10;

/** True if the values form a small set of choices; values unique to each subject count only when few. */
function isChoice(values: ReadonlyMap<string, number>): boolean {
  return values.size <= fewOnce || values.values().reduce((sum, degree) => sum + degree, 0) >= 2 * values.size;
}

interface FewValues {
  readonly classAt: number;
  readonly propertyAt: number;
  readonly isText: boolean;
  readonly values: Map<string, number>;
}

/** All values of those properties that have few. */
function examplesOf(read: IndexedValues | undefined): readonly ValueExamples[] {
  if (read === undefined) return [];
  const { harvest, rows, labels } = read;
  const whole = new Set(harvest.whole.map(([classAt, propertyAt]) => `${classAt} ${propertyAt}`));
  const found = new Map<string, FewValues>();
  for (const [at, [, literal, classAt, propertyAt, degree]] of rows.entries()) {
    const key = `${classAt} ${propertyAt}`;
    if (!whole.has(key)) continue;
    const few = found.get(key) ?? { classAt, propertyAt, isText: !literal.includes('"^^'), values: new Map() };
    found.set(key, few);
    if (few.values.size <= mostShown) few.values.set(itemAt(labels, at), degree);
  }
  return [...found.values()]
    .filter(({ values }) => values.size <= mostShown && isChoice(values))
    .toSorted((left, right) => Number(right.isText) - Number(left.isText) || left.values.size - right.values.size)
    .map(({ classAt, propertyAt, values }) => ({
      class: harvest.classes[classAt],
      property: harvest.properties[propertyAt] ?? "",
      values: [...values]
        .toSorted((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1))
        .map(([value]) => value),
    }));
}
