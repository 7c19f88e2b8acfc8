import type { Count } from "../void-description.ts";
import type { Todo } from "./todo.ts";
import type { CountName, Counts, Fact, FactList } from "../facts.ts";
import { existing, type FactBase } from "./fact-base.ts";

/**
 * Makes the facts agree with each other. Items seen anywhere are added to the lists: a list that lacked one was not
 * complete. A part that exceeds its whole shows that both were counted wrongly or at different times: neither stays, and
 * `todo` notes it.
 */
export function reconcile(base: FactBase, todo: Todo): void {
  for (const { properties } of base.classes.values()) list(base.properties, properties);
  for (const { properties } of [base, ...base.classes.values()])
    for (const { objectClasses } of properties.values()) list(base.classes, objectClasses);
  compareCounts(base, todo);
  weakenTotals(base);
}

/** Adds items seen in a part of the dataset to the list of the dataset. */
function list(whole: FactList, part: FactList): void {
  for (const [iri, fact] of part) {
    if (whole.has(iri)) continue;
    whole.complete = false;
    whole.known(iri, existing(fact));
  }
}

/**
 * The dataset; the sum of its properties; a class; a property; a property within a class; a class or datatype of its
 * objects, or the sum of the datatypes, and the property whose they are.
 */
type Scope = "dataset" | "properties" | "class" | "property" | "property within" | "object" | "datatypes" | "holder";

/** Upper bounds: a part's count cannot exceed its whole's; a property has at most subjects times objects triples. */
const rules: readonly (readonly [part: Scope, CountName, whole: Scope, CountName | "pairs"])[] = [
  ["dataset", "distinctSubjects", "dataset", "triples"],
  ["dataset", "distinctObjects", "dataset", "triples"],
  ["dataset", "triples", "properties", "triples"],
  ["properties", "triples", "dataset", "triples"],
  ["property", "triples", "dataset", "triples"],
  ["property", "triples", "property", "pairs"],
  ["property", "distinctSubjects", "property", "triples"],
  ["property", "distinctSubjects", "dataset", "distinctSubjects"],
  ["property", "distinctObjects", "property", "triples"],
  ["property", "distinctObjects", "dataset", "distinctObjects"],
  ["class", "entities", "dataset", "distinctSubjects"],
  ["class", "entities", "class", "triples"],
  ["class", "triples", "dataset", "triples"],
  ["property within", "triples", "property", "triples"],
  ["property within", "triples", "property within", "pairs"],
  ["property within", "distinctSubjects", "property within", "triples"],
  ["property within", "distinctSubjects", "property", "distinctSubjects"],
  ["property within", "distinctSubjects", "class", "entities"],
  ["property within", "distinctObjects", "property within", "triples"],
  ["property within", "distinctObjects", "property", "distinctObjects"],
  ["object", "triples", "holder", "triples"],
  ["datatypes", "triples", "holder", "triples"],
];

/** A counted part, and its whole. */
interface CountedPart {
  readonly scope: Scope;
  /** Ending of the names of its counts, e.g. ` of <http://...>`. */
  readonly name: string;
  readonly counts: Partial<Record<Scope, Counts>>;
}

function compareCounts(base: FactBase, todo: Todo): void {
  for (const fact of base.classes.values()) addTriples(fact);
  for (const place of placesIn(base)) {
    for (const [scope, part, of, whole] of rules) {
      if (scope !== place.scope) continue;
      const kept = compare(place, { scope, name: part }, { scope: of, name: whole });
      if (!kept) todo.note({ what: `${part}${place.name}, more than ${whole} of the ${of}`, why: "contradicted" });
    }
  }
  for (const fact of base.classes.values()) {
    // A sum that cannot be was made of counts that cannot be trusted either.
    if (fact.triples === undefined) for (const within of fact.properties.values()) within.triples = undefined;
    addTriples(fact);
  }
}

function* placesIn({ totals: dataset, ...base }: FactBase): Generator<CountedPart> {
  const properties = { triples: summed(base.properties) };
  yield { scope: "dataset", name: "", counts: { dataset, properties } };
  yield { scope: "properties", name: " of all properties", counts: { dataset, properties } };
  for (const [iri, property] of base.properties) {
    const name = ` of property <${iri}>`;
    yield { scope: "property", name, counts: { dataset, property } };
    yield* objectsOf(property, name);
  }
  for (const [iri, fact] of base.classes) {
    const name = ` of <${iri}>`;
    yield { scope: "class", name, counts: { dataset, class: fact } };
    for (const [key, within] of fact.properties) {
      const property = base.properties.get(key) ?? {};
      const counts = { class: fact, property, "property within": within };
      yield { scope: "property within", name: ` of property <${key}>${name}`, counts };
      yield* objectsOf(within, ` of property <${key}>${name}`);
    }
  }
}

function* objectsOf(holder: Fact, name: string): Generator<CountedPart> {
  for (const objects of [holder.objectClasses, holder.datatypes])
    for (const [iri, object] of objects)
      yield { scope: "object", name: ` of object type <${iri}>${name}`, counts: { object, holder } };
  const datatypes = { triples: summed(holder.datatypes) };
  yield { scope: "datatypes", name: ` of all datatypes${name}`, counts: { datatypes, holder } };
}

interface Side<Name> {
  readonly scope: Scope;
  readonly name: Name;
}

/**
 * Checks that a part fits into its whole; withdraws impossible counts. A bound of the whole says nothing against the part.
 */
function compare({ counts }: CountedPart, part: Side<CountName>, whole: Side<CountName | "pairs">): boolean {
  const inner = counts[part.scope] ?? {};
  const outer = counts[whole.scope] ?? {};
  const one = inner[part.name];
  const other = whole.name === "pairs" ? pairsOf(outer) : outer[whole.name];
  if (!one || !other || other.status !== "exact" || one.value <= other.value) return true;
  if (one.status === "exact") {
    inner[part.name] = undefined;
    if (whole.name !== "pairs") outer[whole.name] = undefined;
    return false;
  }
  // A lower bound was seen: the whole lacked some of it.
  if (whole.name !== "pairs") outer[whole.name] = { ...other, status: "lowerBound" };
  return true;
}

function pairsOf({ distinctSubjects, distinctObjects }: Counts): Count | undefined {
  if (distinctSubjects?.status !== "exact" || distinctObjects?.status !== "exact") return undefined;
  return { ...distinctSubjects, value: distinctSubjects.value * distinctObjects.value };
}

/** A class's triples (SPORTAL QC2) are the sum over its properties: exact when all of them are known exactly. */
function addTriples(fact: Fact): void {
  fact.triples = summed(fact.properties);
}

/** The triples of parts that have none in common; a bound unless all parts are there and counted. */
function summed(parts: FactList): Count | undefined {
  const known = [...parts.values()].flatMap(({ triples }) => triples ?? []);
  const [first] = known;
  if (first === undefined) return undefined;
  const exact = parts.complete && known.length === parts.size && known.every(({ status }) => status === "exact");
  const value = known.reduce((sum, count) => sum + count.value, 0);
  return { value, status: exact ? "exact" : "lowerBound", record: first.record };
}

/** Totals that follow from lists are exact only while these are complete. */
function weakenTotals({ totals, classes, properties }: FactBase): void {
  for (const [name, { complete }, least] of [
    ["classes", classes, classes.size],
    ["properties", properties, properties.size],
    ["triples", properties, 0],
  ] as const) {
    const count = totals[name];
    if (count?.status === "exact" && !complete)
      totals[name] = { ...count, value: Math.max(count.value, least), status: "lowerBound" };
  }
}
