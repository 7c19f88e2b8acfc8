import oxigraph from "oxigraph";
import { generateCase } from "./query-generator.ts";
import {
  generateData,
  linkPredicates,
  nTriplesAt,
  typePredicate,
  word,
  type Draw,
  type Fact,
  type GeneratedData,
} from "./query-generator-data.ts";
import { printQuery } from "./query-generator-syntax.ts";
import { shapesOfServices } from "./query-generator-shapes.ts";
import { guessedRows } from "./query-generator-size.ts";
import { withoutServices } from "./query-without-service.ts";
import { createRandom } from "./random.ts";

/** Where a query is sent: an endpoint, a federation, or the endpoints that its SERVICEs name. */
export interface Place {
  readonly endpoint?: string | undefined;
  readonly federation?: string | undefined;
}

/** A query that has no solutions over the data of its world. */
export type EmptyCase = Place & { readonly query: string };

/** Members m0, m1 ... and federation `all`, with generated data, and queries over them. */
export interface World {
  /** N-Triples by the member's name. */
  readonly data: Readonly<Record<string, string>>;
  /** Rows of a SELECT, by the data alone: SERVICE is GRAPH in a store that has each member as a graph, and their merge. */
  rows(query: string, place: Place): readonly Readonly<Map<string, oxigraph.Term>>[];
  cases(count: number): Generator<EmptyCase>;
}

/** @param urls of the members, in their order */
export function generateWorld(seed: number, urls: readonly string[]): World {
  const random = createRandom(seed);
  const draw: Draw = {
    below: (bound) => random.below(Math.max(1, bound)),
    chance: (percent) => random.below(100) < percent,
    pick: (items) => random.pick(items),
  };
  const all = generateData(draw);
  const facts = all.facts.flatMap((fact) => {
    const endpoints = fact.endpoints.filter((member) => member < urls.length);
    return endpoints.length === 0 ? [] : [{ ...fact, endpoints }];
  });
  const data = { endpoints: urls.length, facts };
  const texts = urls.map((_, member) => nTriplesAt(data, member));
  const merge = new oxigraph.Store();
  const stores = texts.map((text, member) => {
    const store = new oxigraph.Store();
    store.load(text, { format: "nt" });
    merge.load(text.replaceAll("_:", `_:m${member}x`), { format: "nt" });
    const graph = oxigraph.namedNode(urls[member] ?? "");
    merge.update(`CREATE GRAPH ${graph.toString()}`);
    merge.load(text.replaceAll("_:", `_:g${member}x`), { format: "nt", to_graph_name: graph });
    return store;
  });
  const rows: World["rows"] = (query, { endpoint }) => {
    const isWhole = endpoint === undefined || query.includes("SERVICE");
    const store = isWhole ? merge : stores[Number(endpoint.slice(1))];
    const asked = query.replaceAll(/SERVICE(?: SILENT)? (?=[<?])/g, "GRAPH ");
    return (store?.query(asked) ?? []) as readonly Readonly<Map<string, oxigraph.Term>>[];
  };
  return {
    data: Object.fromEntries(texts.map((text, member) => [`m${member}`, text])),
    rows,
    *cases(count) {
      let [left, tries] = [count, 0];
      while (left > 0 && tries++ < 100 * count) {
        const made = draw.chance(25) ? generated(draw, data, urls) : broken(draw, data, urls);
        // The name of the world in the query: what is kept of a query of another world is not of this one.
        const query = `PREFIX w: <http://world.example/${seed}/${left}#> ${made.query}`;
        if (query.split(" .").length > 6 || !isEmpty(query, made)) continue;
        left -= 1;
        yield { ...made, query };
      }
    },
  };

  function isEmpty(query: string, place: Place): boolean {
    try {
      return rows(query, place).length === 0;
    } catch {
      return false;
    }
  }
}

