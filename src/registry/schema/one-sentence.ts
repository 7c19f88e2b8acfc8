import { wellKnownPrefixes } from "../../rdf/well-known-prefixes.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { DescribedSchema } from "../model/described-schema.ts";
import type { EndpointModel } from "../model/endpoint-models.ts";
import type { KnownCount, KnownTerm } from "../model/schema.ts";
import { listing, nounOf, readableName, readableText, severalOf } from "./names-in-words.ts";
import { foldedName } from "../find/words/words.ts";
import { iriParts, plainText } from "../../rdf/display-text.ts";

const longest = 200;
const mostTopics = 3;
const mostProperties = 4;

type Entry = Pick<CatalogEntry, "keywords"> & Partial<Pick<CatalogEntry, "id" | "title">>;

/** Sentences that were made; a schema and an entry are replaced when they change. */
const sentences = new WeakMap<
  DescribedSchema,
  { readonly entry: Entry | undefined; readonly text: string | undefined }
>();

/**
 * One sentence of at most 200 characters that lets a reader choose among endpoints: the publisher's description, else what the
 * data are (a vocabulary, a catalogue, measurements), their main kinds of things with one rounded number, keywords and links.
 * Undefined when the endpoint is not described, or the description knows none of that.
 */
export function oneSentence({
  described,
  entry,
}: Pick<EndpointModel, "described"> & { readonly entry?: Entry | undefined }) {
  if (described === undefined) return undefined;
  const before = sentences.get(described);
  if (before !== undefined && before.entry === entry) return before.text;
  const text = sentenceOf(described, entry);
  sentences.set(described, { entry, text });
  return text;
}

function sentenceOf(described: DescribedSchema, entry: Entry | undefined): string | undefined {
  const told = firstSentence(described.description);
  if (told !== undefined && told.split(" ").length > 3) return sentence(told);
  const subject = contentText(described);
  const title = (told ?? titleText(described, entry))?.replace(/[.!?:]$/, "");
  if (subject === undefined) return title && sentence(title);
  const titled = title === undefined ? subject : `${title}: ${subject}`;
  const links = linksText(described);
  const abouts = [aboutText(entry, subject, 3), aboutText(entry, subject, 1), ""];
  const ends = [...abouts.map((about) => about + links), ""];
  const candidates = [titled, subject].flatMap((text) => ends.map((end) => text + end));
  return sentence(candidates.find((candidate) => candidate.length < longest) ?? subject);
}

function sentence(text: string): string {
  const line = plainText(text, longest - 1);
  return `${line.slice(0, 1).toUpperCase()}${line.slice(1)}${/[.!?…]$/.test(line) ? "" : "."}`;
}

/** The first sentence of a publisher's text, markup taken out; the text up to there when it is cut. */
function firstSentence(text: string | undefined): string | undefined {
  const line = plainText((text ?? "").slice(0, 4 * longest).replace(/<[^<>]*>/g, " "), 4 * longest);
  const end = /^.{20,}?[.!?](?= \p{Lu}|$)/u.exec(line)?.[0];
  return line === "" ? undefined : plainText(end ?? line, longest);
}

/** The publisher's title, where the entry is not called so already. */
function titleText({ title, endpoint }: DescribedSchema, entry: Entry | undefined): string | undefined {
  const line = plainText(title ?? "", 60);
  const known = [entry?.title, entry?.id, endpoint].map((name) => foldedName(name ?? ""));
  return line === "" || known.includes(foldedName(line)) ? undefined : line;
}

function contentText(described: DescribedSchema): string | undefined {
  const names = namesIn(described);
  const { genre, topics } = kindsOf(described, names);
  if (genre !== undefined) {
    const things = withAmount(genre, names);
    return `${genre.form} ${things}${topics.length === 0 ? "" : `, with ${listing(topics.map(names.several))}`}`;
  }
  const [first, ...others] = topics;
  if (first !== undefined) {
    const amount = amountText(first.count);
    if (amount === "") return listing(topics.map(names.several));
    return `${withAmount(first, names)}${others.length === 0 ? "" : `, with ${listing(others.map(names.several))}`}`;
  }
  return propertiesText(described) ?? restText(described);
}

