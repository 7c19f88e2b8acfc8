import type { Random } from "../../../support/random.ts";
import { isWord, type Query, parseQuery, type Token, tokenize, withServiceUrls } from "../../../../src/sparql/query.ts";
import type { GoldQuery } from "./gold-queries.ts";

/** Makes a mistake; undefined where the query has nothing to make it with. */
type Mistake = (gold: GoldQuery, random: Random) => string | undefined;

const behindPrologue = (tokens: readonly Token[]): number => {
  let at = 0;
  while (isWord(tokens[at], "PREFIX")) at += 3;
  return at;
};

const replaced = (text: string, { start, end }: Pick<Token, "start" | "end">, by: string): string =>
  text.slice(0, start) + by + text.slice(end);

function pick<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items.length === 0 ? undefined : items[random.below(items.length)];
}

/** Names in the patterns, but for those in the prologue, with the place of their local part. */
function namesIn(text: string, kind: "class" | "property" | "any") {
  const tokens = tokenize(text);
  const from = behindPrologue(tokens);
  return tokens.flatMap((token, at) => {
    if (at < from || token.kind !== "pname" || tokens[at - 1]?.text === "^^") return [];
    const isClass = isWord(tokens[at - 1], "A");
    const isProperty = ["var", "string", "pname", "iri", "number"].includes(tokens[at + 1]?.kind ?? "") && !isClass;
    if (kind === "class" ? !isClass : kind === "property" ? !isProperty : !isClass && !isProperty) return [];
    const cut = Math.max(token.text.lastIndexOf(":"), token.text.lastIndexOf("\\#") + 1) + 1;
    return [{ token, head: token.text.slice(0, cut), local: token.text.slice(cut) }];
  });
}

/** The same name everywhere in the text, as somebody writes it who does not know it. */
function renamed(
  text: string,
  { token, head, local }: ReturnType<typeof namesIn>[number],
  by: string,
): string | undefined {
  if (by === local || by === "") return undefined;
  const same = tokenize(text).filter((each) => each.kind === "pname" && each.text === token.text);
  return same.toReversed().reduce((changed, each) => replaced(changed, each, head + by), text);
}

function misspelt(name: string, random: Random): string {
  const at = 1 + random.below(Math.max(1, name.length - 2));
  switch (random.below(4)) {
    case 0:
      return name.slice(0, at) + name.slice(at + 1);
    case 1:
      return name.slice(0, at) + name.charAt(at) + name.slice(at);
    case 2:
      return name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2);
    default:
      return `${name.slice(0, at)}x${name.slice(at + 1)}`;
  }
}

const long = ({ local }: { readonly local: string }): boolean => /^[A-Za-z_]{4,}$/.test(local);

const misspell =
  (kind: "class" | "property"): Mistake =>
  ({ text }, random) => {
    const name = pick(namesIn(text, kind).filter(long), random);
    return name && renamed(text, name, misspelt(name.local, random));
  };

const services = (text: string) => {
  const tokens = tokenize(text);
  return tokens.filter((token, at) => token.kind === "iri" && isWord(tokens[at - 1], "SERVICE"));
};

/** Constants of the patterns and of comparisons by `=`; `tail` is the language or datatype behind one. */
function constantsIn(text: string) {
  const tokens = tokenize(text);
  return tokens.flatMap((token, at) => {
    if (!["pname", "iri"].includes(tokens[at - 1]?.kind ?? "") && tokens[at - 1]?.text !== "=") return [];
    if (token.kind !== "number" && token.kind !== "string") return [];
    const end = endOfLiteral(tokens, at);
    return [{ token, end, tail: text.slice(token.end, end) }];
  });
}

function endOfLiteral(tokens: readonly Token[], at: number): number {
  const [token, next] = [tokens[at], tokens[at + 1]];
  if (next?.kind === "lang") return next.end;
  return (next?.text === "^^" ? tokens[at + 2]?.end : token?.end) ?? 0;
}

const bodyOf = (text: string): { readonly open: number; readonly close: number } | undefined => {
  const tokens = tokenize(text);
  const open = tokens.find(({ text: sign }) => sign === "{");
  const close = tokens.findLast(({ text: sign }) => sign === "}");
  return open && close && { open: open.start, close: close.end };
};

