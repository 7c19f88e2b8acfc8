import type { Substitute } from "../substituted-text.ts";
import { isWord } from "../tokens.ts";
import { modifierWords, type Stumble } from "./stumble.ts";
import { aggregates, type Edit, type Mending, newVariable } from "./token-pattern.ts";

const startOf = ({ tokens, text }: Stumble, at: number): number => tokens[at]?.start ?? text.length;
const endOf = ({ tokens }: Stumble, at: number): number => tokens[at]?.end ?? 0;
const inserted = (offset: number, text: string): Substitute => ({ start: offset, end: offset, text });
const replaced = (stumble: Stumble, [from, to]: readonly [number, number], text = ""): Substitute => ({
  start: startOf(stumble, from),
  end: Math.max(startOf(stumble, from), endOf(stumble, to - 1)),
  text,
});
const isVariable = ({ tokens }: Stumble, at: number): boolean => tokens[at]?.kind === "var";

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
  while (open > 0 && !isWord(stumble.tokens[open - 1], "FILTER", "BIND")) open = stumble.opener(open, "(");
  const close = stumble.partner(open);
  const call = stumble.partner(at + 1);
  if (parts === undefined || close === undefined || call === undefined) return [];
  const removed = replaced(stumble, [open - 1, close + 1]);
  if (isWord(stumble.tokens[open - 1], "BIND")) return boundAggregate(stumble, { ...parts, call, removed });
  const inner = new Set(stumble.tokens.slice(at, call).flatMap(({ kind, text }) => (kind === "var" ? [text] : [])));
  const isOwn = stumble.tokens.some(
    ({ text }, index) => index > open && index < close && (index < at || index > call) && inner.has(text),
  );
  if (!isOwn) {
    const having = stumble.next(parts.close + 1, "HAVING", "ORDER", "LIMIT", "OFFSET");
    const word = isWord(stumble.tokens[having], "HAVING") ? "" : "HAVING";
    const place = word === "" ? endOf(stumble, having) : endOf(stumble, having - 1);
    return [[removed, inserted(place, ` ${word}${stumble.written(open, close + 1)}`)]];
  }
  const group = stumble.opener(open, "{");
  const name = newVariable(stumble.text, stumble.word(at));
  const rest = stumble.written(group, open - 1) + stumble.written(close + 1, (stumble.partner(group) ?? close) + 1);
  const subquery = `{ SELECT (${stumble.written(at, call + 1)} AS ${name}) WHERE ${rest} } `;
  return [[inserted(removed.start, subquery), replaced(stumble, [at, call + 1], name)]];
};

interface BoundAggregate {
  readonly select: number;
  readonly open: number;
  readonly call: number;
  readonly removed: Substitute;
}

/** `BIND(COUNT(?x) AS ?n)` becomes a column. */
function boundAggregate(stumble: Stumble, { select, open, call, removed }: BoundAggregate): readonly Edit[] {
  const name = stumble.word(call + 2);
  const column = `(${stumble.written(stumble.at, call + 1)} AS ${name})`;
  const shown = stumble.tokens.findIndex(({ text }, at) => at > select && at < open && text === name);
  return shown < 0 ? [] : [[replaced(stumble, [shown, shown + 1], column), removed]];
}

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