/** A kind of thing. */
interface Topic {
  readonly name: string;
  readonly count: KnownCount | undefined;
}

/** How names are written: in the plural where they are English. */
function namesIn({ languages }: DescribedSchema) {
  const isEnglish = languages.length === 0 || languages.some((language) => /^en(?:-|$)/i.test(language));
  return { isEnglish, several: ({ name }: Topic): string => (isEnglish ? severalOf(name) : name) };
}

function withAmount(topic: Topic, names: ReturnType<typeof namesIn>): string {
  const amount = amountText(topic.count);
  if (amount === "") return names.several(topic);
  return names.isEnglish
    ? `${amount} ${amount === "1" ? topic.name : names.several(topic)}`
    : `${topic.name} (${amount})`;
}

/** Namespaces whose classes say how data is kept, not what it is about. */
const housekeeping = new Set(
  "owl rdf rdfs sd void void-ext sh virtrdf swrl wikibase xsd dcat qb prov lime faldo".split(" "),
);

/** Nouns of classes that hold other things together, or are said of anything: named when nothing else is there. */
const auxiliary = new Set(
  "annotation assignment axiom bag concept container element entity entry evidence identifier instance item list node object ontology position quad record reference resource restriction row scheme seq shape source statement state thing value version xref".split(
    " ",
  ),
);

