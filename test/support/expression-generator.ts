/** Where an expression stands in its query. */
export const placements = [
  "filter",
  "bind",
  "projection",
  "order-by",
  "group-by",
  "having",
  "aggregate",
  "template",
  "optional",
] as const;
type Placement = (typeof placements)[number];

/** A query around one generated expression. It needs no endpoint, so that any engine can evaluate it as it is. */
export interface ExpressionCase {
  readonly query: string;
  readonly expression: string;
  readonly placement: Placement;
  /** BASE and PREFIX declarations. */
  readonly prologue: string;
  /** The group without the expression, a text for each row of its VALUES. */
  readonly rows: readonly string[];
  /** Functions and operators of the expression, by the names of `functionNames`. */
  readonly functions: readonly string[];
  /** Its value is the same whenever it is evaluated, and the rows of the query have an order or none is asked for. */
  readonly isDeterministic: boolean;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const unary = words(`
  STR LANG DATATYPE IRI URI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE ENCODE_FOR_URI YEAR MONTH DAY HOURS MINUTES SECONDS
  TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 isIRI isURI isBLANK isLITERAL isNUMERIC BNODE xsd:string xsd:boolean
  xsd:integer xsd:decimal xsd:float xsd:double xsd:dateTime`);
const binary = words("LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRDT STRLANG sameTerm SUBSTR REGEX");
const several: readonly (readonly [name: string, arity: number])[] = [
  ["IF", 3],
  ["SUBSTR", 3],
  ["REPLACE", 3],
  ["REPLACE", 4],
  ["REGEX", 3],
  ["COALESCE", 2],
  ["COALESCE", 3],
  ["CONCAT", 0],
  ["CONCAT", 2],
  ["CONCAT", 5],
];
const infix = ["=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "&&", "||"];
const prefix = ["!", "-", "+"];
const constant = ["RAND", "NOW", "UUID", "STRUUID", "BNODE"];
const lists = ["IN", "NOT IN"];
const patterns = ["EXISTS", "NOT EXISTS"];
const aggregates = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

/** Every function and operator of SPARQL 1.1 Query, section 17, and the aggregates; operators of one argument end in 1. */
export const functionNames: readonly string[] = [
  ...new Set(
    unary.concat(
      binary,
      several.map(([name]) => name),
      infix,
      prefix.map((sign) => `${sign}1`),
      constant,
      lists,
      patterns,
      aggregates,
      "BOUND",
    ),
  ),
];

const unsteady = new Set([...constant, "SAMPLE"]);

const columns = ["?a", "?b", "?c", "?d"];

const prologue =
  "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>";
const ten = (name: string): string => `CONCAT(${Array.from({ length: 10 }, () => name).join(", ")})`;
/** `?huge` has 200,000 characters, and what is made of it soon too many. */
const huge = `BIND("0123456789abcdefghij" AS ?h0) ${[1, 2, 3, 4].map((n) => `BIND(${ten(`?h${n - 1}`)} AS ?h${n})`).join(" ")} BIND(?h4 AS ?huge)`;

/** Cases without end, the same ones for a seed. */
export function* expressionCases(seed: number): Generator<ExpressionCase> {
  const draw = createDraw(seed);
  for (;;) yield oneCase(draw);
}

interface Draw {
  below(count: number): number;
  pick<T>(choices: readonly T[]): T;
}

/** Mulberry32. */
function createDraw(seed: number): Draw {
  let state = seed;
  const below = (count: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count);
  };
  return { below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] };
}

interface Build {
  readonly draw: Draw;
  readonly functions: Set<string>;
  /** What stands for a variable: behind GROUP BY it is aggregated. */
  readonly variable: (name: string) => string;
  readonly hasHuge: boolean;
}