/** A query of the differential suite's generator. */
function generated(draw: Draw, data: GeneratedData, urls: readonly string[]): EmptyCase {
  for (;;) {
    const { query } = generateCase(draw, data, { shapes: shapesOfServices, shaped: 20 });
    if (query.form !== "select" || guessedRows(query, data) > 500) continue;
    if (draw.chance(50)) return { query: printQuery(query, { keyword: "SERVICE", endpoints: urls }) };
    const place = draw.chance(50) ? { federation: "all" } : { endpoint: `m${draw.below(urls.length)}` };
    return { ...place, query: printQuery(withoutServices(query), { keyword: "SERVICE", endpoints: urls }) };
  }
}

interface Pattern {
  readonly subject: string;
  predicate: string;
  object: string;
  readonly member: number;
}

/** A query about a thing of the data, with one or two changes that mostly leave it nothing. */
function broken(draw: Draw, data: GeneratedData, urls: readonly string[]): EmptyCase {
  const mode = draw.pick(["endpoint", "federation", "service"] as const);
  const own = draw.below(urls.length);
  const isSeen = ({ endpoints }: Fact): boolean => mode !== "endpoint" || endpoints.includes(own);
  const facts = data.facts.filter((fact) => isSeen(fact) && !fact.object.startsWith("_:"));
  if (facts.length < 4) return broken(draw, data, urls);
  const patterns = walked(draw, facts, own);
  if (variablesOf(patterns).length < 2) return broken(draw, data, urls);
  const tails: string[] = [];
  const modifiers: string[] = [];
  for (let changes = draw.chance(30) ? 2 : 1; changes > 0; changes--)
    change(draw, { patterns, tails, modifiers, facts });
  if (!isJoined(patterns)) return broken(draw, data, urls);
  const text = ({ subject, predicate, object }: Pattern): string => `${subject} ${predicate} ${object} .`;
  const body =
    mode === "service"
      ? [...Map.groupBy(patterns, ({ member }) => member)]
          .map(([member, some]) => `SERVICE <${urls[member % urls.length]}> { ${some.map(text).join(" ")} }`)
          .join(" ")
      : patterns.map(text).join(" ");
  const [first = "?s"] = variablesOf(patterns);
  const head = modifiers.some((modifier) => modifier.includes("GROUP")) ? first : "*";
  const group = modifiers.map((modifier) => modifier.replaceAll("?first", first)).join(" ");
  const query = `SELECT ${head} WHERE { ${[body, ...tails].join(" ")} } ${group}`;
  if (mode === "service") return { query };
  return mode === "endpoint" ? { query, endpoint: `m${own}` } : { query, federation: "all" };
}

const variablesOf = (patterns: readonly Pattern[]): readonly string[] =>
  patterns.flatMap(({ subject, object }) => [subject, object]).filter((term) => term.startsWith("?"));

/** True if each pattern shares a variable with one before it: products of all with all take minutes. */
function isJoined(patterns: readonly Pattern[]): boolean {
  const names = new Set(variablesOf(patterns.slice(0, 1)));
  return patterns.every((pattern) => {
    const own = variablesOf([pattern]);
    const isNew = own.length > 0 && !own.some((name) => names.has(name));
    for (const name of own) names.add(name);
    return !isNew;
  });
}

/** Patterns of one thing, perhaps of another that it is linked to. */
function walked(draw: Draw, facts: readonly Fact[], own: number): Pattern[] {
  const start = draw.pick(facts);
  const patterns: Pattern[] = [];
  const add = (name: string, some: readonly Fact[]): void => {
    for (const fact of some) {
      const member = draw.chance(85) ? draw.pick(fact.endpoints) : own;
      const at = patterns.length;
      const object = draw.chance(30) ? fact.object : linkPredicates.includes(fact.predicate) ? "?t" : `?o${at}`;
      patterns.push({ subject: name, predicate: fact.predicate, object, member });
    }
  };
  const about = (subject: string): readonly Fact[] => facts.filter((fact) => fact.subject === subject);
  add("?s", some(draw, about(start.subject), 3));
  const link = about(start.subject).find(({ predicate }) => linkPredicates.includes(predicate));
  if (link && draw.chance(50)) {
    patterns.push({ subject: "?s", predicate: link.predicate, object: "?t", member: draw.pick(link.endpoints) });
    add("?t", some(draw, about(link.object), 2));
  }
  return patterns;
}

