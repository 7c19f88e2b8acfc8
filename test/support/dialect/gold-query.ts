import type { Random } from "../random.ts";

// Right queries over a small schema, as values that any dialect can print. Nothing here reads SPARQL.

export interface Pattern {
  readonly subject: string;
  readonly property: string;
  readonly object: string;
}

export type Condition =
  | {
      readonly kind: "compare";
      readonly variable: string;
      readonly operator: "=" | "!=" | "<" | ">" | "<=" | ">=";
      readonly value: string;
    }
  | {
      readonly kind: "text";
      readonly variable: string;
      readonly place: "CONTAINS" | "STRSTARTS" | "STRENDS";
      readonly text: string;
    }
  | { readonly kind: "range"; readonly variable: string; readonly from: string; readonly to: string }
  | { readonly kind: "in"; readonly variable: string; readonly isNot: boolean; readonly values: readonly string[] }
  | { readonly kind: "case"; readonly variable: string; readonly name: "LCASE" | "UCASE"; readonly text: string }
  | { readonly kind: "length"; readonly variable: string; readonly operator: "<" | ">"; readonly value: string }
  | { readonly kind: "unbound"; readonly variable: string; readonly isNot: boolean };

export interface Aggregate {
  readonly name: "COUNT" | "SUM" | "AVG" | "MIN" | "MAX";
  readonly isDistinct: boolean;
  /** A variable, or `*`. */
  readonly argument: string;
  readonly alias: string;
}

