/**
 * Structure of a generated query. It is never parsed: the same value prints with SERVICE for the federation and with
 * GRAPH for the oracle. Terms and expressions are SPARQL text without prefixes; `<endpoint:N>` stands for the IRI of
 * endpoint N wherever a term may stand, `<endpoint:dead>` for that of one that refuses connections.
 */
export type GeneratedQuery = SelectQuery | AskQuery | ConstructQuery | DescribeQuery;

interface SelectQuery {
  readonly form: "select";
  readonly select: Select;
}
interface AskQuery {
  readonly form: "ask";
  readonly where: Group;
}
interface ConstructQuery {
  readonly form: "construct";
  readonly template: readonly Triple[];
  readonly where: Group;
}
interface DescribeQuery {
  readonly form: "describe";
  /** Empty means `*`. */
  readonly variables: readonly string[];
  readonly where: Group;
}

export interface Select {
  readonly distinct: boolean;
  /** Empty means `*`. */
  readonly projection: readonly Projection[];
  readonly where: Group;
  readonly groupBy: readonly string[];
  readonly having: Condition | undefined;
  /** `?v` or `DESC(?v)`. */
  readonly orderBy: readonly string[];
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

export interface Projection {
  readonly variable: string;
  /** With it the projection is `(expression AS variable)`. */
  readonly expression?: string;
  readonly aggregate?: Aggregate;
}
export type Aggregate = "count" | "sum" | "min" | "max" | "avg";

export type Group = readonly Element[];
export interface Triple {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly path?: PathKind;
}
export type PathKind = "sequence" | "alternative" | "inverse" | "star" | "plus";
export type Element = Triples | Service | Block | Union | Filter | Values | Bind | SubSelect;

export interface Triples {
  readonly kind: "triples";
  readonly triples: readonly Triple[];
}
export interface Service {
  readonly kind: "service";
  /** Number of the endpoint, or a variable. */
  readonly target: number | string;
  readonly silent: boolean;
  /** For an endpoint that refuses connections instead: SILENT, and so one solution that binds nothing. */
  readonly dead?: boolean;
  readonly body: Group;
}
export interface Block {
  readonly kind: "optional" | "minus" | "group";
  readonly body: Group;
}
interface Union {
  readonly kind: "union";
  readonly branches: readonly Group[];
}
export interface Filter {
  readonly kind: "filter";
  readonly condition: Condition;
}
export interface Values {
  readonly kind: "values";
  readonly variables: readonly string[];
  /** undefined prints as UNDEF. */
  readonly rows: readonly (readonly (string | undefined)[])[];
}
export interface Bind {
  readonly kind: "bind";
  readonly expression: string;
  readonly variable: string;
}
export interface SubSelect {
  readonly kind: "select";
  readonly select: Select;
}

export type TestOperator = "comparison" | "bound" | "regex" | "type-test" | "in" | "string-function" | "out-of-scope";
export type Condition =
  | { readonly kind: "test"; readonly operator: TestOperator; readonly text: string }
  | { readonly kind: "and" | "or"; readonly left: Condition; readonly right: Condition }
  | { readonly kind: "not"; readonly inner: Condition }
  | { readonly kind: "exists"; readonly negated: boolean; readonly body: Group };

/** IRI of each endpoint, and of the dead one where there is one. */
export interface Urls {
  readonly endpoints: readonly string[];
  readonly dead?: string;
}

/** How a query is written down. */
export interface Spelling extends Urls {
  readonly keyword: "SERVICE" | "GRAPH";
}

/** The query as SPARQL 1.1 text. */
export function printQuery(query: GeneratedQuery, spelling: Spelling): string {
  return withUrls(printForm(query, spelling), spelling);
}

/** The text with the IRIs of endpoints in the place of their numbers. */
export function withUrls(text: string, { endpoints, dead }: Urls): string {
  return text.replaceAll(/<endpoint:(\d+|dead)>/g, (_, name: string) => {
    const iri = name === "dead" ? dead : endpoints[Number(name)];
    if (iri === undefined) throw new Error(`No endpoint ${name}`);
    return `<${iri}>`;
  });
}

function printForm(query: GeneratedQuery, spelling: Spelling): string {
  switch (query.form) {
    case "select":
      return printSelect(query.select, spelling, "");
    case "ask":
      return `ASK ${printGroup(query.where, spelling, "")}`;
    case "describe":
      return `DESCRIBE ${query.variables.join(" ") || "*"} ${printGroup(query.where, spelling, "")}`;
    default:
      return `CONSTRUCT { ${query.template.map(printTriple).join(" ")} }\nWHERE ${printGroup(query.where, spelling, "")}`;
  }
}

function printSelect(select: Select, spelling: Spelling, indent: string): string {
  const items = select.projection.map((p) => (p.expression ? `(${p.expression} AS ${p.variable})` : p.variable));
  const lines = [
    `SELECT ${select.distinct ? "DISTINCT " : ""}${items.length > 0 ? items.join(" ") : "*"}`,
    `${indent}WHERE ${printGroup(select.where, spelling, indent)}`,
  ];
  if (select.groupBy.length > 0) lines.push(`${indent}GROUP BY ${select.groupBy.join(" ")}`);
  if (select.having !== undefined) {
    lines.push(`${indent}HAVING (${printCondition(select.having, spelling, indent)})`);
  }
  if (select.orderBy.length > 0) lines.push(`${indent}ORDER BY ${select.orderBy.join(" ")}`);
  if (select.limit !== undefined) lines.push(`${indent}LIMIT ${select.limit}`);
  if (select.offset !== undefined) lines.push(`${indent}OFFSET ${select.offset}`);
  return lines.join("\n");
}

function printGroup(group: Group, spelling: Spelling, indent: string): string {
  const inner = `${indent}  `;
  const lines = group.map((element) => `${inner}${printElement(element, spelling, inner)}`);
  return lines.length > 0 ? `{\n${lines.join("\n")}\n${indent}}` : "{ }";
}

function printElement(element: Element, spelling: Spelling, indent: string): string {
  switch (element.kind) {
    case "triples":
      return element.triples.map(printTriple).join(`\n${indent}`);
    case "service":
      return printService(element, spelling, indent);
    case "optional":
      return `OPTIONAL ${printGroup(element.body, spelling, indent)}`;
    case "minus":
      return `MINUS ${printGroup(element.body, spelling, indent)}`;
    case "group":
      return printGroup(element.body, spelling, indent);
    case "union":
      return element.branches.map((branch) => printGroup(branch, spelling, indent)).join(" UNION ");
    case "filter":
      return `FILTER (${printCondition(element.condition, spelling, indent)})`;
    case "values":
      return printValues(element);
    case "bind":
      return `BIND (${element.expression} AS ${element.variable})`;
    default:
      return `{ ${printSelect(element.select, spelling, indent)} }`;
  }
}

function printService({ target, silent, dead, body }: Service, spelling: Spelling, indent: string): string {
  const group = printGroup(body, spelling, indent);
  const name = typeof target === "number" ? `<endpoint:${target}>` : target;
  if (spelling.keyword === "SERVICE") {
    return dead ? `SERVICE SILENT <endpoint:dead> ${group}` : `SERVICE ${silent ? "SILENT " : ""}${name} ${group}`;
  }
  if (dead) return "{ }";
  const answers = `GRAPH ${name} ${group}`;
  if (!silent || typeof target === "number" || spelling.dead === undefined) return answers;
  return `{ { ${answers} } UNION { VALUES ${target} { <endpoint:dead> } } }`;
}

function printTriple(triple: Triple): string {
  return `${triple.subject} ${triple.predicate} ${triple.object} .`;
}

function printValues(values: Values): string {
  const rows = values.rows.map((row) => `(${row.map((term) => term ?? "UNDEF").join(" ")})`);
  return `VALUES (${values.variables.join(" ")}) { ${rows.join(" ")} }`;
}

function printCondition(condition: Condition, spelling: Spelling, indent: string): string {
  switch (condition.kind) {
    case "test":
      return condition.text;
    case "and":
    case "or": {
      const sign = condition.kind === "and" ? "&&" : "||";
      const [left, right] = [condition.left, condition.right].map((c) => printCondition(c, spelling, indent));
      return `(${left}) ${sign} (${right})`;
    }
    case "not":
      return `!(${printCondition(condition.inner, spelling, indent)})`;
    default:
      return `${condition.negated ? "NOT " : ""}EXISTS ${printGroup(condition.body, spelling, indent)}`;
  }
}

/** The groups directly inside an element, so that walks need not know every kind. */
export function innerGroups(element: Element): readonly Group[] {
  switch (element.kind) {
    case "service":
    case "optional":
    case "minus":
    case "group":
      return [element.body];
    case "union":
      return element.branches;
    case "select":
      return groupsOfSelect(element.select);
    case "filter":
      return conditionGroups(element.condition);
    default:
      return [];
  }
}

const groupsOfSelect = ({ where, having }: Select): readonly Group[] => [
  where,
  ...(having ? conditionGroups(having) : []),
];

function conditionGroups(condition: Condition): readonly Group[] {
  switch (condition.kind) {
    case "exists":
      return [condition.body];
    case "and":
    case "or":
      return [...conditionGroups(condition.left), ...conditionGroups(condition.right)];
    case "not":
      return conditionGroups(condition.inner);
    default:
      return [];
  }
}

/** The groups of the query itself: its pattern, and those of EXISTS in its HAVING. */
export const outerGroups = (query: GeneratedQuery): readonly Group[] =>
  query.form === "select" ? groupsOfSelect(query.select) : [query.where];

/** The pattern of the query. */
export function whereOf(query: GeneratedQuery): Group {
  return query.form === "select" ? query.select.where : query.where;
}
