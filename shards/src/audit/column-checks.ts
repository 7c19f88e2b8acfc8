import {
  type Audited,
  classWordsOf,
  type Flag,
  isIdentifying,
  mentionsAny,
  vocabularyOf,
  wordsOfVariable,
} from "./audited.ts";
import type { Column, QueryFacts } from "./query-facts.ts";
import { wordsOf } from "./question-text.ts";

/** How a question asks for an aggregate. */
const asksFor: Readonly<Record<string, RegExp>> = {
  count: /\bhow (?:many|often|much)\b|\b(?:numbers?|count|counts|amount|size|total|frequency)\b/u,
  sum: /\bhow (?:many|much)\b|\b(?:total|sum|combined|altogether|together|number|amount)\b/u,
  avg: /\b(?:average|mean|typical|expected|averages)\b/u,
  max: /\b(?:max|maximum|most|latest|newest|top|\w+est)\b/u,
  min: /\b(?:min|minimum|least|fewest|earliest|\w+est)\b/u,
};

/** A superlative with what it measures: "the largest number of", "highest average attendance". */
const superlative =
  /(?<!\b(?:is|are|was|were|what|find|list|show|give|return|and) (?:the )?)\b(?:most|highest|largest|greatest|biggest|maximum|fewest|least|lowest|smallest|minimum|youngest|oldest|longest|shortest)\s+(?:(?:total|average|common|frequent)\s+)*(?:numbers?|amounts?|counts?|\w+)(?:\s+of\b)?|\b(?:more|fewer|less) than \w+|\b(?:in|of) total\b/gu;

/** "How long", which may mean any column. */
const measure = /\bhow (?!(?:many|much) \w|often|do|does|did|is|are|was|were|have|has|can)\w+/u;

/** Columns that the question does not ask for. */
export function columnFlags({ question, facts }: Audited): readonly Flag[] {
  const { columns, orders, limit } = facts;
  if (columns.length < 2) return [];
  const rest = question.text.replaceAll(superlative, " ");
  const restWords = rest.match(/[\p{L}\p{N}]+/gu) ?? [];
  const orderedBy = new Set(limit === undefined ? [] : orders.flatMap(({ variables }) => variables));
  const wordsOfColumn = ({ variables }: Column) => variables.flatMap((name) => wordsOfVariable(facts, name));
  const isMentioned = (column: Column): boolean =>
    mentionsAny(orderedBy.has(column.name) ? restWords : question.words, wordsOfColumn(column));
  const isAsked = (column: Column): boolean => {
    const { name, aggregate } = column;
    if (aggregate === undefined) return measure.test(question.text) || isMentioned(column);
    const isNamed = asksFor[aggregate]?.test(aggregate.startsWith("m") ? question.text : rest) ?? true;
    return isNamed || (!orderedBy.has(name) && isMentioned(column));
  };
  const asked = columns.filter(isAsked);
  /** The one name or number by which a thing is shown that the question asks for. */
  const identifies = (column: Column): boolean => {
    const others = asked.filter((other) => sameSubject(facts, column, other));
    const isShown = others.some((other) => isIdentifying(wordsOfColumn(other)));
    const isAskedFor = column.variables.some((name) => isWhich(question.words, classWordsOf(facts, name)));
    return isIdentifying(wordsOfColumn(column)) && !isShown && (others.length === 0 || isAskedFor);
  };
  /** Groups are looked at as such. */
  const isKey = ({ name }: Column): boolean => facts.keys?.includes(name) === true && !orderedBy.has(name);
  const judged = columns.filter((column) => !isKey(column));
  return judged.flatMap((column): readonly Flag[] => {
    const { name, aggregate } = column;
    const isOrder = orderedBy.has(name);
    // A question that names no column leaves the choice to the query.
    const isOpen = asked.length === 0 && !columns.some(identifies);
    if (asked.includes(column) || (!isOrder && (isOpen || identifies(column)))) return [];
    if (!isOrder && aggregate !== undefined && facts.keys === undefined) return [];
    const why = isOrder ? "only orders the rows" : "has no word in the question";
    return [{ name: "column-not-asked", evidence: `The column ?${name} ${why}.`, place: `?${name}` }];
  });
}

/** "Which ports", "Which large ferries", "Who". */
const isWhich = (words: readonly string[], classes: readonly string[]): boolean =>
  words.some((word, at) => word === "who" || (word === "which" && mentionsAny(words.slice(at + 1, at + 3), classes)));