export interface Gold {
  readonly isDistinct: boolean;
  readonly columns: readonly (string | Aggregate)[];
  readonly patterns: readonly Pattern[];
  readonly optional?: Pattern | undefined;
  readonly conditions: readonly Condition[];
  readonly groupBy: readonly string[];
  readonly having?: { readonly operator: "<" | ">" | ">="; readonly value: string } | undefined;
  readonly orderBy: readonly { readonly key: string; readonly isDescending: boolean }[];
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

interface Property {
  readonly name: string;
  readonly variable: string;
  /** `text`, `number`, `date`, or the class of things. */
  readonly values: string;
}

const classes: Readonly<Record<string, readonly Property[]>> = {
  person: [
    { name: "person\\#name", variable: "?name", values: "text" },
    { name: "person\\#age", variable: "?age", values: "number" },
    { name: "person\\#born", variable: "?born", values: "date" },
    { name: "person\\#lives", variable: "?city", values: "city" },
  ],
  city: [
    { name: "label", variable: "?label", values: "text" },
    { name: "population", variable: "?population", values: "number" },
    { name: "country", variable: "?country", values: "text" },
  ],
  book: [
    { name: "title", variable: "?title", values: "text" },
    { name: "pages", variable: "?pages", values: "number" },
    { name: "writer", variable: "?person", values: "person" },
  ],
};

export const prologue = "PREFIX : <http://schema.example/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n";

const texts = ["Ada", "Bela", "Carla", "Dora", "Edda", "Fara"];

/** N-Triples for every class: few values, so that groups have several members and some members lack a value. */
export function goldData(): string {
  const lines: string[] = [];
  const xsd = "http://www.w3.org/2001/XMLSchema#";
  for (const [name, properties] of Object.entries(classes)) {
    for (let n = 0; n < 24; n++) {
      const subject = `<http://data.example/${name}/${n}>`;
      lines.push(`${subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.example/${name}> .`);
      for (const [at, { name: property, values }] of properties.entries()) {
        if ((n + at) % 7 === 6) continue;
        const number = (n * (at + 3)) % 11;
        const value =
          values === "text"
            ? `"${texts[number % texts.length]} ${number}"`
            : values === "number"
              ? `"${number * 7}"^^<${xsd}integer>`
              : values === "date"
                ? `"19${50 + number}-0${1 + (number % 9)}-11"^^<${xsd}date>`
                : `<http://data.example/${values}/${number}>`;
        lines.push(`${subject} <http://schema.example/${property.replace("\\", "")}> ${value} .`);
      }
    }
  }
  return lines.join("\n");
}

const literal = (text: string): string => `"${text}"`;

function conditionOn({ variable, values }: Property, random: Random): Condition | undefined {
  const number = String(random.below(60));
  const operator = random.pick(["=", "!=", "<", ">", "<=", ">="] as const);
  if (values === "number") {
    if (random.chance(0.3)) return { kind: "range", variable, from: number, to: String(Number(number) + 30) };
    if (random.chance(0.3))
      return { kind: "in", variable, isNot: random.chance(0.4), values: ["7", "14", "21", number] };
    return { kind: "compare", variable, operator, value: number };
  }
  if (values === "date") return { kind: "compare", variable, operator: ">", value: '"1953-02-01"^^xsd:date' };
  if (values !== "text") return undefined;
  const word = random.pick(texts);
  const whole = literal(`${word} ${random.below(9)}`);
  switch (random.below(5)) {
    case 0:
      return { kind: "compare", variable, operator: random.pick(["=", "!="]), value: whole };
    case 1:
      return { kind: "in", variable, isNot: random.chance(0.5), values: [whole, literal("Ada 0"), literal("Dora 3")] };
    case 2:
      return { kind: "case", variable, name: random.pick(["LCASE", "UCASE"]), text: word };
    case 3:
      return { kind: "length", variable, operator: random.pick(["<", ">"]), value: "5" };
    default: {
      const place = random.pick(["CONTAINS", "STRSTARTS", "STRENDS"] as const);
      return { kind: "text", variable, place, text: place === "STRENDS" ? "3" : word.slice(0, 2) };
    }
  }
}

const upTo = <Item>(items: readonly Item[], most: number, random: Random): readonly Item[] =>
  items.toSorted(() => random.below(3) - 1).slice(0, 1 + random.below(most));

/** Patterns that join the things which some of these properties lead to with a text of theirs. */
function joins(used: readonly Property[]) {
  return used.flatMap(({ values, variable }) => {
    const [property] = classes[values] ?? [];
    return property === undefined ? [] : [{ subject: variable, property }];
  });
}

/** Any right query over the schema: columns, joins, conditions, groups, order, slices. */
export function goldQuery(random: Random): Gold {
  const name = random.pick(Object.keys(classes));
  const own = classes[name] ?? [];
  const subject = `?${name}`;
  const used = upTo(own, 3, random);
  const joined = joins(used);
  const shown = [...used, ...joined.map(({ property }) => property)];
  const patterns = [
    { subject, property: "a", object: `:${name}` },
    ...used.map((each) => ({ subject, property: `:${each.name}`, object: each.variable })),
    ...joined.map((each) => ({
      subject: each.subject,
      property: `:${each.property.name}`,
      object: each.property.variable,
    })),
  ];
  const rest = own.filter((each) => !used.includes(each) && classes[each.values] === undefined);
  const [maybe] = random.chance(0.4) ? rest : [];
  const optional = maybe && { subject, property: `:${maybe.name}`, object: maybe.variable };
  const conditions = upTo(shown, 2, random).flatMap((property) => conditionOn(property, random) ?? []);
  if (optional && random.chance(0.6))
    conditions.push({ kind: "unbound", variable: optional.object, isNot: random.chance(0.5) });
  const base = { isDistinct: random.chance(0.3), patterns, optional, conditions, groupBy: [], orderBy: [] };
  const isOrdered = random.chance(0.7);
  const slice = isOrdered ? sliceOf(random) : {};
  if (random.chance(0.5)) return grouped({ base, shown, subject, isOrdered }, slice, random);
  const columns = [...new Set(shown.map(({ variable }) => variable))];
  // All columns are keys, so that the order is total.
  const orderBy = columns.map((key) => ({ key, isDescending: random.chance(0.5) }));
  return { ...base, columns, orderBy: isOrdered ? orderBy : [], ...slice };
}

function sliceOf(random: Random): Pick<Gold, "limit" | "offset"> {
  if (random.chance(0.4)) return {};
  return { limit: 1 + random.below(6), offset: random.chance(0.5) ? 1 + random.below(2) : undefined };
}

interface Ungrouped {
  readonly base: Omit<Gold, "columns">;
  readonly shown: readonly Property[];
  readonly subject: string;
  readonly isOrdered: boolean;
}

/** One aggregate, of each group or of all. */
function grouped(
  { base, shown, subject, isOrdered }: Ungrouped,
  slice: Pick<Gold, "limit" | "offset">,
  random: Random,
): Gold {
  const key = random.pick(shown).variable;
  const number = shown.find(({ values }) => values === "number");
  const name = random.pick(
    number === undefined ? (["COUNT"] as const) : (["COUNT", "SUM", "AVG", "MIN", "MAX"] as const),
  );
  const argument = name === "COUNT" ? random.pick(["*", subject, key]) : (number?.variable ?? subject);
  const isDistinct = name === "COUNT" && argument !== "*" && random.chance(0.4);
  const aggregate: Aggregate = { name, isDistinct, argument, alias: "?total" };
  if (random.chance(0.25)) return { ...base, isDistinct: false, columns: [aggregate] };
  const having = random.chance(0.5) ? { operator: random.pick([">", ">="] as const), value: "1" } : undefined;
  const orderBy = [
    { key: "?total", isDescending: random.chance(0.6) },
    { key, isDescending: random.chance(0.5) },
  ];
  const order = isOrdered ? { orderBy, ...slice } : {};
  return { ...base, isDistinct: false, columns: [key, aggregate], groupBy: [key], having, ...order };
}