function oneCase(draw: Draw): ExpressionCase {
  const placement = draw.pick(placements);
  const functions = new Set<string>();
  const hasHuge = draw.below(40) === 0;
  const sampled = (name: string): string => {
    const aggregate = draw.pick(["MIN", "MAX", "COUNT", "SUM", "AVG"]);
    functions.add(aggregate);
    return `${aggregate}(${name})`;
  };
  const variable = placement === "having" ? sampled : (name: string) => name;
  const expression = generate({ draw, functions, variable, hasHuge }, 1 + draw.below(3));
  const rows = dataOf(draw);
  const withData = (data: readonly string[]): string =>
    `VALUES (${columns.join(" ")}) { ${data.join(" ")} } ${hasHuge ? huge : ""}`;
  const where = withData(rows);
  const query = `${prologue} ${queryAround({ draw, placement, expression, where, functions })}`;
  const isDeterministic = [...functions].every((name) => !unsteady.has(name));
  return {
    query,
    expression,
    placement,
    prologue,
    rows: rows.map((row) => withData([row])),
    functions: [...functions],
    isDeterministic,
  };
}

/** Rows of VALUES. */
function dataOf(draw: Draw): string[] {
  const cells = (): string => columns.map(() => draw.pick(terms).replace("?unbound", "UNDEF")).join(" ");
  return Array.from({ length: 4 }, () => `(${cells()})`);
}

interface Around {
  readonly draw: Draw;
  readonly placement: Placement;
  readonly expression: string;
  readonly where: string;
  readonly functions: Set<string>;
}

function queryAround({ draw, placement, expression, where, functions }: Around): string {
  switch (placement) {
    case "filter":
      return `SELECT ?a ?b { ${where} FILTER(${expression}) }`;
    case "bind":
      return `SELECT ?a ?z { ${where} BIND(${expression} AS ?z) }`;
    case "projection":
      return `SELECT (${expression} AS ?z) { ${where} }`;
    case "order-by":
      return `SELECT ?a ?b { ${where} } ORDER BY ${draw.pick(["", "DESC"])}(${expression}) ?a`;
    case "group-by":
      return `SELECT ?z (COUNT(*) AS ?n) { ${where} } GROUP BY (${expression} AS ?z)`;
    case "having":
      return `SELECT ?a (COUNT(*) AS ?n) { ${where} } GROUP BY ?a HAVING(${expression})`;
    case "aggregate":
      return `SELECT (${aggregateOf(draw, expression, functions)} AS ?z) { ${where} } ${draw.pick(["", "GROUP BY ?a"])}`;
    case "template":
      return `CONSTRUCT { <urn:s> <urn:p> ?z . ?z <urn:q> ?a . <urn:t> ?z [] } { ${where} BIND(${expression} AS ?z) }`;
    default:
      return `SELECT ?a ?e { ${where} OPTIONAL { VALUES ?e { 1 "x" } FILTER(${expression}) } }`;
  }
}

function aggregateOf(draw: Draw, expression: string, functions: Set<string>): string {
  const name = draw.pick(aggregates);
  functions.add(name);
  const separator = name === "GROUP_CONCAT" ? draw.pick(["", '; SEPARATOR=""', '; SEPARATOR=", "']) : "";
  return `${name}(${draw.pick(["", "DISTINCT "])}${expression}${separator})`;
}

function generate(build: Build, depth: number): string {
  if (depth === 0) return leaf(build);
  const { draw, functions } = build;
  const of = (count: number): string[] =>
    Array.from({ length: count }, () => generate(build, depth - 1 - draw.below(2 - Math.min(depth, 1))));
  const call = (name: string, count: number): string => {
    functions.add(name);
    return `${name}(${of(count).join(", ")})`;
  };
  const chosen = draw.below(unary.length + 2 * binary.length + 2 * several.length + 2 * infix.length + 14);
  let at = chosen - unary.length;
  if (at < 0) return call(unary[chosen] ?? "STR", 1);
  if (at < 2 * binary.length) return call(binary[at % binary.length] ?? "REGEX", 2);
  at -= 2 * binary.length;
  if (at < 2 * several.length) return call(...(several[at % several.length] ?? (["IF", 3] as const)));
  at -= 2 * several.length;
  if (at < 2 * infix.length) return infixed(build, infix[at % infix.length] ?? "=", of(2));
  return other(build, at - 2 * infix.length, of);
}

