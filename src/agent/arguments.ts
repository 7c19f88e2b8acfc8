import { type Static, type TObject, type TSchema, Type } from "typebox";
import { Check } from "typebox/value";
import { FedwayError } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";
import { foreignJson } from "../results/json-structure.ts";

/** One of a few words. */
export const choice = <const Words extends readonly [string, ...string[]]>(words: Words, description?: string) =>
  Type.Unsafe<Words[number]>({ type: "string", enum: words, ...(description !== undefined && { description }) });

/** Most names of a list. */
const mostNames = 50;

/**
 * A list of names in one string, separated by commas: small models write flat strings with fewer errors than arrays.
 * `namesIn` reads it.
 */
export const nameList = (description: string) => Type.String({ maxLength: 4_000, description });

/**
 * The names in a list, whether separated by commas or in a JSON array; undefined when there are none.
 * @throws FedwayError `REQUEST_INVALID` for more than 50
 */
export function namesIn(list: string | undefined): readonly string[] | undefined {
  const value: unknown = list?.trimStart().startsWith("[") ? parsed(list) : list;
  const entries: readonly unknown[] = Array.isArray(value) ? value : (list ?? "").split(",");
  const names = entries.map((entry) => String(entry).trim()).filter((entry) => entry !== "");
  if (names.length > mostNames)
    throw new FedwayError("REQUEST_INVALID", `A list has ${names.length} names; ${mostNames} are allowed.`);
  return names.length === 0 ? undefined : names;
}

/** Characters of arguments that come as JSON in a text. */
const longestText = 250_000;
/** Faults that an error names. */
const mostFaults = 5;