const some = <T>(draw: Draw, items: readonly T[], most: number): readonly T[] =>
  items
    .filter(() => draw.chance(60))
    .slice(0, most)
    .concat(items.slice(0, 1))
    .slice(0, most);

interface Changed {
  readonly patterns: Pattern[];
  readonly tails: string[];
  readonly modifiers: string[];
  readonly facts: readonly Fact[];
}

const changes: readonly ((draw: Draw, changed: Changed) => void)[] = [
  (draw, { patterns }) => {
    const pattern = draw.pick(patterns);
    pattern.predicate = pattern.predicate === typePredicate ? word("kind") : pattern.predicate.replace(/.>$/, ">");
  },
  (draw, { patterns, facts }) => {
    draw.pick(patterns).predicate = draw.pick(facts).predicate;
  },
  (draw, { patterns, facts }) => {
    const pattern = draw.pick(patterns);
    const { object } = draw.pick(facts.filter(({ predicate }) => predicate === pattern.predicate).concat(facts));
    pattern.object = draw.chance(60) ? respelled(draw, object) : object;
  },
  (draw, { patterns }) => {
    const at = draw.below(patterns.length);
    const pattern = patterns[at];
    if (pattern && !pattern.object.startsWith('"'))
      patterns[at] = { ...pattern, subject: pattern.object, object: pattern.subject };
  },
  (draw, { patterns, tails }) => {
    const name = draw.pick(variablesOf(patterns).concat("?s"));
    tails.push(
      draw.pick([
        `FILTER(${name} > 999)`,
        `FILTER(${name} = "ada")`,
        `FILTER(${name} > 4 && ${name} < 3)`,
        `FILTER(${name} = "K1" && ${name} > 2)`,
        `FILTER(${name} > "2014")`,
        `FILTER(CONTAINS(${name}, "ADA"))`,
        `FILTER(STRLEN(STR(${name})) = 2)`,
        `FILTER NOT EXISTS { ${name} ?x${tails.length} ?y }`,
        `MINUS { ?s ?x${tails.length} ?y${tails.length} }`,
      ]),
    );
  },
  (draw, { patterns }) => {
    // Two things whose keys are to be the same, one or two of them.
    const keys = patterns.filter(({ object }) => object.startsWith("?o"));
    for (const { object, predicate, member } of keys.slice(0, 1 + draw.below(2))) {
      const other = draw.chance(50) ? predicate : draw.pick(patterns).predicate;
      patterns.push({ subject: "?other", predicate: other, object, member: member + 1 });
    }
  },
  (draw, { patterns }) => {
    const member = draw.below(3);
    for (const [at, pattern] of patterns.entries()) if (draw.chance(70)) patterns[at] = { ...pattern, member };
  },
  (draw, { tails, facts }) => {
    const { predicate } = draw.pick(facts);
    tails.push(
      draw.pick([
        `{ ?s ${predicate} "none" } UNION { ?s ${word("nothing")} ?u }`,
        `{ SELECT ?s WHERE { ?s ${predicate} ?v . ?s ${word("nmae")} ?w } }`,
        `VALUES ?s { <http://data.example/item/99> }`,
        `OPTIONAL { ?s ${predicate} ?opt } FILTER(!BOUND(?s))`,
      ]),
    );
  },
  (draw, { modifiers }) => {
    modifiers.push(draw.pick(["GROUP BY ?first HAVING(COUNT(*) > 90)", "ORDER BY ?first OFFSET 500"]));
    modifiers.length = 1;
  },
];

const change = (draw: Draw, changed: Changed): void => draw.pick(changes)(draw, changed);

/** The same value in another way, or nearly the same. */
function respelled(draw: Draw, object: string): string {
  if (!object.startsWith('"')) return object.replace("http://data", "https://data");
  const value = /^"(.*)"/.exec(object)?.[1] ?? "";
  return draw.pick([`"${value}"`, `"${value.toUpperCase()}"`, `"${value}"@fr`, `" ${value}"`, `"${value}x"`]);
}
