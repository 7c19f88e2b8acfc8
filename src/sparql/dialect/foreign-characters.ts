import type { Substitute } from "../parse/substituted-text.ts";

const reasons: Readonly<Record<string, string>> = {
  quotes: "Strings stand in \" or ', variables begin with ?, and names have no quotation marks.",
  entities: "A query has no HTML entities outside of strings.",
  characters: "Outside of strings and names a query is written in the characters of ASCII.",
  equals: "Values are compared by =, !=, <=, >= and REGEX.",
  comment: "A comment begins with #.",
  literal: 'A date is a literal with its datatype: "2000-01-31"^^xsd:date; a number has no separators.',
  prefix: "A prefix is declared by PREFIX name: <namespace>, with nothing behind.",
  function: "SPARQL has this function in another form.",
  path: "Paths are written with /, |, ^, +, * and ?.",
  "local-name": "In a local name #, / and brackets are escaped (:people\\#name); a bare # begins a comment.",
  iri: "An IRI stands between < and >.",
  name: "Variables begin with ? and have letters, digits and _.",
  spelling: "A keyword is written in another way.",
};

interface CharacterEdit {
  readonly kind: string;
  readonly why: string;
  readonly edit: readonly Substitute[];
}

/**
 * A character outside SPARQL wherever it stands outside of strings, IRIs and comments, with its replacement and the reason.
 */
type Row = readonly [kind: string, written: RegExp, instead: string | ((found: string) => string)];