/** `SELECT TOP 5 ?x` */
export const topRows: Mending = (stumble) => {
  const parts = stumble.selectAround();
  const count = stumble.word(stumble.at + 1).replaceAll(/[()]/g, "");
  const behind = count === "" ? stumble.at + 4 : stumble.at + 2;
  const number = count === "" ? stumble.word(stumble.at + 2) : count;
  if (!isWord(stumble.tokens[stumble.at], "TOP", "FIRST") || parts === undefined || !/^\d+$/.test(number)) return [];
  return [[replaced(stumble, [stumble.at, behind]), inserted(endOf(stumble, parts.end - 1), ` LIMIT ${number}`)]];
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

/** A condition on groups: names of columns, which HAVING does not know, as what they stand for. */
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

/** A condition among the patterns: a call, on a variable, on the object of a pattern, or in its place. */
export const unfiltered: Mending = (stumble) => {
  const { at } = stumble;
  const isCall = stumble.tokens[at]?.kind === "word" && stumble.word(at + 1) === "(" && !stumble.isReserved(at);
  if (isCall || stumble.word(at) === "!") {
    const behind = stumble.conditionFrom(at);
    return behind < 0 ? [] : [[replaced(stumble, [at, behind], `FILTER(${stumble.written(at, behind)})`)]];
  }
  const subject = stumble.operandTo(at);
  const end = stumble.conditionFrom(subject);
  if (subject < 0 || end <= at) return [];
  const from = isWord(stumble.tokens[subject - 1], "NOT") ? subject - 1 : subject;
  const isStatement = /^(?:[.;,{}()]?|AND|OR|WHERE|ON|&&)$/.test(stumble.word(from - 1));
  return isStatement ? statement(stumble, { from, subject, end }) : onObject(stumble, { subject, end });
};

interface Condition {
  readonly subject: number;
  readonly end: number;
}

/** `. ?x > 5 .`, and `. ?x = UCASE(?y) .` of a variable that nothing else binds. */
function statement(stumble: Stumble, { from, subject, end }: Condition & { readonly from: number }): readonly Edit[] {
  const start = /^(?:AND|WHERE|ON|&&)$/.test(stumble.word(from - 1)) ? from - 1 : from;
  const filter = [replaced(stumble, [start, end], ` FILTER(${stumble.written(from, end)})`)];
  const name = stumble.word(subject);
  const isNew = isVariable(stumble, subject) && stumble.tokens.filter(({ text }) => text === name).length <= 2;
  if (!isNew || stumble.word(subject + 1) !== "=" || stumble.word(subject + 3) !== "(") return [filter];
  return [[replaced(stumble, [start, end], `BIND(${stumble.written(subject + 2, end)} AS ${name})`)], filter];
}

/** `?s :age ?a > 5` and `?s :age > 5` */
function onObject(stumble: Stumble, { subject, end }: Condition): readonly Edit[] {
  const close = stumble.partner(stumble.opener(stumble.at, "{"));
  const isVerb = ["pname", "iri"].includes(stumble.tokens[subject]?.kind ?? "");
  if (close === undefined || !(isVerb || isVariable(stumble, subject))) return [];
  const name = isVerb ? newVariable(stumble.text, "") : stumble.word(subject);
  const filter = ` FILTER(${name} ${stumble.written(stumble.at, end)}) `;
  const kept = replaced(stumble, [stumble.at, end], isVerb ? name : "");
  return [[kept, inserted(startOf(stumble, close), filter)]];
}

/** `FILTER(?x IN (SELECT ?y WHERE { ... }))` becomes a subquery beside the patterns. */
export const inSubquery: Mending = (stumble) => {
  const { at } = stumble;
  const [open, isNot] = [at - 1, isWord(stumble.tokens[at - 3], "NOT")];
  const subject = isNot ? at - 4 : at - 3;
  const close = stumble.partner(open);
  const outer = stumble.partner(subject - 1);
  const isFilter = isWord(stumble.tokens[subject - 2], "FILTER") && close !== undefined && outer === close + 1;
  if (!isWord(stumble.tokens[at], "SELECT") || !isWord(stumble.tokens[at - 2], "IN") || !isFilter) return [];
  const column = stumble.tokens.findIndex(({ kind }, index) => index > at && kind === "var");
  const [wanted, found] = [stumble.word(subject), stumble.word(column)];
  const subquery = `{ ${stumble.written(at, close)} }`;
  const text = isNot ? `MINUS ${subquery}` : `${subquery}${found === wanted ? "" : ` FILTER(${wanted} = ${found})`}`;
  return isNot && found !== wanted ? [] : [[replaced(stumble, [subject - 2, outer + 1], text)]];
};
