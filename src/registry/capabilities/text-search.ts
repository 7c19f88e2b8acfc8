import { type Static, Type } from "typebox";
import type { WholeAnswer } from "../../outbound/whole-answer.ts";
import { stringText } from "../../rdf/term-text.ts";
import { isStopWord } from "../find/words/question-words.ts";
import { fold } from "../find/words/words.ts";
import { exactly, type Frozen, text } from "../descriptions/void-description.ts";
import type { Probe } from "./probes.ts";

/** Full-text extensions of SPARQL by the engine that has them. */
const textSyntaxes = ["virtuoso", "blazegraph", "jena", "qlever", "wikibase"] as const;

export const textSearchSchema = exactly({
  syntax: Type.Enum(textSyntaxes),
  /** wikibase: host of the wiki whose entities are searched. */
  site: Type.Optional(text(253)),
});

/** How an endpoint's own full-text index is asked. */
export type TextSearch = Frozen<Static<typeof textSearchSchema>>;

interface Wanted {
  /** As written between spaces, without `"` and `\`, which end a phrase. */
  readonly parts: readonly string[];
  /** Letters and digits only. */
  readonly words: readonly string[];
  readonly limit: number;
  readonly site?: string | undefined;
  readonly language: string;
}

/** Each word as a phrase, so that no engine takes `OR` or `near` for an operator. */
const phrases = (words: readonly string[]): string => stringText(words.map((word) => `"${word}"`).join(" AND "));
const plain = ({ words }: Wanted): string => stringText(words.join(" "));

const blazegraph = "http://www.bigdata.com/rdf/search#";
const qlever = "http://qlever.cs.uni-freiburg.de/builtin-functions/";

/** Patterns that bind `?s` and its label `?v` by the property `?p`. */
const patterns: Readonly<Record<TextSearch["syntax"], (wanted: Wanted) => string>> = {
  virtuoso: ({ words }) => `?s ?p ?v . ?v <bif:contains> ${phrases(words)} .`,
  blazegraph: (wanted) =>
    `?v <${blazegraph}search> ${plain(wanted)} ; <${blazegraph}matchAllTerms> "true" ; <${blazegraph}maxRank> "${wanted.limit}" . ?s ?p ?v .`,
  // Lucene takes words apart as it did those of the data: "O'Neill" is one.
  jena: ({ parts, limit }) => `?s <http://jena.apache.org/text#query> (${phrases(parts)} ${limit}) . ?s ?p ?v .`,
  qlever: (wanted) => `?t <${qlever}contains-word> ${plain(wanted)} . ?t <${qlever}contains-entity> ?v . ?s ?p ?v .`,
  // Its prefixes are not declared: any other engine refuses them, instead of calling a service of this name.
  wikibase: (wanted) => {
    const { site = "", language, limit } = wanted;
    return `SERVICE wikibase:mwapi { bd:serviceParam wikibase:endpoint ${stringText(site)} ; wikibase:api "EntitySearch" ; wikibase:limit ${Math.min(50, limit)} . bd:serviceParam mwapi:search ${plain(wanted)} ; mwapi:language ${stringText(language)} . ?s wikibase:apiOutputItem mwapi:item . } ?s ?p ?v . FILTER(LANG(?v) = ${stringText(language)})`;
  },
};

const labelProperties = [
  "http://www.w3.org/2000/01/rdf-schema#label",
  "http://www.w3.org/2004/02/skos/core#prefLabel",
  "http://www.w3.org/2004/02/skos/core#altLabel",
  "http://schema.org/name",
  "https://schema.org/name",
  "http://xmlns.com/foaf/0.1/name",
  "http://purl.org/dc/terms/title",
];

const longestText = 200;
const mostWords = 8;

/** Without stop words, which engines do not index, unless there is nothing else; at most eight. */
function telling(words: readonly string[]): readonly string[] {
  const found = words.filter((word) => !isStopWord(fold(word)));
  return (found.length > 0 ? found : words).slice(0, mostWords);
}

/** Searchable parts of a text, without characters that could end the string literal around them. */
function wantedOf(given: string) {
  const start = given.slice(0, longestText);
  const parts = start
    .replaceAll(/["\\\p{Cc}\p{Cs}]/gu, " ")
    .split(/\s+/u)
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  return { parts: telling(parts), words: telling(start.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? []) };
}

/** A query for nodes with all words of a text in their label, as `?s`, `?p` and `?v`; undefined for a text without words. */
export function textQuery(
  { syntax, site }: TextSearch,
  given: string,
  { limit, language = "en" }: { readonly limit: number; readonly language?: string },
): string | undefined {
  const wanted = wantedOf(given);
  if (wanted.words.length === 0) return undefined;
  const pattern = patterns[syntax]({ ...wanted, limit, site, language });
  const properties = labelProperties.map((iri) => `<${iri}>`).join(", ");
  return `SELECT ?s ?p ?v WHERE { ${pattern} FILTER(?p IN (${properties})) } LIMIT ${limit}`;
}

/** A label that the endpoint has. */
interface Sample {
  readonly iri: string;
  readonly label: string;
  readonly language: string;
}

const samplesAsked = 20;

/** Reads a few labels, whatever they are: a search is proved by finding one of them again. */
export const sampleProbes: readonly Probe[] = labelProperties.slice(0, 2).map((property) => ({
  kind: "bindings",
  query: () => `SELECT ?s ?v WHERE { ?s <${property}> ?v } LIMIT ${samplesAsked}`,
  judge: () => undefined,
}));

/** The label with most words to find it by, of few letters though; of a wiki's entity where there is one. */
export function sampleOf({ rows }: WholeAnswer): Sample | undefined {
  const samples = rows.flatMap((row): readonly Sample[] => {
    const [subject, value] = [row.get("s"), row.get("v")];
    if (subject?.termType !== "NamedNode" || value?.termType !== "Literal" || value.value.length > 80) return [];
    const { length } = wantedOf(value.value).words;
    const isTelling = length > 0 && length < mostWords && /\p{L}{3}/u.test(value.value);
    return isTelling ? [{ iri: subject.value, label: value.value, language: value.language || "en" }] : [];
  });
  const worth = ({ iri, label }: Sample): number => wantedOf(label).words.length + (siteOf(iri) ? mostWords : 0);
  return samples.toSorted((one, other) => worth(other) - worth(one))[0];
}

const siteOf = (iri: string): string | undefined => /^https?:\/\/([a-z0-9.-]+)\/entity\/[QPL]\d+$/.exec(iri)?.[1];

/** Text searches to try for a sample, each with the probe that proves it. */
export function textProbes(sample: Sample): readonly { readonly search: TextSearch; readonly probe: Probe }[] {
  const { label, language } = sample;
  const site = siteOf(sample.iri);
  return textSyntaxes.flatMap((syntax) => {
    if (syntax === "wikibase" && site === undefined) return [];
    const search: TextSearch = syntax === "wikibase" ? { syntax, site } : { syntax };
    const query = textQuery(search, label, { limit: samplesAsked * 5, language });
    const judge: Probe["judge"] = ({ rows }) =>
      rows.some((row) => row.get("v")?.value === label) ? undefined : `${rows.length} rows without the label`;
    return query === undefined ? [] : [{ search, probe: { kind: "bindings", query: () => query, judge } }];
  });
}