const sameSubject = ({ subjects }: QueryFacts, left: Column, right: Column): boolean => {
  const [of, other] = [left, right].map(({ variables: [name = ""] }) => subjects.get(name) ?? new Set<string>());
  return of !== undefined && other !== undefined && !of.isDisjointFrom(other);
};

/** Grouping in a question: "for each car maker", "per type of pet", "which grades have". */
const eachOf =
  /\b(?:for every|each|per|for different|grouped by|which)\s+(?!time\b|other\b)(?:of\s+)?(?:the\s+)?(?<things>\p{L}+(?: (?!of|in|with|that|who|have|has|had|is|are|was|and|do|does|on|for|along|using)\p{L}+){0,2})/gu;

const otherGroup = (evidence: string, place = "GROUP BY"): Flag => ({ name: "grouped-otherwise", evidence, place });

/** Groups that are not those of the question. */
export function groupFlags({ question, facts, data }: Audited): readonly Flag[] {
  const { columns, keys, orders } = facts;
  if (keys === undefined && columns.every(({ aggregate }) => aggregate === undefined)) return [];
  const vocabulary = vocabularyOf(data);
  const asked = [...question.text.matchAll(eachOf)].map(([phrase, things = ""]) => {
    const words = things.split(" ").filter((word) => mentionsAny([word], vocabulary));
    return { isEach: !phrase.startsWith("which"), words, head: words.at(-1) };
  });
  if (keys === undefined) {
    const key = orders.find(({ aggregate }) => aggregate === undefined)?.variables[0];
    if (key !== undefined && !columns.some(({ name }) => name === key))
      return [otherGroup(`All rows are one group, which ?${key} cannot order.`, "ORDER BY")];
    const each = asked.find(({ isEach, head }) => isEach && head !== undefined);
    return each === undefined ? [] : [otherGroup(`The question asks for each ${each.head}; there are no groups.`)];
  }
  const named = keys.map((key) => {
    const inData = dataClassesOf(facts, data, key);
    const words = [...wordsOfVariable(facts, key), ...inData.flatMap(wordsOf)];
    return { key, words, classes: classWordsOf(facts, key), isThing: inData.length > 0 };
  });
  const isGroup = (words: readonly string[], key: (typeof named)[number]): boolean =>
    mentionsAny(words, key.words) || (isIdentifying(key.words) && mentionsAny(words, key.classes));
  // "Each harbour", where the data say port: any things may be meant.
  const isOpen = asked.some(({ isEach, head }) => isEach && head === undefined);
  const stranger = named.find((key) => !isGroup(question.words, key) && !(isOpen && key.isThing));
  if (stranger !== undefined) return [otherGroup(`The question has no word for the key ?${stranger.key}.`)];
  const missed = asked.find(
    ({ words, head, isEach }) =>
      head !== undefined &&
      !named.some((key) => mentionsAny(words, key.words) || isGroup(isEach ? [head] : words, key)),
  );
  if (missed !== undefined)
    return [otherGroup(`The question groups by ${missed.head}, the query by ?${keys.join(" ?")}.`)];
  return sharedLabels(facts, data);
}

/** Classes that the things of a variable have in the data, where the query states none: by the properties that they are objects or subjects of. */
function dataClassesOf({ classes, properties, subjects }: QueryFacts, data: Audited["data"], name: string) {
  if (data === undefined || classes.has(name)) return [];
  const asObject = [...(properties.get(name) ?? [])].flatMap((of) => Array.from(data.objectClasses.get(of) ?? []));
  const own = [...properties].flatMap(([of, each]) => (subjects.get(of)?.has(name) ? Array.from(each) : []));
  const asSubject = [...data.classes].flatMap(([iri, known]) => (own.some((each) => known.has(each)) ? [iri] : []));
  return [...asObject, ...asSubject];
}

/** A name is the only key, and several things have the same. */
function sharedLabels(
  { keys: [key = "", ...others] = [], properties }: QueryFacts,
  data: Audited["data"],
): readonly Flag[] {
  const shared = new Set([...(data?.propertiesOf.values() ?? [])].flatMap((each) => Array.from(each)));
  const isShared = [...(properties.get(key) ?? [])].some((of) => shared.has(of) && /(?:name|label|title)$/iu.test(of));
  const evidence = `Several things have the same ?${key} and are one group.`;
  return others.length === 0 && isShared ? [otherGroup(evidence)] : [];
}
