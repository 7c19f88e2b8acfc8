import type { Sent } from "./request-thread.ts";
import { largestQueries } from "./largest-queries.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** What is read of an OpenAPI document. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A request and what it is, for messages. */
export interface LargeRequest extends Sent {
  readonly name: string;
}

/** A part of a request: its name, and its text. */
type Named = readonly [name: string, text: string];

/** Bytes of bodies: a little below what a route of that kind reads at most. */
const bodyBytes: Readonly<Record<string, number>> = { "text/turtle": 1_000_000, "application/ld+json": 1_000_000 };
const otherBytes = 2_100_000;
const longestUrl = 15_000;
const longestText = 1_000_000;

/** The requests of every operation of the document: parameters and bodies as large as they may be, and larger. */
export function largestRequests(document: OpenApi, known: Readonly<Record<string, string>>): readonly LargeRequest[] {
  const { schemas } = document.components;
  const resolved = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  const all = Object.entries(document.paths).flatMap(([pattern, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const requests = requestsOf(operation, resolved);
      const paths = pathsOf(pattern, known);
      return requests.flatMap(({ name, query, headers, body }, at) =>
        (at === 0 ? paths : paths.slice(0, 1)).map((path) => ({
          name: `${method.toUpperCase()} ${pattern} ${name}`,
          method: method.toUpperCase(),
          url: query === undefined ? path : `${path}?${query}`,
          headers: headers ?? {},
          body: body === undefined ? undefined : Buffer.from(body),
        })),
      );
    }),
  );
  // What is removed cannot be read any more.
  const isChange = ({ method, url }: Sent): boolean =>
    method === "DELETE" || method === "PUT" || method === "PATCH" || url.endsWith("/maintenance");
  return [...all.filter((each) => !isChange(each)), ...all.filter(isChange)];
}

/** A path that leads somewhere, and one as long as it may be. */
function pathsOf(pattern: string, known: Readonly<Record<string, string>>): readonly string[] {
  const found = pattern.replaceAll(
    /\{(\w+)\}/g,
    (_all, name: string) => known[`${pattern} ${name}`] ?? known[name] ?? "x",
  );
  return pattern.includes("{") ? [found, pattern.replaceAll(/\{\w+\}/g, "x".repeat(64))] : [found];
}

interface Part {
  readonly name: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function requestsOf(
  { parameters = [], requestBody }: Operation,
  resolved: (schema: Schema) => Schema,
): readonly Part[] {
  // A URL is short: queries are sent as bodies.
  const queries = parameters
    .filter((parameter) => parameter.in === "query" && !isQuery(parameter.name))
    .flatMap(({ name, schema }) =>
      texts(name, resolved(schema)).map(([what, text]) => ({
        name: `${name}=${what}`,
        query: new URLSearchParams({ [name]: text }).toString().slice(0, longestUrl),
      })),
    );
  const unknown = { name: "many parameters", query: Array.from({ length: 2_000 }, (_, at) => `p${at}=1`).join("&") };
  const bodies = Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) =>
    bodiesOf(type, resolved(schema)).map(([name, body]) => ({ name, body, headers: { "Content-Type": type } })),
  );
  return [{ name: "plain" }, ...queries, unknown, ...bodies];
}

/** Values of a field, as text. */
function texts(name: string, schema: Schema): readonly Named[] {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.flatMap((each) => texts(name, each));
  const words = schema.const === undefined ? schema.enum : [schema.const];
  if (words !== undefined) return words.map((word) => [word, word]);
  if (schema.type === "integer" || schema.type === "number") return [["largest", String(schema.maximum ?? 1_000_000)]];
  if (schema.type === "boolean") return [["true", "true"]];
  if (schema.type === "array") return texts(name, schema.items ?? {});
  return isQuery(name) ? [...largestQueries(), ...nextRepeated()] : largestTexts(schema);
}