const declaration =
  /(?:@?\bprefix(?:es)?|\bimport|\busing):?\s{1,9}([\w-]*)\s{0,9}(?::[:=]?|=|\bas\b)?\s{0,9}[<"](https?:[^<>"\s]+)[>"]?(?:\s{0,9}[.;,](?=\s))?/;

const anyDeclaration = new RegExp(declaration, "i");
const legalDeclaration = /^prefix\s+[\w-]*:\s*<[^<>]*>$/i;

const rows: readonly Row[] = [
  [
    "prefix",
    declaration,
    (found) => (legalDeclaration.test(found) ? found : found.replace(anyDeclaration, "PREFIX $1: <$2>")),
  ],
  ["quotes", /'([^'\n]+''[^'\n]+)'/, (found) => JSON.stringify(found.slice(1, -1).replaceAll("''", "'"))],
  ["quotes", /[“„«”＂]([^“„«”»＂"\n]*)[”“»＂]/, '"$1"'],
  ["quotes", /[‘‚‹’]([^‘’‚‹›'\n]*)[’‘›]/, '"$1"'],
  ["quotes", /``([^`'\n]*)''/, '"$1"'],
  ["quotes", /["'](?<=[\w>;]\s{1,9}["'])([\w-]*:[a-z][\w-]*)["'](?=\s{1,9}[?<"':\w])/, "$1"],
  ["iri", /["'](?<=[\w>;]\s{1,9}["'])(https?:[^\s"']+)["'](?=\s{1,9}[?<"':\w])/, "<$1>"],
  ["literal", /(?<=["'])::(\w+)/, "^^xsd:$1"],
  ["function", /[?$]\w+(?:::|\^\^)[\w:]+/, (found) => found.replace(/^(.\w+)(?:::|\^\^)(.*)$/, "CAST($1 AS $2)")],
  ["quotes", /""(?=\w)([^"\n]+)""/, '"$1"'],
  ["quotes", /`(?!``)([^`\n]*)`/, "$1"],
  ["quotes", /\\(["'{}])/, "$1"],
  ["characters", /\\[nrt](?=[\s?{}]|[A-Z])/, " "],
  ["characters", /[！-～]/, (sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xfe_e0)],
  ["characters", /[\u200B\u2060\uFEFF]/, ""],
  ["characters", /[\u00A0\u2000-\u200A\u202F\u3000]/, " "],
  ["characters", /[−–—]/, "-"],
  ["equals", /[≠≤≥∧∨¬]/, (sign) => ({ "≠": "!=", "≤": "<=", "≥": ">=", "∧": "&&", "∨": "||" })[sign] ?? "!"],
  ["comment", /(?<![^\s{}.;])(?:--|\/\/) ([^\n]*)/, "# $1"],
  ["comment", /\/\*[^*]{0,999}\*\/|<!--(?:(?!<!--)[^>]){0,999}-->/, ""],
  ["literal", /#?\b(\d{4}-\d\d-\d\d)#?(?:\^\^(?:[\w:]+))?(?![\w-])/, '"$1"^^xsd:date'],
  ["literal", /\b(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?)/, '"$1"^^xsd:dateTime'],
  ["literal", /(?<![\w.])\d+[KML]\b/, (found) => found.replace(/k/i, "000").replace(/m/i, "000000").replace(/l/i, "")],
  [
    "literal",
    /(?<![\w.])\d{1,3}(?:[, ]\d{3}){0,6}[, ]000\b|\b\d{1,3}(?:_\d{3}){1,6}\b/,
    (found) => found.replaceAll(/[,_ ]/g, ""),
  ],
  ["local-name", /((?:^|(?<=[\s{}(;,/|^!.]))[\w-]*:[\w.-]+)#(?=\w)/, String.raw`$1\#`],
  ["local-name", /(?<=[\s(/|^])[a-z]\w*:\w+_\(\w+\)/, (found) => found.replaceAll(/[()]/g, String.raw`\$&`)],
  ["iri", /<\s*(https?:\/\/[^\s<>"{}]+)\s+>|<(https?:\/\/[^\s<>"{}]+)(?=\s)|(https?:\/\/[^\s<>"{})\]]+)>?/, "<$1>"],
  ["path", /((?:^|(?<=[\s(]))\w*:\w+)\s{0,9}->\s{0,9}(?=\w*:)/, "$1/"],
  ["name", /(?<![\w:]|prefix )([a-z]\w*:) (?=[a-z]\w*(?![\w:]))/, "$1"],
  ["name", /([?$]\w+)[?:](?=[\s,;.)}])/, "$1"],
  ["name", /(?<![\w)>}:])\?[ ]+([a-z]\w*)/, "?$1"],
  ["name", /[?$]\w+(?:-[A-Za-z]\w*)+(?![\w:(])/, (found) => found.replaceAll("-", "_")],
  ["spelling", /\b(SELECT|WHERE|OPTIONAL|UNION|FILTER|LIMIT|VALUES|BIND|PREFIX):(?=\s)/i, "$1"],
  ["spelling", /(?<![\w:?$@#/.<-])[A-Za-z]{5,11}(?![\w:.-])/, (found) => keywordLike(found) ?? found],
];

const keywords =
  "SELECT WHERE FILTER OPTIONAL PREFIX GROUP ORDER LIMIT OFFSET UNION MINUS VALUES CONSTRUCT DISTINCT".split(" ");

/** The keyword of which a letter was left out, added or moved. */
function keywordLike(word: string): string | undefined {
  const written = word.toUpperCase();
  if (keywords.includes(written)) return undefined;
  return keywords.find((keyword) => {
    if (Math.abs(keyword.length - written.length) > 1) return false;
    const [shorter = "", longer = ""] = [written, keyword].toSorted((one, other) => one.length - other.length);
    let start = 0;
    while (start < shorter.length && shorter[start] === longer[start]) start++;
    if (longer.length === shorter.length + 1) return longer.slice(start + 1) === shorter.slice(start);
    const swapped = `${shorter.charAt(start + 1)}${shorter.charAt(start)}${shorter.slice(start + 2)}`;
    return longer.length === shorter.length && longer.slice(start) === swapped;
  });
}

const kept = /"""[\s\S]*?"""|'{3}[\s\S]*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|<[^\s<>"{}|^`\\]*>|#[^\n]*/;
const names = rows.map((_, at) => `r${at}`);
const scanner = new RegExp(
  `${rows.map(([, { source }], at) => `(?<${names[at]}>${source})`).join("|")}|${kept.source}`,
  "gi",
);

const entitySigns: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " };
/** They stand also within IRIs, whose end may be one. */
const entity = /&(?:(?<name>lt|gt|amp|quot|apos|nbsp)|#(?<decimal>\d{1,6})|#x(?<hex>[\da-f]{1,5}));/gi;
/** Its last group is empty where the string does not end: the mark may be an apostrophe. */
const anyString = /"(?:[^"\\\n]|\\.)*("?)|'(?:[^'\\\n]|\\.)*('?)/g;

/** A text that was escaped for HTML. Its IRIs and strings are found once it is not. */
function entitiesIn(text: string): readonly Substitute[] {
  const outside = text.replaceAll(anyString, (found, double = "", single = "") =>
    double + single === "" ? found : " ".repeat(found.length),
  );
  return Array.from(outside.matchAll(entity)).flatMap(({ index, 0: { length }, groups = {} }) => {
    const { name, decimal, hex } = groups;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    const sign = name === undefined ? String.fromCodePoint(code) : entitySigns[name.toLowerCase()];
    return sign === undefined || sign === "\0" ? [] : [{ start: index, end: index + length, text: sign }];
  });
}

/** Changes of what a text has outside of strings, IRIs and comments, all of a kind together; entities of HTML alone. */
export function foreignCharacters(text: string): readonly CharacterEdit[] {
  const entities = entitiesIn(text);
  const edits = entities.length > 0 ? new Map([["entities", entities]]) : characterEdits(text);
  return [...edits].map(([kind, edit]) => ({ kind, why: reasons[kind] ?? "", edit }));
}

function characterEdits(text: string): ReadonlyMap<string, readonly Substitute[]> {
  const edits = new Map<string, Substitute[]>();
  for (const found of text.matchAll(scanner)) {
    const at = names.findIndex((name) => found.groups?.[name] !== undefined);
    const [kind, , instead] = rows[at] ?? [];
    if (kind === undefined || instead === undefined) continue;
    const [before, , inner = ""] = found.filter((each) => each !== undefined);
    const after = typeof instead === "string" ? instead.replace("$1", () => inner) : instead(before ?? "");
    const edit = { start: found.index, end: found.index + (before ?? "").length, text: after };
    const same = edits.get(kind) ?? [];
    if (after !== before) same.push(edit);
    if (same.length > 0) edits.set(kind, same);
  }
  return edits;
}