/** A SELECT of plain variables whose answer an INSERT of the same could have meant. */
function asUpdate(text: string): string | undefined {
  const select = /\bselect\s+(?:distinct\s*)?((?:\?\w+\s+)+)where\s*(?=\{)/i.exec(text);
  const body = bodyOf(text);
  if (
    !select ||
    !body ||
    select.index !== text.search(/\bselect\b/i) ||
    /group\s+by|having|limit|offset/i.test(text.slice(body.close))
  )
    return undefined;
  const names = select[1]?.trim().split(/\s+/) ?? [];
  const template = names.map((name) => `[] <urn:found:${name.slice(1)}> ${name}`).join(" . ");
  return `${text.slice(0, select.index)}INSERT { ${template} } WHERE ${text.slice(body.open, body.close)}`;
}

/** `?s p ?o` of two variables, alone between dots or braces. */
function reversed(text: string, random: Random): string | undefined {
  const tokens = tokenize(text);
  const starts = tokens.flatMap((token, at) => {
    const [property, object] = [tokens[at + 1], tokens[at + 2]];
    if (token.kind !== "var" || property?.kind !== "pname" || object?.kind !== "var") return [];
    const around = [tokens[at - 1], tokens[at + 3]].map((each) => each?.text ?? "");
    return around.every((sign) => [".", "{", "}"].includes(sign)) ? [{ token, property, object }] : [];
  });
  const one = pick(starts, random);
  if (!one) return undefined;
  const { token, property, object } = one;
  return `${text.slice(0, token.start)}${object.text} ${property.text} ${token.text}${text.slice(object.end)}`;
}

/** A value as people say it: another case, a letter wrong. */
function reworded(text: string, random: Random): string | undefined {
  const words = constantsIn(text).filter(({ token }) => token.kind === "string" && /^['"]\p{L}{4,}/u.test(token.text));
  const one = pick(words, random);
  if (!one) return undefined;
  const inner = one.token.text.slice(1, -1);
  const [quote] = one.token.text;
  const swapped = inner === inner.toLowerCase() ? inner.charAt(0).toUpperCase() + inner.slice(1) : inner.toLowerCase();
  return replaced(text, one.token, `${quote}${random.chance(0.5) ? swapped : misspelt(inner, random)}${quote}`);
}

/** A constant with a language or datatype that it does not have in the data. */
function retyped(text: string, random: Random): string | undefined {
  const one = pick(constantsIn(text), random);
  if (!one) return undefined;
  const { token, end, tail } = one;
  const place = { start: token.start, end };
  if (token.kind === "number") return replaced(text, place, `"${token.text}"`);
  if (tail.startsWith("@")) return replaced(text, place, random.chance(0.5) ? token.text : `${token.text}@xx`);
  return replaced(text, place, tail.startsWith("^^") ? token.text : `${token.text}@en`);
}

function withoutService(text: string, random: Random): string | undefined {
  const parsed = parsedOf(text);
  const clauses = (parsed?.outline.where?.elements ?? []).filter((element) => element.kind === "service");
  const clause = pick(clauses, random);
  if (!parsed || !clause) return undefined;
  const [first, open, last] = [clause.from, clause.group.from, clause.to - 1].map((at) => parsed.tokens[at]);
  if (!first || !open || !last) return undefined;
  return `${parsed.text.slice(0, first.start)}${parsed.text.slice(open.end, last.start)}${parsed.text.slice(last.end)}`;
}

function parsedOf(text: string): Query | undefined {
  try {
    return parseQuery(
      withServiceUrls(text, (id) => `http://${id}.invalid/`).text.replaceAll(
        /http:\/\/([\w-]+)\.invalid\//g,
        "urn:id:$1",
      ),
    );
  } catch {
    return undefined;
  }
}

const withIds = (text: string | undefined): string | undefined => text?.replaceAll("<urn:id:", "<");

/** The ways in which queries are broken. */
export const mistakes: Readonly<Record<string, Mistake>> = {
  "prefix dropped": ({ text }, random) => {
    const declared = [...text.matchAll(/PREFIX\s+([\w-]*:)\s*<[^>]*>\s*/gi)];
    const body = text.slice(bodyOf(text)?.open ?? 0);
    const used = declared.filter(([, prefix = ""]) => new RegExp(`(?<![\\w-])${prefix}\\w`).test(body));
    return text.replace(pick(used, random)?.[0] ?? text, "") || undefined;
  },
  "predicate misspelt": misspell("property"),
  "class misspelt": misspell("class"),
  "case wrong": ({ text }, random) => {
    const name = pick([...namesIn(text, "property"), ...namesIn(text, "class")].filter(long), random);
    if (!name) return undefined;
    const { local } = name;
    const other = local === local.toLowerCase() ? local.charAt(0).toUpperCase() + local.slice(1) : local.toLowerCase();
    return renamed(text, name, other);
  },
  "endpoint swapped": ({ text }, random) => {
    const targets = services(text);
    const one = pick(targets, random);
    const others = ["people", "places", "museums", "library", "weather"].filter((id) => `<${id}>` !== one?.text);
    return one && replaced(text, one, `<${pick(others, random)}>`);
  },
  "SERVICE missing": ({ text, federation }, random) => {
    if (federation !== undefined) return undefined;
    return withIds(withoutService(text, random));
  },
  "brace missing": ({ text }) => {
    const { close } = bodyOf(text) ?? {};
    return close === undefined ? undefined : text.slice(0, close - 1) + text.slice(close);
  },
  "language or datatype wrong": ({ text }, random) => retyped(text, random),
  "http for https": ({ text }, random) => {
    const body = text.slice(bodyOf(text)?.open ?? 0);
    const declared = [...text.matchAll(/PREFIX\s+([\w-]*:)\s*<(https?):/gi)].filter(([, prefix = ""]) =>
      new RegExp(`(?<![\\w-])${prefix}\\w`).test(body),
    );
    const [whole = "", , scheme = ""] = pick(declared, random) ?? [];
    return whole === ""
      ? undefined
      : text.replace(whole, whole.replace(`${scheme}:`, scheme === "http" ? "https:" : "http:"));
  },
  "code fence": ({ text }) => `\`\`\`sparql\n${text}\n\`\`\``,
  "prose around": ({ text }, random) =>
    pick(
      [
        `<think>The user wants rows. SELECT is right here.</think>\nHere is the query:\n\n${text}\n\nIt gives what was asked for.`,
        `Sure! The query that answers this is:\n\`\`\`\n${text}\n\`\`\`\nLet me know if you need more.`,
        `${text}\n\nThis query returns the wanted rows.`,
      ],
      random,
    ),
  update: ({ text }) => asUpdate(text),
  "direction reversed": ({ text }, random) => reversed(text, random),
  "endpoint named otherwise": ({ text }, random) => {
    const one = pick(services(text), random);
    const id = one?.text.slice(1, -1) ?? "";
    return (
      one && replaced(text, one, pick([id, `"${id}"`, `<${id.toUpperCase()}>`, `<${id.slice(0, -1)}>`], random) ?? id)
    );
  },
  "keys unlike": ({ mistakes: own }) => own?.["unlike-keys"],
  "value worded otherwise": ({ text }, random) => reworded(text, random),
};