function largestTexts(schema: Schema): readonly Named[] {
  const length = Math.min(schema.maxLength ?? longestText, longestText);
  return length <= 100
    ? [["word", "x".repeat(length)]]
    : [["words", wordsOf(length, " ")], ["list", wordsOf(length, ",")], ...nextRepeated(length)];
}

const marks = Array.from("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
/** One and two marks: those that a mark is repeated with lie far apart in the list. */
const repeatedMarks = marks.flatMap((_, apart) =>
  marks.flatMap((mark, at) => (at + apart < marks.length ? `${mark}${apart === 0 ? "" : marks[at + apart]}` : [])),
);
const repeatedSizes = [16_384, 4_096, 1_024];
/** Texts of repeated marks: all that doors are sent together. */
export const repeatedTexts: readonly Named[] = repeatedSizes.flatMap((size) =>
  repeatedMarks.map(
    (mark): Named => [`${mark.length} marks repeated, ${mark} ${size}`, mark.repeat(size / mark.length)],
  ),
);
/** Doors share their parsers: each field is sent the next few, and every text goes through some door. */
const repeatedPerField = 20;
let nextOne = 0;

function nextRepeated(length = Infinity): readonly Named[] {
  return Array.from({ length: repeatedPerField }, (): Named => {
    const [name, text] = repeatedTexts[nextOne++ % repeatedTexts.length] ?? ["", ""];
    return [name, text.slice(0, length)];
  });
}

/** Every text of repeated marks at its longest, to the tool that tries all repairs. */
export const repeatedQueries = (): readonly LargeRequest[] =>
  repeatedTexts.slice(0, repeatedMarks.length).map(([name, query]) => ({
    name: `POST /api/tools/check_query ${name}`,
    method: "POST",
    url: "/api/tools/check_query",
    headers: { "Content-Type": "application/json" },
    body: Buffer.from(JSON.stringify({ query })),
  }));

const isQuery = (name: string): boolean => name === "query" || name === "sparql";

function wordsOf(length: number, separator: string): string {
  let text = "";
  for (let at = 0; text.length < length; at += 1) text += `w${at.toString(36)}${separator}`;
  return text.slice(0, length);
}

const hostile = new Map<number, readonly Named[]>();

function bodiesOf(type: string, schema: Schema): readonly Named[] {
  const bytes = bodyBytes[type] ?? otherBytes;
  if (type === "application/x-www-form-urlencoded") {
    const many = filled(bytes, "", (at) => `p${at}=${at}`, "&", "");
    const queries = [...largestQueries().slice(0, 5), ...nextRepeated()];
    return [
      ["many fields", many],
      ...queries.map(([name, text]): Named => [name, `query=${encodeURIComponent(text)}`]),
    ];
  }
  if (type === "application/sparql-query") return [...largestQueries(), ...nextRepeated()];
  if (type === "text/turtle") return turtles(bytes);
  if (type === "application/ld+json") return [...jsonLd(bytes), ...hostileJson(bytes)];
  return [...fields(schema, bytes), ...hostileJson(bytes)];
}

/** One body for each value of each field. */
function fields(schema: Schema, bytes: number): readonly Named[] {
  const names = Object.keys(schema.properties ?? {});
  const list: Named = ["a list", filled(bytes, `{${JSON.stringify(names[0])}:[`, (at) => `"w${at}"`, ",", "]}")];
  const one = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    texts(name, field).map(([what, text]): Named => {
      const given = { ...requiredFields(schema), [name]: valueOf(field, text) };
      return [`${name}=${what}`, JSON.stringify(given)];
    }),
  );
  return [...one, list];
}

const requiredFields = ({ required = [] }: Schema): object =>
  Object.fromEntries(required.map((name) => [name, isQuery(name) ? "ASK {}" : "wide"]));

function valueOf({ type, maxItems }: Schema, text: string): unknown {
  if (type === "integer" || type === "number") return Number(text);
  if (type === "boolean") return true;
  return type === "array" ? text.split(/[ ,]/).slice(0, maxItems ?? 10_000) : text;
}

