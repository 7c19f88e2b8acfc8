import type { Known, Build, Scope } from "./query-generator-scope.ts";
import { someTerm } from "./query-generator-scope.ts";
import type { Condition, Bind, TestOperator } from "./query-generator-syntax.ts";
import type { Kind } from "./query-generator-data.ts";

const numericKinds: ReadonlySet<Kind> = new Set(["integer", "decimal", "double"]);
export const isNumeric = (kind: Kind): boolean => numericKinds.has(kind);
/** Kinds whose order SPARQL defines completely (section 15.1), so that LIMIT after ORDER BY has one answer. */
export const isOrderable = (kind: Kind): boolean => isNumeric(kind) || ["iri", "string", "date"].includes(kind);

const test = (operator: TestOperator, text: string): Condition => ({ kind: "test", operator, text });

/** A filter over variables in scope, mostly true for their witnesses; undefined when there is nothing to test. */
export function generateCondition(build: Build, scope: Scope, depth = 0): Condition | undefined {
  const { draw } = build;
  const variables = [...scope.variables.values()];
  if (variables.length === 0) return undefined;
  if (depth < 2 && draw.chance(27)) return logical(build, scope, depth);
  const optional = variables.filter((known) => !known.certain);
  if (optional.length > 0 && draw.chance(35)) return boundTest(build, draw.pick(optional));
  if (draw.chance(15)) return pairTest(build, variables) ?? simpleTest(build, draw.pick(variables));
  return simpleTest(build, draw.pick(variables));
}

function logical(build: Build, scope: Scope, depth: number): Condition | undefined {
  const left = generateCondition(build, scope, depth + 1);
  const right = generateCondition(build, scope, depth + 1);
  if (!left || !right) return left;
  const shape = build.draw.below(5);
  if (shape === 0) return { kind: "or", left: { kind: "not", inner: left }, right };
  return { kind: shape < 3 ? "and" : "or", left, right };
}

/** BOUND or its negation. */
export function boundTest(build: Build, known: Known): Condition {
  const text = `BOUND(${known.name})`;
  return build.draw.chance(70) ? test("bound", text) : { kind: "not", inner: test("bound", text) };
}

function pairTest(build: Build, variables: readonly Known[]): Condition | undefined {
  const comparable = variables.filter((known) => isOrderable(known.kind));
  const left = comparable.length > 0 ? build.draw.pick(comparable) : undefined;
  const right = comparable.find((known) => left && known.name !== left.name && known.kind === left.kind);
  if (!left || !right) return undefined;
  const signs = left.kind === "iri" ? ["=", "!="] : ["=", "!=", "<=", ">"];
  return test("comparison", `${left.name} ${build.draw.pick(signs)} ${right.name}`);
}

function simpleTest(build: Build, known: Known): Condition {
  const { draw } = build;
  const name = known.name;
  const pair = pairOf(build, known);
  if (!pair) return test("type-test", `!isBlank(${name})`);
  const [here, other] = pair;
  switch (known.kind) {
    case "iri":
      return iriTest(build, name, [here, other]);
    case "string":
    case "lang":
      return draw.chance(70) ? textTest(build, known, here) : memberTest(build, name, [here, other]);
    case "boolean":
      return test("comparison", draw.pick([`${name} = ${here}`, `${name} != ${other}`]));
    case "blank":
    case "node":
    case "any":
      return test(
        "type-test",
        draw.pick([`isIRI(${name})`, `isLiteral(${name})`, `!isIRI(${name})`, `isBlank(${name})`]),
      );
    default:
      return orderTest(build, known, [here, other]);
  }
}

/** A term that the variable is known or likely to have, and one that it may have. */
type Pair = readonly [here: string, other: string];

function pairOf(build: Build, known: Known): Pair | undefined {
  const other = someTerm(build, known.kind);
  const here = known.witness ?? other;
  return here === undefined ? undefined : [here, other ?? here];
}

// Classes and escapes that XPath and the oracle read alike: \\w and \\s are not among them.
const iriPatterns = [
  "item",
  "[0-4]$",
  "^http://vocabulary",
  "P",
  String.raw`item\\d$`,
  String.raw`[/#]\\p{Lu}\\p{Ll}*\\d?$`,
];
const textPatterns = [
  String.raw`^\\p{Lu}`,
  String.raw`^\\p{L}+$`,
  String.raw`\\P{L}`,
  String.raw`^[^\\d\\p{Ll}]`,
  String.raw`^\\D+$`,
  String.raw`K[\\d-]$`,
  String.raw`[\\p{So}\\p{Cf}]`,
  "^.{1,3}$",
  "^(?:[A-F]|K).*[^0-2]$",
];

/** With the flag "i" the oracle folds categories, too, which XPath does not: \\p{Lu} remains upper case. */
function patternTest({ draw }: Build, text: string): string {
  const pattern = draw.pick(textPatterns);
  const flags = pattern.includes("{L") ? ["", ', "s"'] : ["", ', "i"', ', "s"'];
  return `REGEX(${text}, "${pattern}"${draw.pick(flags)})`;
}

