import type * as RDF from "@rdfjs/types";
import { rdf } from "../../../rdf/vocabularies.ts";
import { isWritable } from "../values.ts";
import type { UnknownFact } from "../void-description.ts";
import { weighed, workOf } from "./batches.ts";
import { type FactKind, factKinds } from "./fact-kinds.ts";
import { allTriplesQuery, firstTriplesCountQuery, solutionQuery } from "./queries.ts";
import { ask, askCount, isSeen, observe, type Run } from "./run.ts";
import { keepTriples, type ReadTriple } from "./triple-facts.ts";

/** Name of the reading of all triples, in notes about contradicting answers. */
const allTriples = "all triples in one answer";

/**
 * Describes an endpoint with few triples from all of them, in four requests: how many there are, all of them, one behind the
 * last, and the counts of the properties that make up the lighter half. When the four agree every fact is exact. Otherwise
 * nothing is kept but a note, and the endpoint is described as a large one is.
 * @returns the triples if it is described by them; undefined when there are more, or when the answers do not agree
 */
export async function readWhole(run: Run, mostTriples: number): Promise<readonly ReadTriple[] | undefined> {
  if (!mayRead(run, mostTriples)) return undefined;
  const counted = await askCount(run, firstTriplesCountQuery(mostTriples + 1));
  const { value = 0, sound } = counted;
  if (value === 0 || value > mostTriples) return undefined;
  const read = sound ? await readAll(run, value) : ({ why: "partial", record: counted.record } as const);
  if (read === undefined || "why" in read) {
    if (read) run.todo.note({ what: allTriples, why: read.why, record: read.record });
    return undefined;
  }
  keepTriples(run, read.triples, read.record);
  return read.triples;
}

interface Read {
  readonly triples: readonly ReadTriple[];
  readonly record: number;
}

/** All triples, or why they are not certain; undefined where some are not to be described. */
async function readAll(run: Run, expected: number): Promise<Read | Omit<UnknownFact, "what"> | undefined> {
  const limit = expected + 1;
  const outcome = await ask(run, { query: allTriplesQuery(limit), level: 1, maxRows: limit });
  const { record } = outcome;
  if (!outcome.ok) return { why: outcome.why, record };
  const { rows } = outcome.answer;
  const triples = rows.map(tripleOf).filter((triple) => triple !== undefined);
  // Virtuoso's default graph holds its own system graphs, which are no part of the data.
  if (triples.length < rows.length || triples.some(isOfEngine)) return undefined;
  const isWhole = outcome.sound && rows.length === expected;
  if (!isWhole || !(await isLast(run, expected)) || !(await agreesInPart(run, triples)))
    return { why: "partial", record };
  return { triples, record };
}

/** Nothing is known yet, and nothing speaks against few triples. */
function mayRead({ todo, claims, base }: Run, mostTriples: number): boolean {
  const isNew = todo.isOpen("class list") && todo.isOpen("property list") && base.properties.size === 0;
  const claimed = claims.totals.triples?.value ?? 0;
  return isNew && claimed <= mostTriples && mostTriples > 0;
}

/** Undefined for a triple that can be in no description: its property or class may not be written into queries. */
function tripleOf(row: ReadonlyMap<string, RDF.Term>): ReadTriple | undefined {
  const [subject, property, object] = [row.get("s"), row.get("p"), row.get("o")];
  if (subject === undefined || property === undefined || object === undefined) return undefined;
  const isType = property.value === rdf.type && object.termType === "NamedNode";
  return isWritable(property.value) && (!isType || isWritable(object.value))
    ? { subject, property: property.value, object }
    : undefined;
}

const isOfEngine = ({ subject, property }: ReadTriple): boolean =>
  [subject.value, property].some((iri) => iri.startsWith("http://www.openlinksw.com/schemas/virtrdf#"));

async function isLast(run: Run, offset: number): Promise<boolean> {
  const outcome = await ask(run, { query: solutionQuery(factKinds.properties, offset, run.dialect), level: 2 });
  return outcome.ok && outcome.sound && outcome.answer.rows.length === 0;
}

/** Asks for the counts of all properties but the heaviest half: that is less work, and shows properties that were not read. */
async function agreesInPart(run: Run, triples: readonly ReadTriple[]): Promise<boolean> {
  const counts = new Map<string, number>();
  for (const { property } of triples) counts.set(property, (counts.get(property) ?? 0) + 1);
  const ascending = weighed(counts.keys(), (property) => counts.get(property) ?? 1);
  const half = ascending.findIndex((_, at) => workOf(ascending.slice(0, at + 1)) > triples.length / 2);
  const [light, heavy] = [ascending.slice(0, half), ascending.slice(half).map(({ key }) => key)];
  const kind: FactKind = { ...factKinds.properties, tallies: ["n"] };
  const part = await observe(run, kind, { selection: { without: heavy }, level: 2 });
  if (!isSeen(part) || !part.whole || part.skipped > 0 || part.groups.size !== light.length) return false;
  return light.every(({ key, weight }) => part.groups.get(key)?.get("")?.n === weight);
}
