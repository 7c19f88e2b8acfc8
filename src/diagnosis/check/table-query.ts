import { rdf } from "../../rdf/vocabularies.ts";
import { isWord, type Token } from "../../sparql/query.ts";
import type { KnownNames } from "./known-names.ts";
import type { TextAttempt } from "./service-names.ts";
import { readTokens } from "./update-to-select.ts";

/** Words of SQL that end a part of it. */
const clauses = ["FROM", "WHERE", "ORDER", "LIMIT"] as const;
const aggregates = ["COUNT", "SUM", "AVG", "MIN", "MAX"];
const comparisons: ReadonlySet<string> = new Set(["=", "!=", "<", ">", "<=", ">=", "LIKE"]);

/**
 * `SELECT name FROM singer WHERE age > 20 ORDER BY name LIMIT 3` as a query: the table is a class, its columns are properties.
 * Nothing for several tables, groups, alternatives and subqueries, or where one of the names has no meaning.
 */
export function* withTable(text: string, known: KnownNames): Generator<TextAttempt> {
  const tokens = (readTokens(text) ?? []).filter((token) => token.text !== ";");
  if (!isWord(tokens[0], "SELECT") || tokens.some((token) => isOfOtherSql(token))) return;
  const [table] = partOf(tokens, "FROM");
  const type = table?.kind === "word" ? known.classNamed(text.slice(table.start, table.end)) : undefined;
  if (type === undefined) return;
  const query = new TableQuery(text, type, known).read(tokens);
  if (query === undefined) return;
  const why = "a table is a class, its columns are properties";
  yield { text: query, repairs: [{ kind: "table", before: text, after: query, applied: false, why }] };
}

const isOfOtherSql = (token: Token): boolean =>
  token.text === "{" || token.kind === "var" || isWord(token, "JOIN", "GROUP", "HAVING", "UNION", "OR", "NOT");

/** The tokens behind a word of SQL, up to the next one. */
function partOf(tokens: readonly Token[], ...words: readonly string[]): readonly Token[] {
  const from = tokens.findIndex((token) => isWord(token, ...words)) + 1;
  const length = tokens.slice(from).findIndex((token) => isWord(token, ...clauses));
  return from === 0 ? [] : tokens.slice(from, length < 0 ? undefined : from + length);
}

function splitAt(tokens: readonly Token[], separator: string): readonly (readonly Token[])[] {
  const parts: Token[][] = tokens.length === 0 ? [] : [[]];
  for (const token of tokens) {
    if (token.text === separator) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** A query of one table on its way. */
class TableQuery {
  readonly #text: string;
  readonly #type: string;
  readonly #known: KnownNames;
  /** IRIs of properties by the names of variables. */
  readonly #properties = new Map<string, string>();
  #isRead = true;

  constructor(text: string, type: string, known: KnownNames) {
    this.#text = text;
    this.#type = type;
    this.#known = known;
  }

  /** Undefined where something in it has no meaning. */
  read(tokens: readonly Token[]): string | undefined {
    const distinct = isWord(tokens[1], "DISTINCT") ? "DISTINCT " : "";
    const columns = splitAt(partOf(tokens, "SELECT").slice(distinct === "" ? 0 : 1), ",").map((each) =>
      this.#column(each),
    );
    const conditions = splitAt(partOf(tokens, "WHERE"), "AND").map((each) => this.#condition(each));
    const order = partOf(tokens, "ORDER")
      .slice(1)
      .map((token) => this.#key(token));
    const limit = partOf(tokens, "LIMIT").map(({ text }) => ` LIMIT ${text}`);
    const patterns = [...this.#properties].map(([name, iri]) => `${iri} ?${name}`);
    const type = `?row <${rdf.type}> ${this.#type}`;
    const group = [[type, ...patterns].join(" ; "), ...conditions].join(" ");
    const key =
      order.length === 0
        ? ""
        : ` ORDER BY ${order
            .filter((each) => each !== "")
            .toReversed()
            .join("")}`;
    return this.#isRead
      ? `SELECT ${distinct}${columns.join(" ")} WHERE { ${group} }${key}${limit.join("")}`
      : undefined;
  }

  /** `name` or `s.name` as a variable. */
  #variable(column: readonly Token[]): string {
    const last = column.at(-1);
    const name = last?.kind === "word" ? this.#text.slice(last.start, last.end) : "";
    const iri = name === "" ? undefined : this.#known.propertyNamed(name, [this.#type]);
    if (iri === undefined) this.#isRead = false;
    else this.#properties.set(name, iri);
    return `?${name}`;
  }

  /** `name`, `s.name AS n`, `COUNT(*)`, `COUNT(DISTINCT name) AS n`. */
  #column(column: readonly Token[]): string {
    const [own = [], as = []] = splitAt(column, "AS");
    const [first, , second] = own;
    if (!isWord(first, ...aggregates)) return this.#variable(own);
    const distinct = isWord(second, "DISTINCT") ? "DISTINCT " : "";
    const operand = second?.text === "*" ? "*" : this.#variable(own.slice(2, -1));
    const [name] = as.map(({ start, end }) => this.#text.slice(start, end));
    return `(${first?.text}(${distinct}${operand}) AS ?${name ?? "result"})`;
  }

  #condition(condition: readonly Token[]): string {
    const at = condition.findIndex((token) => comparisons.has(token.text));
    const [sign, value] = condition.slice(at);
    if (at < 1 || sign === undefined || value === undefined || condition.length !== at + 2) this.#isRead = false;
    const variable = this.#variable(condition.slice(0, Math.max(0, at)));
    // What LIKE becomes takes the text itself.
    const compared = value?.kind === "string" && !isWord(sign, "LIKE") ? `STR(${variable})` : variable;
    return `FILTER(${compared} ${sign?.text ?? ""} ${value?.text ?? ""})`;
  }

  #key(token: Token): string {
    if (isWord(token, "DESC", "ASC")) return token.text;
    return `(${this.#variable([token])})`;
  }
}
