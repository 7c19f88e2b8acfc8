import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One module reference in a source file. */
export interface ImportReference {
  readonly specifier: string;
  readonly line: number;
  /** `import type` or `export type`: erased by the compiler. */
  readonly typeOnly: boolean;
  /** `import(x)` with something else than a literal. */
  readonly computed: boolean;
}

type TokenKind = "word" | "string" | "template" | "sign";
interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
}

/** Every `*.ts` file below a folder, as paths inside it with `/`, sorted. */
export function sourceFiles(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
  return names.filter((name) => name.endsWith(".ts")).toSorted();
}

export function readSource(folder: string, file: string): string {
  return readFileSync(join(folder, file), "utf8");
}

/** All module references of a TypeScript source: static, dynamic, re-exports, `require` and `new URL(x, import.meta.url)`. */
export function scanImports(source: string): readonly ImportReference[] {
  const tokens = tokenize(source);
  return tokens.flatMap((token, index) => referenceAt(tokens, index, token) ?? []);
}

/** The source reads `process.env`. */
export function readsEnvironment(source: string): boolean {
  const tokens = tokenize(source);
  return tokens.some((token, index) => token.text === "process" && textAt(tokens, index + 2) === "env");
}

const textAt = (tokens: readonly Token[], index: number): string => tokens[index]?.text ?? "";

function referenceAt(tokens: readonly Token[], index: number, token: Token): ImportReference | undefined {
  const next = tokens[index + 1];
  if (token.kind !== "word" || !next) return undefined;
  if (next.kind === "string") return beforeString(tokens, index, next);
  if (next.text !== "(") return undefined;
  switch (token.text) {
    case "import":
    case "require":
    case "resolve":
      return called(tokens, index);
    case "createRequire":
      return requiredAtOnce(tokens, index);
    case "URL":
      return urlReference(tokens, index);
    default:
      return undefined;
  }
}

function beforeString(tokens: readonly Token[], index: number, specifier: Token): ImportReference | undefined {
  const word = textAt(tokens, index);
  if (word === "import") return reference(specifier, false);
  return word === "from" ? staticReference(tokens, index, specifier) : undefined;
}

/** `import(x)`, `require(x)`, `require.resolve(x)` */
function called(tokens: readonly Token[], index: number): ImportReference | undefined {
  const argument = tokens[index + 2];
  if (argument?.kind === "string") return reference(argument, textAt(tokens, index - 1) === "typeof");
  return argument && textAt(tokens, index) === "import" ? { ...reference(argument, false), computed: true } : undefined;
}

/** `createRequire(import.meta.url)("x")` */
function requiredAtOnce(tokens: readonly Token[], index: number): ImportReference | undefined {
  const between = tokens.slice(index + 1, index + 9).map(({ text }) => text);
  const argument = tokens[index + 9];
  return between.join("") === "(import.meta.url)(" && argument?.kind === "string"
    ? reference(argument, false)
    : undefined;
}

function reference(token: Token, typeOnly: boolean): ImportReference {
  return { specifier: token.text, line: token.line, typeOnly, computed: false };
}

/** `from "x"` belongs to the nearest `import` or `export` before it; the word after that says whether it is a type. */
function staticReference(tokens: readonly Token[], index: number, specifier: Token): ImportReference | undefined {
  for (let start = index - 1; start >= 0; start--) {
    const { kind, text } = tokens[start] ?? { kind: "sign", text: ";" };
    if (text === ";" && kind === "sign") return undefined;
    if (kind !== "word" || (text !== "import" && text !== "export")) continue;
    const typeOnly = textAt(tokens, start + 1) === "type" && textAt(tokens, start + 2) !== "from";
    return reference(specifier, typeOnly);
  }
  return undefined;
}

function urlReference(tokens: readonly Token[], index: number): ImportReference | undefined {
  const argument = tokens[index + 2];
  // An expression inside a template may stand between the text and the base.
  const rest = tokens
    .slice(index + 3, index + 15)
    .map(({ text }) => text)
    .join(" ");
  const base = argument?.kind === "template" ? /^[^,;]*, import \. meta/u : /^, import \. meta/u;
  if (!argument || !base.test(rest)) return undefined;
  return argument.kind === "string" || argument.kind === "template" ? reference(argument, false) : undefined;
}

/** Words, strings and signs of a source; comments, regular expressions and the text of templates are left out. */
function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  // Depth of braces at which the text of each open template goes on.
  const templates: number[] = [];
  let depth = 0;
  let line = 1;
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at, at + 20_000);
    const backInTemplate = rest.startsWith("}") && templates.at(-1) === depth;
    if (backInTemplate) templates.pop();
    const part = backInTemplate ? templatePart(rest, 1) : nextPart(rest, tokens.at(-1));
    if (part.open) templates.push(depth);
    if (part.kind === "sign") depth += braceStep(part.text);
    if (part.kind !== "blank" && !backInTemplate) tokens.push({ kind: part.kind, text: part.text, line });
    line += newlines(rest.slice(0, part.length));
    at += part.length;
  }
  return tokens;
}

function braceStep(sign: string): number {
  if (sign === "{") return 1;
  return sign === "}" ? -1 : 0;
}

const newlines = (text: string): number => text.split("\n").length - 1;

interface Part {
  readonly kind: TokenKind | "blank";
  readonly text: string;
  readonly length: number;
  /** A template that goes on after an expression. */
  readonly open: boolean;
}

const blank = /^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/u;
const word = /^[\p{ID_Start}$_#\d][\p{ID_Continue}$\d.]*/u;
const quoted = /^(?:"((?:[^"\\\n]|\\[\s\S])*)"|'((?:[^'\\\n]|\\[\s\S])*)')/u;
const regex = /^\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/u;

function nextPart(rest: string, before: Token | undefined): Part {
  const skipped = blank.exec(rest) ?? (regexMayStart(before) ? regex.exec(rest) : null);
  if (skipped) {
    // A regular expression counts as a value: what follows it is not one again.
    const isValue = !blank.test(rest);
    return { kind: isValue ? "template" : "blank", text: "", length: skipped[0].length, open: false };
  }
  const string = quoted.exec(rest);
  if (string) return { kind: "string", text: string[1] ?? string[2] ?? "", length: string[0].length, open: false };
  if (rest.startsWith("`")) return templatePart(rest, 1);
  const name = word.exec(rest);
  if (name) return nameParts(name[0]);
  return { kind: "sign", text: rest.charAt(0), length: 1, open: false };
}

/** Numbers keep their dots; names end at the first dot. */
function nameParts(text: string): Part {
  const name = /^\d/u.test(text) ? text : (text.split(".")[0] ?? text);
  return { kind: "word", text: name, length: name.length, open: false };
}

/** Text of a template from `start` to its end or to the next expression. */
function templatePart(rest: string, start: number): Part {
  for (let index = start; index < rest.length; index++) {
    if (rest[index] === "\\") index++;
    else if (rest[index] === "`")
      return { kind: "template", text: rest.slice(start, index), length: index + 1, open: false };
    else if (rest.startsWith("${", index)) {
      return { kind: "template", text: rest.slice(start, index), length: index + 2, open: true };
    }
  }
  return { kind: "template", text: rest.slice(start), length: rest.length, open: false };
}

const wordsBeforeRegex = new Set(["return", "typeof", "case", "in", "of", "await", "void", "delete", "throw", "yield"]);

function regexMayStart(before: Token | undefined): boolean {
  if (!before) return true;
  if (before.kind === "word") return wordsBeforeRegex.has(before.text);
  return before.kind === "sign" && before.text !== ")" && before.text !== "]" && before.text !== "}";
}
