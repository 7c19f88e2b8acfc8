import type { Substitute } from "../parse/substituted-text.ts";
import { isWord } from "../parse/tokens.ts";
import { modifierWords, type Stumble } from "./stumble.ts";
import { aggregates, type Mending, matches, newVariable } from "./token-pattern.ts";

const startOf = ({ tokens, text }: Stumble, at: number): number => tokens[at]?.start ?? text.length;
const endOf = ({ tokens }: Stumble, at: number): number => tokens[at]?.end ?? 0;
const inserted = (offset: number, text: string): Substitute => ({ start: offset, end: offset, text });
const replaced = (stumble: Stumble, [from, to]: readonly [number, number], text = ""): Substitute => ({
  start: startOf(stumble, from),
  end: Math.max(startOf(stumble, from), endOf(stumble, to - 1)),
  text,
});

/** `SELECT ?a (COUNT(*) AS ?n)`: the variable becomes a key. */
export const groupedBy: Mending = (stumble) => {
  const parts = /ungrouped/.test(stumble.message) ? stumble.selectAround() : undefined;
  if (parts === undefined) return [];
  const group = stumble.next(parts.close + 1, "GROUP");
  const end = group < parts.end ? stumble.next(group + 2, ...modifierWords) : parts.close + 1;
  const key = stumble.word(stumble.at);
  return [[inserted(endOf(stumble, end - 1), group < parts.end ? ` ${key}` : ` GROUP BY ${key}`)]];
};

/** `FILTER(COUNT(?x) > 3)` becomes HAVING; `FILTER(?x = MAX(?x))` compares with a subquery. */
export const aggregateInFilter: Mending = (stumble) => {
  const { at } = stumble;
  const parts = /stands outside/.test(stumble.message) ? stumble.selectAround() : undefined;
  let open = stumble.opener(at, "(");
  while (open > 0 && !isWord(stumble.tokens[open - 1], "FILTER")) open = stumble.opener(open, "(");
  const [close, call] = [stumble.partner(open), stumble.partner(at + 1)];
  if (parts === undefined || close === undefined || call === undefined) return [];
  const removed = replaced(stumble, [open - 1, close + 1]);
  const own = stumble.tokens.slice(at, call).find(({ kind }) => kind === "var")?.text;
  if (!stumble.tokens.slice(open, at).some(({ text }) => text === own)) {
    const having = stumble.next(parts.close + 1, "HAVING", "ORDER", "LIMIT", "OFFSET");
    const isFirst = !isWord(stumble.tokens[having], "HAVING");
    const place = endOf(stumble, isFirst ? having - 1 : having);
    return [[removed, inserted(place, ` ${isFirst ? "HAVING" : ""}${stumble.written(open, close + 1)}`)]];
  }
  const group = stumble.opener(open, "{");
  const name = newVariable(stumble.text, stumble.word(at));
  const rest = stumble.written(group, open - 1) + stumble.written(close + 1, (stumble.partner(group) ?? close) + 1);
  const subquery = `{ SELECT (${stumble.written(at, call + 1)} AS ${name}) WHERE ${rest} } `;
  return [[inserted(removed.start, subquery), replaced(stumble, [at, call + 1], name)]];
};

/** `MAX(COUNT(?x))` takes the inner aggregate from a subquery, with the groups of the query. */
export const nestedAggregate: Mending = (stumble) => {
  const parts = /inside an aggregate/.test(stumble.message) ? stumble.selectAround() : undefined;
  const call = stumble.partner(stumble.at + 1);
  if (parts === undefined || call === undefined) return [];
  const { open, close, end } = parts;
  const group = stumble.next(close + 1, "GROUP");
  const behind = group < end ? stumble.next(group + 2, ...modifierWords) : close + 1;
  const inner = new Set(stumble.tokens.slice(stumble.at, call).map(({ text }) => text));
  const others = new Set(
    stumble.tokens.slice(open, close).flatMap(({ kind, text }) => (kind === "var" && !inner.has(text) ? [text] : [])),
  );
  const keys = group < end ? stumble.written(group + 2, behind) : [...others].join(" ");
  if (keys === "" || (group >= end && others.size > 1)) return [];
  const name = newVariable(stumble.text, stumble.word(stumble.at));
  const aggregate = stumble.written(stumble.at, call + 1);
  const where = stumble.written(open, close + 1);
  const subquery = `{ SELECT ${keys} (${aggregate} AS ${name}) WHERE ${where} GROUP BY ${keys} }`;
  return [[replaced(stumble, [stumble.at, call + 1], name), replaced(stumble, [open, behind], `{ ${subquery} }`)]];
};

const order = ["GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"];

/** Solution modifiers in another order, in the group, or before it. */
export const modifiersInOrder: Mending = (stumble) => {
  const { at } = stumble;
  const parts = isWord(stumble.tokens[at], ...modifierWords) ? stumble.selectAround() : undefined;
  if (parts === undefined) return [];
  const { open, close, end } = parts;
  if (at > close) {
    const clauses: string[] = [];
    for (let from = close + 1; from < end; ) {
      const to = stumble.next(from + 1, ...modifierWords);
      clauses.push(stumble.written(from, Math.min(to, end)));
      from = to;
    }
    const rank = (clause: string): number => order.indexOf(/^\w*/.exec(clause)?.[0].toUpperCase() ?? "");
    const sorted = clauses.toSorted((one, other) => rank(one) - rank(other)).join(" ");
    return [[replaced(stumble, [close + 1, end], sorted)]];
  }
  const inside = at > open;
  const to = inside ? stumble.next(at) : stumble.next(at, "WHERE");
  const until = inside ? to : Math.min(to, open);
  const behind = inside ? stumble.partner(stumble.opener(at, "{")) : close;
  if (behind === undefined || until > behind) return [];
  return [[replaced(stumble, [at, until]), inserted(endOf(stumble, behind), ` ${stumble.written(at, until)}`)]];
};