/** JSON that no schema has: wide, deep, broken at its end. */
function hostileJson(bytes: number): readonly Named[] {
  const known = hostile.get(bytes) ?? madeJson(bytes);
  hostile.set(bytes, known);
  return known;
}

function madeJson(bytes: number): readonly Named[] {
  const wide = filled(bytes, "{", (at) => `"p${at}":0`, ",", "}");
  const deep = bytes / 2 - 1;
  return [
    ["wide", wide],
    ["wide and broken", wide.slice(0, -1)],
    ["objects", filled(bytes, "[", () => "{}", ",", "]")],
    ["numbers", filled(bytes, '{"x":[', (at) => String(at), ",", "]}")],
    ["deep", `${"[".repeat(deep)}${"]".repeat(deep)}`],
    ["deep objects", `${'{"a":'.repeat(bytes / 6 - 1)}0${"}".repeat(bytes / 6 - 1)}`],
    ["one text", JSON.stringify({ x: "\\".repeat(bytes / 2 - 10) })],
    ["one name", JSON.stringify({ ["x".repeat(bytes - 10)]: 1 })],
  ];
}

const turtles = (bytes: number): readonly Named[] => [
  ["triples", filled(bytes, "", (at) => `<http://x.example/${at}> a <http://x.example/C> .`, "\n", "")],
  [
    "blank nodes",
    filled(bytes, "<http://x.example/s> <http://x.example/p> ", (at) => `[ <http://x.example/q> ${at} ]`, ", ", " ."),
  ],
  ["deep", `<x:s> <x:p> ${"[ <x:p> ".repeat(bytes / 10)}`],
  ["prefixes", filled(bytes, "", (at) => `@prefix p${at}: <http://x.example/${at}#> .`, "\n", "")],
  ["one literal", `<x:s> <x:p> "${"x".repeat(bytes - 20)}" .`],
  ["one list", filled(bytes, "<x:s> <x:p> (", (at) => String(at), " ", ") .")],
];

const jsonLd = (bytes: number): readonly Named[] => [
  ["nodes", filled(bytes, "[", (at) => `{"@id":"http://x.example/${at}","http://x.example/p":${at}}`, ",", "]")],
  ["one node", filled(bytes, '{"@id":"x:s","http://x.example/p":[', (at) => `{"@value":"${at}"}`, ",", "]}")],
  ["terms", filled(bytes, '{"@context":{', (at) => `"t${at}":"http://x.example/${at}"`, ",", '},"t1":"x"}')],
];

/** Items until the text is as long as it may be. */
function filled(bytes: number, start: string, item: (at: number) => string, separator: string, end: string): string {
  const parts: string[] = [];
  let length = start.length + end.length;
  for (let at = 0; ; at += 1) {
    const part = item(at);
    length += part.length + separator.length;
    if (length > bytes) break;
    parts.push(part);
  }
  return start + parts.join(separator) + end;
}

const mcpBytes = 3_900_000;

/** Calls over MCP, which no OpenAPI document names: wide arguments, as an object and as text, a batch, a deep body. */
export function largestCalls(): readonly LargeRequest[] {
  const call = (given: unknown): string =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "run_query", arguments: given } });
  const wide = filled(mcpBytes, "{", (at) => `"p${at}":0`, ",", "}");
  const ping = (at: number): string => `{"jsonrpc":"2.0","id":${at},"method":"ping"}`;
  const bodies: readonly Named[] = [
    ["wide arguments", call({}).replace("{}", wide)],
    ["wide arguments as text", call(wide.slice(0, mcpBytes / 2))],
    ["a batch", filled(mcpBytes, "[", ping, ",", "]")],
    ["a batch of a hundred", `[${Array.from({ length: 100 }, (_, at) => ping(at)).join(",")}]`],
    ...hostileJson(mcpBytes),
    ...[...largestQueries(), ...nextRepeated()].map(([name, query]): Named => [name, call({ query })]),
  ];
  return bodies.map(([name, body]) => ({
    name: `POST /mcp ${name}`,
    method: "POST",
    url: "/mcp",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
    body: Buffer.from(body),
  }));
}
