import { severalOf } from "../../../src/registry/schema.ts";
import { type Solution, valueOf, type WholeStore } from "../package/whole-store.ts";
import { rowsOfTerms } from "../verify/answer-store.ts";
import { type ClassProperty, type DataClass, rowsOf } from "./data-schema.ts";

/** Kinds of questions about a property. `filter`: by a value or another thing's name; `path`: over another thing to its value. */
export const propertyKinds = ["lookup", "filter", "superlative", "path", "group"] as const;

type PropertyKind = (typeof propertyKinds)[number];
export type QuestionKind = "count" | PropertyKind;

/** A question with the parts of its query. */
export interface DraftQuestion {
  readonly question: string;
  readonly select: string;
  readonly where: string;
  readonly tail?: string;
}

/** Parts that fill templates. */
export interface TemplateParts {
  readonly store: WholeStore;
  readonly classes: ReadonlyMap<string, DataClass>;
  /** An IRI as queries write it. */
  readonly short: (iri: string) => string;
  /** One of these, by the seed and a text that says what for. */
  readonly pick: <Item>(items: readonly Item[], purpose: string) => Item | undefined;
}

type Template = (of: DataClass, property: ClassProperty, parts: TemplateParts) => Promise<DraftQuestion | undefined>;

/** "How many ports are there?" */
export const countQuestion = (of: DataClass, { short }: TemplateParts): DraftQuestion => ({
  question: `How many ${severalOf(of.words)} are there?`,
  select: "(COUNT(?thing) AS ?count)",
  where: `?thing a ${short(of.iri)}`,
});

/**
 * Questions about one property of a class; undefined where the data allow none. Names of properties may be any part of speech, so
 * they are quoted.
 */
export const templates: Readonly<Record<PropertyKind, Template>> = {
  /** "What does the ferry "Brigid" have as "capacity"?" */
  async lookup(of, property, parts) {
    if (of.name === undefined || property.values === "things") return undefined;
    const name = await someText(`?thing a <${of.iri}> ; <${property.iri}> ?any ; <${of.name}> ?value`, parts);
    if (name === undefined) return undefined;
    const { short } = parts;
    return {
      question: `What does the ${of.words} ${name.quoted} have as "${property.words}"?`,
      select: "?value",
      where: `?thing a ${short(of.iri)} ; ${short(of.name)} ${name.term} ; ${short(property.iri)} ?value`,
    };
  },
  /** "Which ferries have "electric" as "fuel"?", "... "Aldvik" as "home port"?", "... more than 300 as "capacity"?" */
  async filter(of, property, parts) {
    if (property.values === "numbers") return numberFilter(of, property, parts);
    const { short } = parts;
    const link = `?thing a <${of.iri}> ; <${property.iri}>`;
    const target = targetOf(property, parts);
    if (target?.name === undefined && property.values === "things") return undefined;
    const value = await someText(
      target?.name === undefined
        ? `${link} ?value`
        : `${link} ?other . ?other a <${target.iri}> ; <${target.name}> ?value`,
      parts,
    );
    if (value === undefined) return undefined;
    const end =
      target?.name === undefined
        ? value.term
        : `?other . ?other a ${short(target.iri)} ; ${short(target.name)} ${value.term}`;
    return {
      question: `Which ${severalOf(of.words)} have ${value.quoted} as "${property.words}"?`,
      select: columnOf("thing", of),
      where: `${shown("thing", of, parts)} ; ${short(property.iri)} ${end}`,
    };
  },
  /** "Which ferry has the highest value of "capacity"?", where one has it. */
  async superlative(of, property, parts) {
    if (property.values !== "numbers") return undefined;
    const where = `${shown("thing", of, parts)} ; ${parts.short(property.iri)} ?value`;
    const best = `SELECT ?value WHERE { ?thing a <${of.iri}> ; <${property.iri}> ?value } ORDER BY DESC(?value) LIMIT 2`;
    const [first, second] = (await rowsOf(parts.store, best)).map(({ value }) => Number(valueOf(value)));
    if (first === undefined || first === second) return undefined;
    const question = `Which ${of.words} has the highest value of "${property.words}"?`;
    return { question, select: columnOf("thing", of), where, tail: "ORDER BY DESC(?value) LIMIT 1" };
  },
  /** "What does the "home port" of the ferry "Brigid" have as "latitude"?" */
  async path(of, property, parts) {
    const target = targetOf(property, parts);
    const ends = target?.properties.filter(({ values, isFunctional }) => values !== "things" && isFunctional) ?? [];
    const end = parts.pick(ends, `end of ${of.iri} ${property.iri}`);
    if (target === undefined || end === undefined || of.name === undefined) return undefined;
    const start = `?thing a <${of.iri}> ; <${of.name}> ?value ; <${property.iri}> ?other . ?other <${end.iri}> ?any`;
    const name = await someText(start, parts);
    if (name === undefined) return undefined;
    const { short } = parts;
    return {
      question: `What does the "${property.words}" of the ${of.words} ${name.quoted} have as "${end.words}"?`,
      select: "?value",
      where: `?thing a ${short(of.iri)} ; ${short(of.name)} ${name.term} ; ${short(property.iri)} ?other . ?other a ${short(target.iri)} ; ${short(end.iri)} ?value`,
    };
  },
  /** "How many ferries are there for each value of "home port"?" */
  async group(of, property, parts) {
    const target = targetOf(property, parts);
    if (!property.isChoice || (property.values !== "texts" && target === undefined)) return undefined;
    const { short } = parts;
    const key = target === undefined ? "?other" : columnOf("other", target);
    const named = target === undefined ? "" : ` . ${shown("other", target, parts)}`;
    return {
      question: `How many ${severalOf(of.words)} are there for each value of "${property.words}"?`,
      select: `${key} (COUNT(?thing) AS ?count)`,
      where: `?thing a ${short(of.iri)} ; ${short(property.iri)} ?other${named}`,
      tail: `GROUP BY ${[...new Set(["?other", key])].join(" ")}`,
    };
  },
};

