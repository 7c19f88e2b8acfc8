import { rdf, xsd } from "../../../src/rdf/vocabularies.ts";
import { type Query, parseQuery } from "../../../src/sparql/query.ts";
import { invalidInput } from "../load/input.ts";
import { hasGraph, type Statement } from "../load/statement.ts";
import type { ShardQuery } from "../rules/problem.ts";
import { isYear, localName, wordsOf } from "./renaming.ts";
import { type Constant, ValueUses } from "./value-uses.ts";

/** Values of a property in the data. */
export interface PropertyFacts {
  hasTexts: boolean;
  hasThings: boolean;
  isYears: boolean;
}

/** A query, its questions by id, and the values that it names. */
export interface ReadQuery extends Pick<ShardQuery, "same"> {
  readonly parsed: Query;
  readonly questions: ReadonlyMap<string, string>;
  readonly constants: readonly Constant[];
}

/** Bounds the memory, which grows with the words. */
const mostWords = 2_000_000;

/** Findings of a first pass over queries, data and ontology. */
export class DataFacts {
  readonly uses = new ValueUses();
  readonly properties = new Map<string, PropertyFacts>();
  /** Texts that stand in questions, with their properties. */
  readonly mentions = new Map<string, Set<string>>();
  readonly words = new Set<string>();
  readonly #phrases = new Set<string>();
  readonly #dataset: string;

  constructor(dataset: string) {
    this.#dataset = dataset;
  }

  learnQuery(query: ShardQuery): ReadQuery {
    const { same, question, questions: others = {} } = query;
    const parsed = parseQuery(query.text);
    const questions = new Map<string, string>();
    for (const id of same) {
      const asked = others[id] ?? question;
      if (asked !== undefined) questions.set(id, asked);
      for (const phrase of phrasesOf(asked ?? "")) this.#phrases.add(phrase);
    }
    const constants = this.uses.add(query.id, parsed);
    for (const { node } of constants) this.#addWords(String(node["value"]));
    return { same, parsed, questions, constants };
  }

  learn(statement: Statement): void {
    if (hasGraph(statement)) throw invalidInput(this.#dataset, "twins of datasets with named graphs are not made");
    const [subject, predicate, object] = termsOf(statement);
    this.uses.schema.add(predicate);
    this.#addWords(localName(subject));
    const { value, datatype } = object;
    this.#addWords(datatype === undefined ? localName(value) : value);
    if (predicate === rdf.type) {
      this.uses.schema.add(value);
      if (schemaClass.test(value)) this.uses.schema.add(subject);
      return;
    }
    const facts = this.properties.get(predicate) ?? { hasTexts: false, hasThings: false, isYears: true };
    this.properties.set(predicate, facts);
    facts.hasThings ||= datatype === undefined;
    facts.hasTexts ||= isText(datatype);
    facts.isYears &&= isYear(value);
    if (datatype !== undefined && this.#phrases.has(value))
      this.mentions.set(value, (this.mentions.get(value) ?? new Set()).add(predicate));
  }

  learnSchema(statement: Statement): void {
    const [subject, predicate, object] = termsOf(statement);
    for (const iri of [subject, predicate]) this.uses.schema.add(iri);
    if (object.datatype === undefined) this.uses.schema.add(object.value);
  }

  #addWords(text: string): void {
    for (const word of wordsOf(text)) this.words.add(word);
    if (this.words.size > mostWords) throw invalidInput(this.#dataset, `it has more than ${mostWords} different words`);
  }
}

const schemaClass = /^http:\/\/www\.w3\.org\/.*#(?:\w*Class|\w*Property|Datatype|Ontology|Restriction)$/u;

/** The IRIs of subject and predicate, and the object, with a datatype if it is a literal. */
export function termsOf({ bytes, start, subjectEnd, predicateEnd, objectEnd }: Statement) {
  const text = (from: number, to: number): string => bytes.toString("utf8", from, to);
  const object = text(predicateEnd + 1, objectEnd);
  const quote = object.lastIndexOf('"');
  const suffix = object.slice(quote + 1);
  const literal = {
    // The escapes of canonical N-Triples are those of JSON.
    value: quote < 0 ? object.slice(1, -1) : String(JSON.parse(object.slice(0, quote + 1))),
    datatype: quote < 0 ? undefined : suffix.startsWith("^^") ? suffix.slice(3, -1) : xsd.string,
    suffix,
  };
  return [text(start + 1, subjectEnd - 1), text(subjectEnd + 2, predicateEnd - 1), literal] as const;
}

export const isText = (datatype = ""): boolean => datatype === xsd.string || datatype.endsWith("#langString");

/** Runs of words of a question that could be names of the data. */
function phrasesOf(question: string): readonly string[] {
  const words = [...question.matchAll(/[\p{L}\p{M}\p{N}]+/gu)];
  const ends = words.map(({ index, 0: word }) => index + word.length);
  return words.flatMap(({ index }, at) => ends.slice(at, at + longestPhrase).map((end) => question.slice(index, end)));
}

const longestPhrase = 10;