/** A condition or pattern behind the group goes into it, or into HAVING where it is about groups. */
export const backInGroup: Mending = (stumble) => {
  const { at } = stumble;
  const parts = stumble.selectAround();
  if (parts === undefined || at <= parts.close || at >= parts.end) return [];
  if (!/^(?:AND|WHERE|&&|FILTER|OPTIONAL|BIND|[?$].*)$/.test(stumble.word(at))) return [];
  const isJoined = /^(?:AND|WHERE|&&)$/.test(stumble.word(at));
  const to = stumble.next(at + 1, ...modifierWords);
  const start = isJoined || isWord(stumble.tokens[at], "FILTER") ? at + 1 : at;
  const having = ofGroups(stumble, start, to);
  const isOfGroups =
    having !== stumble.written(start, to) || stumble.tokens.slice(start, to).some(({ text }) => aggregates.has(text));
  if (isOfGroups) return [[replaced(stumble, [at, to], `HAVING ${having.startsWith("(") ? having : `(${having})`}`)]];
  const moved = stumble.written(isJoined ? at + 1 : at, to);
  return [[inserted(startOf(stumble, parts.close), ` ${moved} `), replaced(stumble, [at, to])]];
};

/** A condition on groups: names of columns, which HAVING does not know, replaced by their expressions. */
function ofGroups(stumble: Stumble, from: number, to: number): string {
  const { select = 0, open = 0 } = stumble.selectAround() ?? {};
  const columns = new Map<string, string>();
  for (let at = select; at < open; at++) {
    const close = stumble.partner(at) ?? 0;
    if (stumble.word(at) === "(" && isWord(stumble.tokens[close - 2], "AS"))
      columns.set(stumble.word(close - 1), stumble.written(at + 1, close - 2));
  }
  return stumble.written(from, to).replaceAll(/[?$]\w+/g, (name) => columns.get(name) ?? name);
}

/** `HAVING COUNT(?x) > 3` */
export const unbracketedHaving: Mending = (stumble) => {
  const start = stumble.next((stumble.selectAround()?.close ?? stumble.at) + 1, "HAVING");
  const end = stumble.conditionFrom(start + 1);
  return start < stumble.at && end > 0
    ? [[replaced(stumble, [start, end], `HAVING(${ofGroups(stumble, start + 1, end)})`)]]
    : [];
};

/** `WHERE ?s ?p ?o ORDER BY ?s` */
export const whereInBraces: Mending = (stumble) => {
  const { at } = stumble;
  if (!isWord(stumble.tokens[at - 1], "WHERE", "ASK") || stumble.word(at) === "(") return [];
  const to = stumble.next(at, ...modifierWords);
  return [[inserted(endOf(stumble, at - 1), " {"), inserted(endOf(stumble, to - 1), " }")]];
};

/** A prefix that is declared inside or behind the query. */
export const prefixFirst: Mending = (stumble) => {
  const form = stumble.tokens.findIndex((token) => isWord(token, "SELECT", "ASK", "CONSTRUCT", "DESCRIBE"));
  const at = stumble.tokens.findIndex((token, index) => index > form && isWord(token, "PREFIX"));
  if (form < 0 || at < 0) return [];
  return [[inserted(0, `${stumble.written(at, at + 3)} `), replaced(stumble, [at, at + 3])]];
};

/** `?name LIKE 'A%'` */
export const like: Mending = (stumble) => {
  const [value, not, , mask] = matches(stumble, "operand NOT? LIKE|ILIKE string").at(-1) ?? [];
  if (value === undefined || not === undefined || mask === undefined) return [];
  const isFolded = isWord(stumble.tokens[mask.from - 1], "ILIKE");
  const fold = (text: string): string => (isFolded ? `LCASE(${text})` : text);
  const own = fold(`STR(${stumble.written(value.from, value.to)})`);
  const condition = likeCondition(own, stumble.word(mask.from), fold);
  return [[replaced(stumble, [value.from, mask.to], (not.to > not.from ? "!" : "") + condition)]];
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
  if (known !== undefined) return [[replaced(stumble, [at, at + 1], known.text)]];
  const isText = isWordAt && stumble.word(at + 1) !== "(" && stumble.clause().endsWith("(");
  return isText ? [[replaced(stumble, [at, at + 1], JSON.stringify(word))]] : [];
};

/** `:country IS ;`: a text without quotation marks, also one that is a word of SPARQL. */
export const unquoted: Mending = (stumble) => {
  const { tokens, at } = stumble;
  const before = tokens[at - 1];
  const isObject = before?.kind === "pname" || before?.kind === "iri" || before?.text === "=";
  if (tokens[at]?.kind !== "word" || !isObject) return [];
  return [[replaced(stumble, [at, at + 1], JSON.stringify(stumble.written(at, at + 1)))]];
};

/** `:country Wien" ;` and `:country "Wien ;`: a text that lacks one of its quotation marks. */
export const missingQuote: Mending = ({ tokens, at, text }) => {
  const [before, quote] = [tokens[at - 1], tokens[at]];
  if (quote?.kind !== "invalid" || !/["']/.test(quote.text)) return [];
  const rest = text.slice(quote.end);
  const part = rest.slice(0, rest.search(/[;.,})\n]|$/)).trimEnd();
  const [{ length } = ""] = /@[a-z-]+$/i.exec(part) ?? [];
  const closed = [inserted(quote.end + part.length - length, quote.text)];
  return before?.end === quote.start ? [[inserted(before.start, quote.text)], closed] : [closed];
};