function iriTest(build: Build, name: string, [here, other]: Pair): Condition {
  switch (build.draw.below(10)) {
    case 0:
      return test("type-test", `isIRI(${name})`);
    case 6:
      return test("string-function", `STRLEN(STR(${name})) > ${build.draw.pick([3, 20, 30])}`);
    case 7:
      return test("type-test", `!isLiteral(${name})`);
    case 3:
      return test("string-function", `STRENDS(STR(${name}), ${JSON.stringify(here.slice(-2, -1))})`);
    case 4:
      return test("comparison", `${name} = ${here}`);
    case 1:
      return test("comparison", `${name} != ${other}`);
    case 2:
    case 5:
      return test("regex", `REGEX(STR(${name}), "${build.draw.pick(iriPatterns)}")`);
    default:
      return memberTest(build, name, [here, other]);
  }
}

function memberTest(build: Build, name: string, [here, other]: Pair): Condition {
  if (build.draw.chance(25) && here !== other) return test("in", `${name} NOT IN (${other})`);
  return test("in", `${name} IN (${here}, ${other})`);
}

function textTest(build: Build, known: Known, here: string): Condition {
  const { draw } = build;
  const text = known.kind === "lang" ? `STR(${known.name})` : known.name;
  const first = String.fromCodePoint(here.codePointAt(1) ?? 0);
  const language = `LANG(${known.name}) = "${draw.pick(["en", "de"])}"`;
  if (known.kind === "lang" && draw.chance(60)) return test("string-function", language);
  switch (draw.below(7)) {
    case 6:
      return test("regex", patternTest(build, text));
    case 5:
      return test("comparison", `${text} ${draw.pick(["<", ">="])} ${here.replace(/@.*$/u, "")}`);
    case 0:
      return test("regex", `REGEX(${text}, "^${first}")`);
    case 1:
      return test("regex", `REGEX(${text}, "[${first.toLowerCase()}l]", "i")`);
    case 2:
      return test("string-function", `STRSTARTS(${text}, "${first}")`);
    case 3:
      return test(
        "string-function",
        `CONTAINS(LCASE(${text}), "${draw.pick(["a", "e", "k"])}") || STRLEN(${text}) < 4`,
      );
    default:
      return test("comparison", `${known.name} = ${here}`);
  }
}

function orderTest(build: Build, known: Known, [here, other]: Pair): Condition {
  const { draw } = build;
  switch (draw.below(5)) {
    case 0:
      return test("comparison", `${known.name} <= ${here}`);
    case 1:
      return test("comparison", `${known.name} != ${other}`);
    case 2:
      return test("comparison", `${known.name} > ${other}`);
    case 3:
      return test("comparison", isNumeric(known.kind) ? `${known.name} + 1 > ${other}` : `${known.name} < ${other}`);
    default:
      return test("comparison", `${known.name} >= ${here}`);
  }
}

/**
 * A filter that names a variable of the surrounding group, which is not in scope here (SPARQL 1.1 Query, section
 * 18.2.2): it must see it unbound. An engine that merges or moves the filter lets it see the outer value.
 */
export function outOfScopeCondition(build: Build, scope: Scope): Condition | undefined {
  const outside = [...scope.anchors.values()].filter((known) => !scope.variables.has(known.name));
  if (outside.length === 0) return undefined;
  const known = build.draw.pick(outside);
  const leak = build.draw.pick([`!BOUND(${known.name})`, `COALESCE(STR(${known.name}) = "leak", true)`]);
  return test("out-of-scope", leak);
}

/** BIND of a computed value to a new variable, which joins the scope. */
export function generateBind(build: Build, scope: Scope): Bind | undefined {
  const { draw } = build;
  // `SELECT * { ?s :p ?o { ?s :q ?b OPTIONAL { BIND(STR(?s) AS ?x) } } }`: Oxigraph 0.5.11 binds ?x, although ?s is not in scope
  // there (SPARQL 1.1 Query, section 18.2.2). So it is where a silent clause leaves out what is bound outside.
  const isHere = ({ name, certain }: Known): boolean => certain || !scope.anchors.has(name);
  const sources = [...scope.variables.values()].filter((known) => known.kind !== "blank" && isHere(known));
  if (sources.length === 0) return undefined;
  const source = draw.pick(sources);
  const [expression, kind, certain] = bindExpression(build, source);
  const variable = build.fresh();
  const witness = expression === source.name ? source.witness : undefined;
  scope.variables.set(variable, { name: variable, kind, witness, certain });
  return { kind: "bind", expression, variable };
}

function bindExpression(build: Build, source: Known): readonly [string, Kind, boolean] {
  const { name, kind, certain } = source;
  const copy = [name, kind, certain] as const;
  const choice = build.draw.below(4);
  if (choice === 0) return copy;
  if (choice === 1) return [`IF(BOUND(${name}), "yes", "no")`, "string", true];
  // STR of a decimal or double shows the engine's own lexical form; only kinds with one form are turned into text.
  if (["iri", "string", "lang", "integer", "date"].includes(kind)) {
    if (kind !== "integer" && build.draw.chance(20)) return [replaced(build, name), "string", certain];
    if (choice === 2) return [`CONCAT(STR(${name}), "!")`, "string", certain];
    return kind === "integer" ? [`(${name} * 2)`, kind, certain] : [`UCASE(STR(${name}))`, "string", certain];
  }
  if (isNumeric(kind)) return [`(${name} + ${name})`, kind, certain];
  return [`COALESCE(isLiteral(${name}), false)`, "boolean", true];
}

const replaced = ({ draw }: Build, name: string): string =>
  `REPLACE(STR(${name}), "${draw.pick([String.raw`\\d+`, String.raw`\\p{Lu}(.)`, String.raw`[^\\p{L}]`, "(a|e)$"])}", "${draw.pick(["_", "<$0>", ""])}")`;
