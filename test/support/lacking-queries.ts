import { type Random, createRandom } from "./random.ts";
import type { QueryConstruct } from "../../src/sparql/patterns.ts";

/** Where in a federated query the clause stands whose endpoint lacks something. */
export const clausePositions = ["group", "optional", "union", "minus", "exists", "subquery"] as const;
type ClausePosition = (typeof clausePositions)[number];

/** A federated query one clause of which uses a construct. */
export interface LackingQuery {
  readonly construct: QueryConstruct;
  readonly position: ClausePosition;
  /** Endpoints it names, the first of which gets the clause with the construct. */
  readonly endpoints: number;
  readonly text: string;
  /** The body of the clause, as it would reach its endpoint. */
  readonly clause: string;
}

const people = 24;
const person = (number: number): string => `<urn:p${number}>`;
const integer = (value: number): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;

/** N-Triples about the same people as at every other endpoint: ages, names, who is retired, and acquaintances, some of them blank. */
export function peopleAt(random: Random): string {
  const lines: string[] = [];
  for (let number = 0; number < people; number++) {
    const subject = person(number);
    if (random.chance(0.8)) lines.push(`${subject} <urn:age> ${integer(random.below(6))} .`);
    if (random.chance(0.7)) lines.push(`${subject} <urn:name> "${random.pick(["Ada", "Bela", "Cleo"])}" .`);
    if (random.chance(0.3)) lines.push(`${subject} <urn:retired> "yes" .`);
    for (let link = random.below(3); link >= 0; link--) {
      const other = random.chance(0.2) ? `_:b${number}` : person(random.below(people));
      lines.push(`${subject} <urn:knows> ${other} .`);
      if (other.startsWith("_")) lines.push(`${other} <urn:name> "nobody" .`);
    }
  }
  return lines.join("\n");
}

type Body = (random: Random) => string;

const somePeople = (random: Random): string[] => Array.from({ length: 9 }, () => person(random.below(people)));

// In EXISTS, engines put the outer solution into the pattern (SPARQL 1.1 Query, section 18.6) and give other answers than
// by joining with it, which is all that an endpoint can be asked for: the oracle cannot judge these two there.
const firstOfAll: Body = (random) =>
  `{ SELECT ?s ?x { ?s <urn:age> ?x } ORDER BY ?x ?s LIMIT ${8 + random.below(12)} }`;
const optionalFirst: Body = () => `OPTIONAL { ?s <urn:name> ?x } ?s <urn:age> ?a`;
const unlikeInExists: ReadonlySet<Body> = new Set([firstOfAll, optionalFirst]);

/** Patterns that bind `?s`, and `?x` beside it, by the construct that they use; several where keys reach them differently. */
const bodies: Readonly<Record<Exclude<QueryConstruct, "construct">, readonly Body[]>> = {
  values: [
    (random) => `VALUES ?s { ${somePeople(random).join(" ")} } ?s <urn:age> ?x`,
    () => `?s <urn:age> ?x VALUES ?x { 1 2 3 4 }`,
  ],
  valuesUndef: [
    (random) =>
      `?s <urn:age> ?x VALUES (?s ?x) { ${somePeople(random)
        .map((one) => `(${one} UNDEF)`)
        .join(" ")} (UNDEF 3) }`,
  ],
  aggregates: [
    () => `{ SELECT ?s (COUNT(?k) AS ?x) { ?s <urn:knows> ?k } GROUP BY ?s }`,
    () => `?s <urn:age> ?a { SELECT (MAX(?b) AS ?x) { ?t <urn:age> ?b } } FILTER(?a < ?x)`,
  ],
  aggregateTruth: [() => `?s <urn:age> ?a { SELECT ?a (COUNT(*) AS ?x) { ?t <urn:age> ?a } GROUP BY ?a }`],
  groupHaving: [() => `{ SELECT ?s (COUNT(?k) AS ?x) { ?s <urn:knows> ?k } GROUP BY ?s HAVING(COUNT(?k) > 1) }`],
  minus: [
    () => `?s <urn:age> ?x MINUS { ?s <urn:retired> ?r }`,
    () => `{ ?s <urn:age> ?x } UNION { ?s <urn:name> ?x } MINUS { ?s <urn:knows> ?k . ?k <urn:retired> "yes" }`,
  ],
  subquery: [firstOfAll, () => `?s <urn:name> ?x { SELECT DISTINCT ?s { ?s <urn:knows> ?k . ?k <urn:age> ?a } }`],
  optional: [
    () => `?s <urn:age> ?a OPTIONAL { ?s <urn:name> ?x }`,
    () => `?s <urn:knows> ?k OPTIONAL { ?k <urn:name> ?x FILTER(?x != "Ada") }`,
    optionalFirst,
  ],
  notExists: [
    () => `?s <urn:age> ?x FILTER NOT EXISTS { ?s <urn:retired> ?r }`,
    () => `?s <urn:name> ?x FILTER EXISTS { ?s <urn:knows>+ ?k . ?k <urn:age> 3 }`,
    () => `?s <urn:knows>* ?x FILTER(?x = ?s || EXISTS { ?x <urn:age> 4 })`,
  ],
  zeroLengthPath: [
    (random) => `?s <urn:age> ?x . ?s <urn:knows>* ${person(random.below(people))}`,
    (random) => `${person(random.below(people))} <urn:knows>* ?s . ?s <urn:name> ?x`,
  ],
  blankNodes: [
    () => `?s <urn:age> ?a BIND(isBlank(BNODE()) AS ?x)`,
    () => `?s <urn:name> ?x FILTER(!sameTerm(BNODE(), ?x))`,
  ],
};

type Placing = (clause: string, other: string, random: Random) => string;

const placings: Readonly<Record<ClausePosition, Placing>> = {
  group: (clause, other, random) => (random.chance(0.5) ? `${clause} ${other}` : `${other} ${clause}`),
  optional: (clause, other) => `${other} OPTIONAL { ${clause} }`,
  union: (clause, other) => `{ ${other} } UNION { ${clause} }`,
  minus: (clause, other) => `${other} MINUS { ${clause} }`,
  exists: (clause, other, random) => `${other} FILTER ${random.chance(0.6) ? "" : "NOT "}EXISTS { ${clause} }`,
  subquery: (clause, other) => `${other} { SELECT ?s (COUNT(*) AS ?c) { ${clause} } GROUP BY ?s }`,
};

/** Each construct in each position, over two and over three of the endpoints, `rounds` times. */
export function lackingQueries(urls: readonly string[], seed: number, rounds: number): readonly LackingQuery[] {
  const random = createRandom(seed);
  const [first = "", second = "", third = ""] = urls;
  const service = (url: string, body: string): string => `SERVICE <${url}> { ${body} }`;
  const queries: LackingQuery[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [construct, choices] of Object.entries(bodies) as [QueryConstruct, readonly Body[]][]) {
      for (const position of clausePositions) {
        for (const endpoints of [2, 3]) {
          const judged = choices.filter((body) => position !== "exists" || !unlikeInExists.has(body));
          const body = random.pick(judged)(random);
          const other = service(second, `?s <urn:age> ?age FILTER(?age > ${random.below(3)})`);
          const more = random.chance(0.5)
            ? service(third, "?s <urn:name> ?name")
            : `OPTIONAL { ${service(third, "?s <urn:retired> ?name")} }`;
          const placed = placings[position](service(first, body), other, random);
          const text = `SELECT * { ${placed} ${endpoints === 3 ? more : ""} }`;
          queries.push({ construct, position, endpoints, text, clause: `SELECT * WHERE { ${body} }` });
        }
      }
    }
  }
  return queries;
}
