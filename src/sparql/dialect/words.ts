import { isWord } from "../tokens.ts";
import type { Stumble } from "./stumble.ts";
import { type Edit, type Mending, matches } from "./token-pattern.ts";

/** Pairs of words, the second in the place of the first. */
const pairs = (list: string): ReadonlyMap<string, string> =>
  new Map(list.split(" ").map((pair) => [pair.slice(0, pair.indexOf(">")), pair.slice(pair.indexOf(">") + 1)]));

const functionNames = pairs(
  "LOWER>LCASE TOLOWER>LCASE UPPER>UCASE TOUPPER>UCASE LENGTH>STRLEN LEN>STRLEN CHAR_LENGTH>STRLEN SUBSTRING>SUBSTR MID>SUBSTR " +
    "CEILING>CEIL AVERAGE>AVG MEAN>AVG STRING>STR TO_CHAR>STR STARTSWITH>STRSTARTS STARTS_WITH>STRSTARTS ENDSWITH>STRENDS " +
    "ENDS_WITH>STRENDS STRCONTAINS>CONTAINS IFNULL>COALESCE NVL>COALESCE IIF>IF REGEXP_LIKE>REGEX REGEXP_REPLACE>REPLACE " +
    "INT>xsd:integer INTEGER>xsd:integer FLOAT>xsd:double DOUBLE>xsd:double DECIMAL>xsd:decimal DATE>xsd:date " +
    "TO_DATE>xsd:date TIMESTAMP>xsd:dateTime DESCENDING>DESC ASCENDING>ASC GETDATE>NOW CURRENT_TIMESTAMP>NOW",
);
const types = pairs(
  "INT>integer INTEGER>integer BIGINT>integer SIGNED>integer UNSIGNED>integer FLOAT>double DOUBLE>double REAL>double " +
    "DECIMAL>decimal NUMERIC>decimal CHAR>string VARCHAR>string TEXT>string STRING>string DATE>date DATETIME>dateTime",
);

/** One change: a text in the place of some tokens. */
const instead = (stumble: Stumble, [from, to]: readonly [number, number], text: string): readonly Edit[] => [
  [{ start: stumble.tokens[from]?.start ?? 0, end: stumble.tokens[to - 1]?.end ?? 0, text }],
];
const here = (stumble: Stumble, text: string): readonly Edit[] => instead(stumble, [stumble.at, stumble.at + 1], text);

/** Functions of SQL by another name. */
export const renamedFunction: Mending = (stumble) => {
  const name = functionNames.get(stumble.word(stumble.at));
  return name !== undefined && stumble.word(stumble.at + 1) === "(" ? here(stumble, name) : [];
};

/** `CAST(?x AS INTEGER)`, also with a datatype of SPARQL. */
export const castType: Mending = (stumble) => {
  const found = matches(stumble, "@CAST ( operand AS");
  const [, , value, as] = found ?? [];
  const close = stumble.partner(stumble.at + 1);
  if (value === undefined || as === undefined || close === undefined) return [];
  const type = types.get(stumble.word(as.to));
  const name = type === undefined ? stumble.written(as.to, close) : `xsd:${type}`;
  return instead(stumble, [stumble.at, close + 1], `${name}(${stumble.written(value.from, value.to)})`);
};

/** `?name LIKE 'A%'` */
export const like: Mending = (stumble) => {
  const [value, not, , mask] = matches(stumble, "operand NOT? @LIKE|ILIKE string") ?? [];
  if (value === undefined || not === undefined || mask === undefined) return [];
  const isFolded = isWord(stumble.tokens[stumble.at], "ILIKE");
  const fold = (text: string): string => (isFolded ? `LCASE(${text})` : text);
  const own = fold(`STR(${stumble.written(value.from, value.to)})`);
  const condition = likeCondition(own, stumble.word(mask.from), fold);
  return instead(stumble, [value.from, mask.to], (not.to > not.from ? "!" : "") + condition);
};

function likeCondition(own: string, quoted: string, fold: (text: string) => string): string {
  const [quote, mask] = [quoted.charAt(0), quoted.slice(1, -1)];
  const [, before = "", inner = "", behind = ""] = /^(%?)(.*?)(%?)$/s.exec(mask) ?? [];
  const wanted = fold(quote + inner + quote);
  if (/[%_]/.test(inner)) {
    const pattern = mask
      .replaceAll(/[.*+?^$()|[\]{}]/g, "\\\\$&")
      .replaceAll("%", ".*")
      .replaceAll("_", ".");
    return `REGEX(${own}, ${fold(`${quote}^${pattern}$${quote}`)}, "s")`;
  }
  if (before + behind === "") return `(${own} = ${wanted})`;
  const name = before === "" ? "STRSTARTS" : behind === "" ? "STRENDS" : "CONTAINS";
  return `${name}(${own}, ${wanted})`;
}