function infixed({ functions }: Build, operator: string, [left, right]: readonly string[]): string {
  functions.add(operator);
  return `(${left} ${operator} ${right})`;
}

function other({ draw, functions, variable }: Build, kind: number, of: (count: number) => string[]): string {
  const named = (name: string, text: string): string => {
    functions.add(name);
    return text;
  };
  if (kind < 4) {
    const name = draw.pick(constant);
    return named(name, `${name}()`);
  }
  if (kind < 7) {
    const sign = draw.pick(prefix);
    return named(`${sign}1`, `(${sign}(${of(1).join("")}))`);
  }
  if (kind < 10) {
    const name = draw.pick(lists);
    const [tested, ...among] = of(1 + draw.below(4));
    return named(name, `(${tested} ${name} (${among.join(", ")}))`);
  }
  if (kind < 12) {
    const name = draw.pick(patterns);
    return named(name, `${name} { VALUES ?e { 1 2 } FILTER(?e = ${draw.pick(["?a", "1", "?unbound"])}) }`);
  }
  const column = draw.pick([...columns, "?unbound"]);
  // An aggregate is no variable: behind GROUP BY, BOUND has nothing to look at but the key.
  return named("BOUND", `BOUND(${variable(column) === column ? column : "?a"})`);
}

function leaf({ draw, variable, hasHuge }: Build): string {
  if (hasHuge && draw.below(3) === 0) return variable("?huge");
  const term = draw.below(2) === 0 ? draw.pick(columns) : draw.pick(terms);
  return term.startsWith("?") ? variable(term) : term;
}

const xsd = (value: string, type: string): string => `"${value}"^^xsd:${type}`;

/** Dates, numbers and others by their datatype: valid, invalid, out of range and empty. */
const typed: Readonly<Record<string, readonly string[]>> = {
  integer: ["abc", "9".repeat(24), "9007199254740993", "", " 7 ", "+5"],
  byte: ["300"],
  unsignedInt: ["-1"],
  decimal: [`1.${"3".repeat(400)}`, "9".repeat(400)],
  double: ["1e400", "NaN", "INF", "x"],
  float: ["-INF"],
  date: ["2009-02-30", "2024-02-29", "-0001-01-01", "99999-12-31Z"],
  dateTime: ["2011-01-10T14:45:13.815-05:00", "2012-02-29T00:00:00Z", "2012-02-29T00:00:00", "2011-13-45T99:99:99", ""],
  time: ["24:00:00", "12:00:00+14:00"],
  duration: ["P1Y", "P"],
  yearMonthDuration: ["P1Y"],
  dayTimeDuration: ["PT36H", "-PT0.5S"],
  boolean: ["maybe", "1"],
  anyURI: ["x"],
};

const numbers = ["1", "0", "-3", "2.5", "1e3", "00", "true", "false"];
const strings = [
  '""',
  '"abc"',
  '"12"',
  '"a b"',
  '"é𝄞"',
  '"-"',
  '"%41"',
  '"en"',
  '"*"',
  '"i"',
  '"zz"',
  '"Z"',
  '"a\u00ADb"',
  '"\uFF5E"',
  '"/?&"',
  '"[a"',
  '"(a|b)*"',
];
const tagged = ['"abc"@en', '"chat"@fr-CA', '"x"@en-x-1234', '""@de', '"x"^^<urn:unknown>', '""^^<urn:unknown>'];
const iris = [
  "<http://e/a>",
  "<urn:x:y>",
  "<a:>",
  '"relative"',
  '"http://e/ü"',
  '"<>"',
  "rdf:langString",
  "xsd:string",
];
const long = [`"${"long ".repeat(400)}"`, `"${"1".repeat(3_000)}"`, '"$1\\\\$"'];

/** Terms as they are written in a query, with the prefixes `xsd` and `rdf`; `?unbound` is no term at all. */
const terms: readonly string[] = [
  numbers,
  strings,
  tagged,
  iris,
  long,
  Object.entries(typed).flatMap(([type, values]) => values.map((value) => xsd(value, type))),
  ["?unbound"],
].flat();