/** Genre of a data set in which these classes have most instances. */
const genres: readonly { readonly form: string; readonly noun: string; readonly classes: RegExp }[] = [
  {
    form: "Vocabulary of",
    noun: "term",
    classes: /\/(?:owl#(?:Class|\w*Property)|rdf-schema#Class|22-rdf-syntax-ns#Property)$/,
  },
  { form: "Thesaurus of", noun: "concept", classes: /\/skos\/core#Concept$/ },
  {
    form: "Catalogue of",
    noun: "dataset",
    classes: /(?:\/dcat#(?!Record)\w+|\/void#(?:Dataset|Linkset)|schema\.org\/(?:Dataset|DataCatalog|DataDownload))$/,
  },
  { form: "Lexicon of", noun: "entry", classes: /ontolex#(?:LexicalEntry|Form|LexicalSense|Word)$/ },
  {
    form: "Measurements:",
    noun: "observation",
    classes: /[/#](?:Observation|Measurement|ObservationValue|MeasurementValue)$/,
  },
];

/** Genre of the data set, and its kinds of things, most frequent first. */
function kindsOf(described: DescribedSchema, { isEnglish }: ReturnType<typeof namesIn>) {
  const all = [...described.terms("class")].filter(({ count }) => count?.value !== 0);
  const rest = all.filter(({ iri }) => isAboutThings(iri) && !genres.some(({ classes }) => classes.test(iri)));
  const named = rest.flatMap((term): readonly Topic[] => {
    const name = nameOf(term);
    return name === undefined ? [] : [{ name, count: term.count }];
  });
  const telling = named.filter(({ name }) => !auxiliary.has(nounOf(name)) && !name.startsWith("has "));
  const topics = distinctTopics(telling.length > 0 ? telling : named, isEnglish);
  for (const { form, noun, classes } of genres) {
    const own = all.filter(({ iri }) => classes.test(iri));
    if (own.length === 0 || (rest.length > 0 && sizeOf(own) <= sizeOf(rest))) continue;
    // One count is shown, so it is one of a class, never a sum of classes that share instances.
    const main = own.find(({ iri }) => readableName(iri) === noun) ?? own[0];
    const name = (main && readableName(main.iri)) ?? noun;
    return { genre: { form, name, count: main?.count }, topics: topics.slice(0, 2) };
  }
  return { genre: undefined, topics };
}

const nameOf = ({ iri, label = "" }: KnownTerm): string | undefined => readableText(label) ?? readableName(iri);

const sizeOf = (classes: readonly KnownTerm[]): number =>
  classes.reduce((sum, { count }) => sum + (count?.value ?? 1), 0);

/** The first few that are not of the same noun, so that "reviewed protein" does not follow "protein"; all alike are shown. */
function distinctTopics(named: readonly Topic[], isEnglish: boolean): readonly Topic[] {
  const byNoun = new Map<string, Topic>();
  for (const topic of named) {
    const noun = isEnglish ? nounOf(topic.name) : topic.name;
    if (!byNoun.has(noun)) byNoun.set(noun, topic);
  }
  return [...byNoun.values()].slice(0, mostTopics);
}

/** True if a class names a subject of the data rather than a technical structure. */
export function isAboutThings(iri: string): boolean {
  const prefix = wellKnownPrefixes.get(iriParts(iri).namespace);
  return prefix === undefined || !housekeeping.has(prefix);
}

/** A number of two digits in words that keep its status; empty where a sample says nothing about the number. */
function amountText(count: KnownCount | undefined): string {
  if (count === undefined || !Number.isFinite(count.value) || count.value < 0 || count.status === "sampled") return "";
  const { value, status } = count;
  const isLeast = status === "exists" || status === "lowerBound";
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
  const rounded = (isLeast ? Math.floor(value / unit) : Math.round(value / unit)) * unit;
  if (isLeast) return rounded < 2 ? "" : `at least ${numberText(rounded)}`;
  return rounded === value && status === "exact" ? numberText(value) : `about ${numberText(rounded)}`;
}

function numberText(value: number): string {
  for (const [size, name] of [
    [1e9, "billion"],
    [1e6, "million"],
  ] as const) {
    if (value >= size) return `${(value / size).toLocaleString("en-US", { maximumFractionDigits: 1 })} ${name}`;
  }
  return value.toLocaleString("en-US");
}

const unsaying = new Set(["type", "label", "comment", "id", "identifier", "see also", "same as", "is defined by"]);

/** Sentence about properties, for data without informative classes. */
function propertiesText(described: DescribedSchema): string | undefined {
  const names = [...described.terms("property")]
    .filter(({ iri }) => !isOfKeeping(iri))
    .flatMap((term) => nameOf(term) ?? [])
    .map((name) => name.replace(/^(?:has|ref) (?=.)|(?<=.) (?:id|iri|uri)$/g, ""))
    .filter((name) => !unsaying.has(name));
  const shown = [...new Set(names)].slice(0, mostProperties);
  if (shown.length === 0) return undefined;
  const amount = amountText(described.distinctSubjects);
  return `${amount === "" ? "things" : amount === "1" ? "1 thing" : `${amount} things`} with ${listing(shown)}`;
}

const isOfKeeping = (iri: string): boolean => housekeeping.has(wellKnownPrefixes.get(iriParts(iri).namespace) ?? "");

/** Of what nothing readable is known: which vocabularies it uses, how many kinds of things or triples there are. */
function restText(described: DescribedSchema): string | undefined {
  const known = described.namespaces.flatMap((namespace) => wellKnownPrefixes.get(namespace) ?? []);
  const vocabularies = [...new Set(known)].filter((prefix) => !housekeeping.has(prefix)).slice(0, 3);
  const terms = vocabularies.length === 0 ? "" : ` in terms of ${listing(vocabularies)}`;
  const kinds = [...described.terms("class")].filter(({ iri }) => isAboutThings(iri)).length;
  const status = described.classesComplete ? "exact" : "lowerBound";
  if (kinds > 0) {
    const amount = amountText({ value: kinds, status });
    return `${amount === "" || kinds === 1 ? "one kind of thing" : `${amount} kinds of things`}${terms === "" ? " with codes for names" : terms}`;
  }
  const triples = amountText(described.triples);
  return triples === "" ? undefined : `${triples} triples${terms}`;
}

function aboutText(entry: Entry | undefined, said: string, most: number): string {
  const keywords = (entry?.keywords ?? []).map((keyword) => plainText(keyword, 30));
  const more = keywords.filter((each) => each !== "" && !said.toLowerCase().includes(each.toLowerCase()));
  return more.length === 0 ? "" : ` (${more.slice(0, most).join(", ")})`;
}

function linksText({ linksets }: DescribedSchema): string {
  const targets = [...new Set(linksets.flatMap(({ targetEndpoint }) => targetEndpoint ?? []))].toSorted();
  const shown = targets.slice(0, 3).map((target) => plainText(target, 30));
  return shown.length === 0 ? "" : `, linked to ${listing(shown)}`;
}
