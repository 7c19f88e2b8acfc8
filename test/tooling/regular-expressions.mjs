// Finds regular expressions whose time grows faster than their text: node test/tooling/regular-expressions.mjs FOLDER...
// Judges all literals, patterns of schemas, and what `new RegExp` builds while its module loads: by scslre, which proves
// backtracking, and by a trial on repeated words of the expression, since scslre overlooks repeats of several characters.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseSync, Visitor } from "oxc-parser";
import { analyse } from "scslre";

/** Expressions that stay: file, source, who writes the text, the most characters that are read of it, why. */
const listed = [
  {
    file: "src/engine/expressions/character-sets.ts",
    source: "String.raw`\\p{gc=${name}}+`",
    by: "us",
    characters: 4_096,
    why: "One class, repeated, with a name of a fixed list; it reads all characters once.",
  },
  {
    file: "shards/src/variants/twin.ts",
    source: 'String.raw`(?<![\\p{L}\\p{N}]|\\d[.,])(?:${escaped.join("|") || "(?!)"})(?![\\p{L}\\p{N}]|[.,]\\d)`',
    by: "operator",
    characters: 100_000,
    why: "A choice of escaped names and nothing repeated; it reads the queries of a benchmark.",
  },
];
const mostListed = 20;
/** Of texts from clients, endpoints and data: `by` is "us" or "operator" for others. */
const mostCharacters = 1_000;

const folders = process.argv.slice(2);
const files = execFileSync("git", ["ls-files", "--", ...folders], { encoding: "utf8" })
  .split("\n")
  .filter((file) => file.endsWith(".ts"));

/** Expressions by file and source; `flags` is undefined where none was built. */
const found = new Map();
const note = (file, source, flags) => found.set(`${file} ${source} ${flags}`, { file, source, flags });

/** Calls of `RegExp`, by file and line. */
const calls = new Map();
for (const file of files) {
  const text = readFileSync(file, "utf8");
  const lineOf = (at) => text.slice(0, at).split("\n").length;
  const noteCall = ({ callee, start, end, arguments: [first] }) => {
    if (callee.type !== "Identifier" || callee.name !== "RegExp") return;
    calls.set(`${file}:${lineOf(start)}`, { file, source: text.slice(first.start, first.end), end: lineOf(end) });
  };
  const notePattern = (source) => {
    if (/^\^.*\$$/su.test(source)) note(file, source, "u");
  };
  new Visitor({
    Literal: ({ regex, value }) => {
      if (regex) note(file, regex.pattern, regex.flags);
      else if (typeof value === "string") notePattern(value);
    },
    TemplateLiteral: ({ quasis }) => {
      if (quasis.length === 1) notePattern(quasis[0].value.raw);
    },
    NewExpression: noteCall,
    CallExpression: noteCall,
  }).visit(parseSync(file, text).program);
}

/** Notes what the modules build when they load. */
async function noteBuilt() {
  const Original = RegExp;
  const root = pathToFileURL(`${process.cwd()}/`).href;
  const built = new Set();
  const build = (given) => {
    const expression = new Original(...given);
    for (const line of new Error().stack.split("\n")) {
      const [, file, number] = /^.*?\(?(file:.*):(\d+):\d+\)?$/u.exec(line) ?? [];
      const place = file?.startsWith(root) && `${file.slice(root.length)}:${number}`;
      if (!calls.has(place)) continue;
      built.add(place);
      note(calls.get(place).file, expression.source, expression.flags);
      break;
    }
    return expression;
  };
  // Libraries call it without `new`, too.
  globalThis.RegExp = new Proxy(Original, {
    construct: (_, given) => build(given),
    apply: (_, __, given) => build(given),
  });
  for (const file of new Set([...calls.values()].map((call) => call.file))) await import(root + file);
  globalThis.RegExp = Original;
  for (const [place, { file, source }] of calls) if (!built.has(place)) note(file, source, undefined);
}

/** A character of a class, of the usual ones. */
const usual = Array.from("ax0 ~\n\t-_.:/<>\"'`,;%#@AZ{}()[]=+*?!&|^$\\é€");
const memberOf = ({ raw }, flags) =>
  usual.find((each) => new RegExp(`^${raw}$`, flags.replace(/[gy]/gu, "")).test(each)) ?? "";

/** A short text that a part of an expression matches, without its assertions. */
function wordOf(node, flags) {
  if (node.type === "Character") return String.fromCodePoint(node.value);
  if (/^(?:CharacterSet|CharacterClass|ExpressionCharacterClass)$/u.test(node.type)) return memberOf(node, flags);
  if (node.type === "Quantifier") return wordOf(node.element, flags).repeat(Math.max(1, Math.min(node.min, 3)));
  if (node.type === "Alternative") return node.elements.map((each) => wordOf(each, flags)).join("");
  return node.alternatives && node.type !== "Assertion" ? wordOf(node.alternatives[0], flags) : "";
}

/** Words of the starts of each alternative. */
function* words(node, flags) {
  if (node.type === "Quantifier") yield* words(node.element, flags);
  for (const { elements } of node.alternatives ?? []) {
    let start = "";
    for (const element of elements) {
      yield* words(element, flags);
      start += wordOf(element, flags);
      yield start;
    }
  }
}

const longestTrial = 16_384;
/** Processor time of a trial; the dearest linear one takes 8 ms, a quadratic one over 100. */
const mostMs = 50;

function trialMs(expression, text) {
  const startedMs = process.cpuUsage();
  if (expression.global) for (const _ of text.matchAll(expression));
  else expression.test(text);
  expression.lastIndex = 0;
  const { user, system } = process.cpuUsage(startedMs);
  return (user + system) / 1000;
}

/** A repeated text that takes long; undefined when none does. */
function slowText(source, flags, pattern) {
  const expression = new RegExp(source, flags);
  const starts = new Set(words(pattern, flags));
  const repeated = [...starts].flatMap((word) => (word === "" ? [] : [word, `${word} `, `${word}\n`]));
  for (const word of repeated) {
    for (const length of [24, 256, 1_024, longestTrial]) {
      const text = `${word.repeat(Math.ceil(length / word.length))}\u0000`;
      const isSlow = [1, 2, 3].every(() => trialMs(expression, text) > mostMs);
      if (isSlow) return word;
    }
  }
  return undefined;
}

function faultOf({ source, flags }) {
  if (flags === undefined) return "cannot be judged: it is not built when its module loads";
  const { reports, parsed } = analyse({ source, flags });
  if (reports.length > 0)
    return `${reports.some(({ exponential }) => exponential) ? "exponential" : "polynomial"} on repeated ${JSON.stringify(reports[0].character.pick)}`;
  const word = slowText(source, flags, parsed.pattern);
  return word === undefined ? undefined : `slow on repeated ${JSON.stringify(word)}`;
}

await noteBuilt();
const problems = [];
const unused = new Set(listed);
for (const { file, source, flags } of found.values()) {
  const fault = faultOf({ source, flags });
  const entry = listed.find((each) => each.file === file && each.source === source);
  if (fault !== undefined && entry === undefined) problems.push(`${file}: ${source}: ${fault}`);
  if (fault !== undefined) unused.delete(entry);
}
for (const { file, source } of unused) problems.push(`${file}: ${source}: is listed without need`);
if (listed.length > mostListed) problems.push(`${listed.length} expressions are listed, at most ${mostListed} may be`);
for (const { file, source, by, characters } of listed)
  if (!["us", "operator"].includes(by) && characters > mostCharacters)
    problems.push(`${file}: ${source}: reads too much of ${by}`);
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${found.size} regular expressions, ${listed.length} listed, ${problems.length} problems\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