/** The class that all values of a property are of. */
const targetOf = ({ target }: ClassProperty, { classes }: TemplateParts): DataClass | undefined =>
  target === undefined ? undefined : classes.get(target);

/** Column that shows an instance in answers: its name where each has one of its own. */
const columnOf = (variable: string, { name }: DataClass): string =>
  name === undefined ? `?${variable}` : `?${variable}Name`;

const shown = (variable: string, of: DataClass, { short }: TemplateParts): string =>
  `?${variable} a ${short(of.iri)}${of.name === undefined ? "" : ` ; ${short(of.name)} ${columnOf(variable, of)}`}`;

/** Two thirds of the different values are not above the limit. */
async function numberFilter(of: DataClass, property: ClassProperty, parts: TemplateParts) {
  const values = `SELECT DISTINCT ?value WHERE { ?thing a <${of.iri}> ; <${property.iri}> ?value } ORDER BY ?value LIMIT ${mostValues}`;
  const rows = await rowsOf(parts.store, values);
  const limit = valueOf(rows[Math.floor((rows.length * 2) / 3) - 1]?.["value"]);
  // Other spellings of numbers have no place in a sentence.
  if (!/^-?\d+(?:\.\d+)?$/u.test(limit)) return undefined;
  return {
    question: `Which ${severalOf(of.words)} have more than ${limit} as "${property.words}"?`,
    // Something with several values is there once.
    select: `${property.isFunctional ? "" : "DISTINCT "}${columnOf("thing", of)}`,
    where: `${shown("thing", of, parts)} ; ${parts.short(property.iri)} ?value FILTER(?value > ${limit})`,
  };
}

const mostValues = 10_000;
const longestText = 80;

/** A text that the pattern binds `?value` to, as a term and in a sentence. */
async function someText(pattern: string, { store, pick }: TemplateParts) {
  const rows = await rowsOf(store, `SELECT DISTINCT ?value WHERE { ${pattern} } ORDER BY ?value LIMIT ${mostValues}`);
  const row = pick(rows.filter(isShort), pattern);
  const term = row && rowsOfTerms(["value"], [row])?.[0]?.[0];
  return term === undefined ? undefined : { term, quoted: `"${valueOf(row?.["value"])}"` };
}

const isShort = ({ value }: Solution): boolean => {
  const text = valueOf(value);
  return text !== "" && text.length <= longestText && !/["\p{Cc}]/u.test(text);
};
