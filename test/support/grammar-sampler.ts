import type { Expression } from "../../src/agent/grammar/grammar.ts";
import { createRandom, type Random } from "./random.ts";

type Rules = ReadonlyMap<string, Expression>;

/** Sentences that the rules derive, each choice with equal chances; `start` names the first rule. */
export function* sentencesOf(
  rules: Rules,
  { start, seed, count }: { start: string; seed: number; count: number },
): Generator<string> {
  const random = createRandom(seed);
  for (let made = 0; made < count; made++) yield derive({ rule: start }, rules, random);
}

function derive(expression: Expression, rules: Rules, random: Random): string {
  if (typeof expression === "string") return expression;
  if ("rule" in expression) {
    const body = rules.get(expression.rule);
    if (body === undefined) throw new Error(`no rule ${expression.rule}`);
    return derive(body, rules, random);
  }
  if ("all" in expression) return expression.all.map((part) => derive(part, rules, random)).join("");
  if ("any" in expression) return derive(random.pick(expression.any), rules, random);
  if ("optional" in expression) return random.chance(0.5) ? derive(expression.optional, rules, random) : "";
  const { set, least, most } = expression;
  const allowed = candidates.filter((character) => new RegExp(`^[${set}]$`, "u").test(character));
  return Array.from({ length: least + random.below(most - least + 1) }, () => random.pick(allowed)).join("");
}

/** ASCII, and characters that are written with two to four bytes, are invisible or turn the direction of writing. */
const candidates = Array.from({ length: 127 }, (_, code) => String.fromCharCode(code + 1)).concat([
  "é",
  "ß",
  "日",
  "😀",
  "\u00A0",
  "\u202E",
  "\u2028",
]);

/** Reads the part of llama.cpp's GBNF that its documentation defines, but for rules over token numbers. @throws Error with the place */
export function readGbnf(text: string): Rules {
  const rules = new Map<string, Expression>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, name, body] = /^([a-z][a-z0-9-]*) ::= (.+)$/u.exec(line) ?? [];
    if (name === undefined || body === undefined) throw new Error(`no rule: ${line.slice(0, 200)}`);
    if (rules.has(name)) throw new Error(`the rule ${name} is defined twice`);
    rules.set(name, readBody(body));
  }
  return rules;
}

const tokenPattern = /\s+|"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)+\]|\{\d+,\d+\}|[()|?]|[a-z][a-z0-9-]*/gy;

function readBody(body: string): Expression {
  const tokens = body.match(tokenPattern) ?? [];
  if (tokens.join("") !== body) throw new Error(`cannot be read: ${body.slice(tokens.join("").length).slice(0, 200)}`);
  const rest = tokens.filter((token) => token.trim() !== "");
  const read = readChoice(rest);
  if (rest.length > 0) throw new Error(`left over: ${rest.join(" ").slice(0, 200)}`);
  return read;
}

function readChoice(tokens: string[]): Expression {
  const choices = [readSequence(tokens)];
  while (tokens[0] === "|") {
    tokens.shift();
    choices.push(readSequence(tokens));
  }
  return { any: choices };
}

function readSequence(tokens: string[]): Expression {
  const parts: Expression[] = [];
  for (let token = tokens[0]; token !== undefined && token !== "|" && token !== ")"; token = tokens[0]) {
    parts.push(readItem(tokens));
  }
  if (parts.length === 0) throw new Error("nothing to derive");
  return { all: parts };
}

function readItem(tokens: string[]): Expression {
  const token = tokens.shift() ?? "";
  if (token === "(") {
    const inner = readChoice(tokens);
    if (tokens.shift() !== ")") throw new Error("a bracket is not closed");
    if (tokens[0] !== "?") return inner;
    tokens.shift();
    return { optional: inner };
  }
  if (token.startsWith('"')) return String(JSON.parse(token));
  if (!token.startsWith("[")) return { rule: token };
  const [, least, most] = /^\{(\d+),(\d+)\}$/u.exec(tokens.shift() ?? "") ?? [];
  return { set: token.slice(1, -1), least: Number(least), most: Number(most) };
}