/** The part of an argument's schema that is read. */
interface ScalarSchema {
  readonly type: "string" | "integer" | "number" | "boolean";
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Other names that models give to arguments, by the name in the schemas of tools. All in lower case, without marks. */
const otherNames: Readonly<Record<string, string>> = {
  query: "sparql sparqlquery querystring querytext queries q sql statement code text input",
  question: "query querytext q prompt text input",
  endpoint: "endpointid endpointurl endpointname endpoints id url dataset source target federation place service",
  endpoints: "endpoint endpointids ids datasets dataset sources source target federation",
  max_rows: "limit rows rowlimit maxresults",
  limit: "maxrows maxresults topk",
  timeout_s: "timeout timeoutseconds",
  run_id: "run id",
};

/** Keys under which clients and models put all arguments, and those that name the tool beside them. */
const wrappers: ReadonlySet<string> = new Set("arguments args input inputs parameters params kwargs".split(" "));
const labels: ReadonlySet<string> = new Set("name tool function method type".split(" "));
/** Calls within calls. */
const mostWrapped = 3;

interface ToolInput<Input extends TObject> {
  readonly name: string;
  readonly input: Input;
}

/**
 * The arguments of a call as the tool's schema has them, from what models send: numbers, booleans and lists as strings,
 * null for absent, other case of words, other names (`maxTokens`, `sparql` for `query`), the whole call within an argument,
 * numbers beyond the bounds (moved to the bound).
 * @returns them, and a note on each that has another name
 * @throws FedwayError `REQUEST_INVALID` that names everything that is wrong
 */
export function readArguments<Input extends TObject>(
  tool: ToolInput<Input>,
  given: unknown,
): { readonly args: Static<Input>; readonly notes: readonly string[] } {
  const { read, wrong, notes } = readSent(unwrapped(tool, given), tool.input);
  const missing = (tool.input.required ?? []).filter((name) => !Object.hasOwn(read, name));
  wrong.push(...missing.map((name) => `${name} is missing`));
  if (wrong.length === 0 && Check(tool.input, read)) return { args: read, notes };
  if (wrong.length === 0) wrong.push("they do not fit the schema of the tool");
  throw new FedwayError("REQUEST_INVALID", `Arguments of ${tool.name}: ${wrong.slice(0, mostFaults).join("; ")}.`, {
    next: `Call ${tool.name}(${signature(tool.input)}).`,
  });
}

/** The arguments without what models wrap around them: `{"arguments": {...}}`, or the call as text in one of its arguments. */
function unwrapped({ name, input }: ToolInput<TObject>, given: unknown): object {
  const nameOf = spelling(Object.keys(input.properties));
  let sent = objectOf(name, given);
  for (let depth = 0; depth < mostWrapped; depth++) {
    const held = heldIn(sent, nameOf);
    if (held === undefined) return sent;
    const { key, call } = held;
    const all = Object.entries({ ...sent, ...call }).filter(([each]) => each !== key || Object.hasOwn(call, key));
    sent = Object.fromEntries(all.filter(([each]) => !labels.has(each)));
  }
  return sent;
}

type NameOf = ReturnType<typeof spelling>;

function heldIn(sent: object, nameOf: NameOf): { readonly key: string; readonly call: object } | undefined {
  for (const [key, value] of Object.entries(sent)) {
    const wrapped = wrappers.has(key) ? objectIn(value) : undefined;
    const call = wrapped ?? (typeof value === "string" ? callIn(value, key, nameOf) : undefined);
    if (call !== undefined) return { key, call };
  }
  return undefined;
}

function objectIn(value: unknown): object | undefined {
  const found = typeof value === "string" && value.length <= longestText ? parsed(value) : value;
  return typeof found === "object" && found !== null && !Array.isArray(found) ? found : undefined;
}

/** The arguments in a text that is a call, which no query is: JSON, also broken, or `run_query(query="...")`. */
function callIn(text: string, key: string, nameOf: NameOf): object | undefined {
  const sent = text.trim();
  const bare = sent.startsWith("```") ? sent.replaceAll(/^```\w*|```$/g, "").trim() : sent;
  if (bare.startsWith('"')) return quotedIn(bare, key);
  const found = /^(?:[\w.]{1,64}\(|\{)?\s*(?=["']?(\w{1,64})["']?\s*[=:])/.exec(bare);
  if (found === null || text.length > longestText) return undefined;
  const [{ length }, first = ""] = found;
  const isArgument = nameOf(first) !== undefined;
  const json = isArgument || wrappers.has(first) || labels.has(first) ? objectIn(bare) : undefined;
  return json ?? (isArgument ? assignedIn(bare.slice(length), nameOf) : undefined);
}

/** A query as JSON. */
function quotedIn(text: string, key: string): object | undefined {
  const query = parsed(text);
  return typeof query === "string" && query !== text && query.includes("{") ? { [key]: query } : undefined;
}

/** `query="...", endpoint="..."`. */
function assignedIn(text: string, nameOf: NameOf): object {
  const starts = Array.from(text.matchAll(/(?:^|,\s{0,9})["']?(\w{1,64})["']?\s{0,9}[=:]/g)).filter(
    ({ index, 1: name = "" }) => index === 0 || nameOf(name) !== undefined,
  );
  const parts = starts.map(({ index, 0: head, 1: name = "" }, at) => {
    const value = text.slice(index + head.length, starts[at + 1]?.index).trim();
    // Behind a quote a bracket is the call's; elsewhere it may be the query's.
    const open = value.replace(/^(\d+|(["'`]).*\2)\s{0,9}[)}]$/s, "$1");
    const quote = /^["'`]/.exec(open)?.[0] ?? "";
    return [name, open.slice(quote.length, quote !== "" && open.endsWith(quote) ? -1 : undefined)] as const;
  });
  return Object.fromEntries(parts);
}

/** The values that were sent, by the names of the schema, and their faults. */
function readSent(sent: object, { properties: known, required }: TObject) {
  const wrong: string[] = [];
  const unknown: string[] = [];
  const notes: string[] = [];
  const read: Record<string, unknown> = {};
  const nameOf = spelling(Object.keys(known));
  const spellings = new Map<string, string>();
  for (const [spelled, value] of Object.entries(sent)) {
    const name = nameOf(spelled);
    const schema = name && known[name];
    if (!schema) unknown.push(spelled);
    else if (isGiven(value, (required ?? []).includes(name))) {
      const scalar = readValue(name, value, schema);
      const before = spellings.get(name);
      if (scalar instanceof Refusal) wrong.push(scalar.reason);
      else if (before !== undefined && scalar !== read[name])
        wrong.push(`${shown(before)} and ${shown(spelled)} are one argument and differ`);
      // A refused argument is not a missing one.
      read[name] ??= scalar;
      spellings.set(name, before ?? spelled);
      if (plainName(name) !== plainName(spelled)) notes.push(`The argument ${shown(spelled)} was read as ${name}.`);
    }
  }
  wrong.push(...unknown.slice(0, mostFaults).map((name) => unknownArgument(name, Object.keys(known))));
  return { read, wrong, notes };
}

/** An argument that may be absent is so where it is empty. */
const isGiven = (value: unknown, isRequired: boolean): boolean =>
  value !== null && value !== undefined && (isRequired || value !== "");

const plainName = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();

/** The name that a spelling stands for: `max_tokens` of `maxTokens`, `query` of `sparql`; undefined when there is none. */
function spelling(names: readonly string[]): (spelled: string) => string | undefined {
  const others = names.flatMap((name) =>
    Object.hasOwn(otherNames, name) ? (otherNames[name]?.split(" ") ?? []).map((other) => [other, name] as const) : [],
  );
  const own = names.map((name) => [plainName(name), name] as const);
  const byPlain = new Map([...others.toReversed(), ...own]);
  return (spelled) => (names.includes(spelled) ? spelled : byPlain.get(plainName(spelled)));
}

/** Names of the arguments, with a question mark those that a call can do without; it is about the first. */
const signature = ({ properties, required }: TObject): string =>
  Object.keys(properties)
    .map((name, at) => (at === 0 || required?.includes(name) ? name : `${name}?`))
    .join(", ");

/** Why a value cannot be taken. A class, because values may be of any type. */
class Refusal {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

function objectOf(tool: string, given: unknown): object {
  const value = typeof given === "string" && given.length <= longestText ? parsed(given) : given;
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw new FedwayError("REQUEST_INVALID", `The arguments of ${tool} are not a JSON object.`, {
    next: 'Send them by name, as in {"name": value}.',
  });
}

function parsed(text: string): unknown {
  const value = foreignJson(text);
  return value === undefined ? text : value;
}

const shown = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text).replaceAll(/\p{Cc}/gu, " ");

function unknownArgument(name: string, known: readonly string[]): string {
  const [best] = nearest(name, known, 1);
  return `"${shown(name)}" is not known${best === undefined ? "" : `, ${best} is`}`;
}

const isScalar = (schema: TSchema): schema is TSchema & ScalarSchema => "type" in schema;

function readValue(name: string, value: unknown, schema: TSchema): unknown {
  if (!isScalar(schema)) return value;
  if (schema.type === "string") return readText(name, value, schema);
  return schema.type === "boolean" ? readFlag(name, value) : readNumber(name, value, schema);
}

function readText(name: string, value: unknown, { enum: words, minLength = 0, maxLength = 10_000 }: ScalarSchema) {
  const text = scalarText(value);
  if (typeof text !== "string") return new Refusal(`${name} must be a string`);
  if (text.length > maxLength)
    return new Refusal(`${name} has ${text.length} characters, ${maxLength} are allowed at most`);
  if (words === undefined) {
    return text.trim().length < minLength ? new Refusal(`${name} is empty`) : text;
  }
  const wanted = text.trim().toLowerCase();
  return words.find((word) => word.toLowerCase() === wanted) ?? new Refusal(`${name} must be ${words.join(" or ")}`);
}

/** A list of one is that one, as some clients wrap everything; others become JSON, which `namesIn` reads. */
function scalarText(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? scalarText(value[0]) : JSON.stringify(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}

function readNumber(name: string, value: unknown, { type, minimum, maximum }: ScalarSchema) {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value.replaceAll(/[_\s]/g, "")) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return new Refusal(`${name} must be a number`);
  const whole = type === "integer" ? Math.round(number) : number;
  return Math.min(maximum ?? whole, Math.max(minimum ?? whole, whole));
}

const flags: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false],
]);

function readFlag(name: string, value: unknown) {
  return flags.get(String(value).trim().toLowerCase()) ?? new Refusal(`${name} must be true or false`);
}