/** A word without `?`, or a name in quotes: a variable that the query has, else text that a value is compared with. */
export const bareWord: Mending = (stumble) => {
  const { tokens, at } = stumble;
  const isWordAt = tokens[at]?.kind === "word";
  const word = stumble.written(at, at + 1).replaceAll(/["']/g, "");
  if (!(isWordAt || tokens[at]?.kind === "string") || !/^[A-Za-z]\w*$/.test(word) || stumble.isReserved(at)) return [];
  const isMeant = (name: string): boolean => name.slice(1).toLowerCase() === word.toLowerCase();
  const known = tokens.find(({ kind, text }) => kind === "var" && isMeant(text));
  if (known !== undefined) return here(stumble, known.text);
  const isText = isWordAt && stumble.word(at + 1) !== "(" && stumble.clause().endsWith("(");
  return isText ? here(stumble, JSON.stringify(word)) : [];
};

const special = /[!$&'()*+,;=/?#@%]/g;

/** `:city#name`, where a comment begins: what a local name has to escape. */
export const hashInName: Mending = ({ tokens, text, at }) => {
  const hashes = tokens.flatMap(({ kind, end }, index) =>
    kind === "pname" && text[end] === "#" && /\w/.test(text[end + 1] ?? "")
      ? [{ start: end, end: end + 1, text: "\\#", index }]
      : [],
  );
  return hashes.some(({ index }) => index <= at) ? [hashes] : [];
};

/** `dbr:Paris_(song)` */
export const localName: Mending = (stumble) => {
  const { text, tokens, at } = stumble;
  const isJoined = (index: number): boolean =>
    tokens[index - 1]?.end === tokens[index]?.start && tokens[index]?.kind !== "var";
  let first = at;
  while (first > 0 && isJoined(first)) first--;
  const { kind, end: start = 0 } = tokens[first] ?? {};
  const rest = /^[^\s{}<>"|^?]*/.exec(text.slice(start, start + 200))?.[0].replace(/[.;,]+$/, "") ?? "";
  if (first === at || kind !== "pname" || rest === "" || !stumble.clause().startsWith("{")) return [];
  return [[{ start, end: start + rest.length, text: rest.replaceAll(special, "\\$&") }]];
};

/** `http://example.org/x` without `<` and `>`, also in quotes in the place of a property. */
export const bareIri: Mending = (stumble) => {
  const token = stumble.tokens[stumble.at];
  const url = /^(["'])?(https?:\/\/[^\s<>"'{}|^`\\;,]*[^\s<>"'{}|^`\\;,.)])\1/y;
  url.lastIndex = 0;
  const [whole, , iri] = (token && url.exec(stumble.text.slice(token.start, token.start + 2_000))) ?? [];
  if (token === undefined || whole === undefined) return [];
  return [[{ start: token.start, end: token.start + whole.length, text: `<${iri}>` }]];
};

const openQuotes = new Map([
  ["“", "”"],
  ["‘", "’"],
  ["`", "`"],
]);

/** Quotation marks of typesetters and backticks around a text or a name; `'O''Brien'`. */
export const foreignQuotes: Mending = (stumble) => {
  const { text, tokens } = stumble;
  const token = tokens[stumble.at];
  const before = tokens[stumble.at - 1];
  if (token === undefined) return [];
  if (token.kind === "string" && before?.kind === "string" && before.end === token.start) {
    return [[{ start: token.start - 1, end: token.start + 1, text: `\\${token.text.charAt(0)}` }]];
  }
  const quote = openQuotes.get(token.text);
  const end = quote === undefined ? -1 : text.indexOf(quote, token.end);
  const inner = text.slice(token.end, Math.max(token.end, end));
  if (end < 0 || inner === "" || /[\n"\\]/.test(inner)) return [];
  const written = quote !== "`" ? `"${inner}"` : /^\w+$/.test(inner) ? `?${inner}` : inner;
  return [[{ start: token.start, end: end + 1, text: written }]];
};

/** `-- comment`, `// comment` and `/* comment` with its end. */
export const foreignComment: Mending = ({ text, tokens, at: misfit }) =>
  [misfit - 1, misfit].flatMap((index) => {
    const start = tokens[index]?.start ?? text.length;
    const comment = /^(?:(?:--|\/\/)[^\n]*|\/\*[^*]*\*\/)/.exec(text.slice(start, start + 2_000))?.[0];
    return comment === undefined ? [] : [[{ start, end: start + comment.length, text: "" }]];
  });
