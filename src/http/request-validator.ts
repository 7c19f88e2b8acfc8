import type { TSchema } from "typebox";
import type { FastifyInstance, FastifySchemaCompiler } from "fastify";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { FedwayError } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";
import { requestFault } from "../results/json-structure.ts";
import { utf8Text } from "./protocol-operation.ts";

type Schema = Readonly<Record<string, unknown>>;

const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

const clipped = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}…` : name);

const invalid = (message: string, next: string): FedwayError => new FedwayError("REQUEST_INVALID", message, { next });

/** The first violation in words; unknown fields first, because they are most often misspelt names of missing ones. */
function violationError(violations: readonly TLocalizedValidationError[], schema: Schema, part: string): FedwayError {
  const violation = violations.find(({ keyword }) => keyword === "additionalProperties") ?? violations[0];
  const path = violation?.instancePath.slice(1) ?? "";
  const at = path === "" ? schema : schemaAt(schema, path.split("/"));
  const known = Object.keys(schemasIn(at, "properties"));
  const next = known.length === 0 ? "Send none." : `Known are ${list(known)}.`;
  if (violation?.keyword === "additionalProperties")
    return invalid(unknownText(violation.params.additionalProperties, known), next);
  if (violation?.keyword === "required") return invalid(`Missing: ${list(violation.params.requiredProperties)}.`, next);
  const name = path === "" ? `The ${part}` : `"${clipped(path)}"`;
  return valueError(name, violation, at);
}

function unknownText(unknown: readonly string[], known: readonly string[]): string {
  const shown = unknown.slice(0, 5).map(clipped);
  const likes = shown.flatMap((name) => nearest(name, known, 1));
  return `Unknown: ${list(shown)}.${likes.length > 0 ? ` Did you mean ${list(likes)}?` : ""}`;
}

function valueError(name: string, violation: TLocalizedValidationError | undefined, schema: Schema): FedwayError {
  const { description, enum: values, anyOf } = schema;
  const meaning = typeof description === "string" ? ` ${description}` : "";
  if (violation?.keyword === "pattern" && meaning !== "")
    return invalid(`${name} is malformed.`, `Expected:${meaning}`);
  if (values !== undefined || anyOf !== undefined)
    return invalid(`${name} must be ${wordsOf(schema)}.`, `Send one of these.${meaning}`);
  const message = violation?.message.replace(/^must be ([a-z]+)$/, (_all, type: string) => `must be ${named(type)}`);
  return invalid(`${name} ${message ?? "is not valid"}.`, `Send ${wordsOf(schema)}.${meaning}`);
}

const named = (type: string): string => (type === "null" ? type : `${/^[aio]/.test(type) ? "an" : "a"} ${type}`);

/** Values that a schema allows, in words. */
function wordsOf(schema: Schema): string {
  const { type, anyOf, enum: values, const: only } = schema;
  if (Array.isArray(values)) return `one of ${list(values.map(String))}`;
  if (Array.isArray(anyOf)) return anyOf.filter(isObject).map(wordsOf).join(" or ");
  if (only !== undefined) return JSON.stringify(only);
  if (typeof type !== "string") return "another value";
  const fields = Object.keys(schemasIn(schema, "properties"));
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const size =
    between(minimum, maximum) + between(minLength, maxLength, " characters") + between(minItems, maxItems, " items");
  return `${named(type)}${fields.length > 0 ? ` with ${list(fields)}` : size}`;
}

function between(least: unknown, most: unknown, unit = ""): string {
  if (typeof least === "number" && typeof most === "number") return ` from ${least} to ${most}${unit}`;
  if (typeof least === "number") return ` of at least ${least}${unit}`;
  return typeof most === "number" ? ` of at most ${most}${unit}` : "";
}

const isObject = (value: unknown): value is Schema => typeof value === "object" && value !== null;

const schemasIn = (schema: Schema, keyword: string): Schema => (isObject(schema[keyword]) ? schema[keyword] : {});

/** The schema of a value within the value of another one. */
function schemaAt(schema: Schema, [name, ...rest]: readonly string[]): Schema {
  if (name === undefined) return schema;
  const [first = schema] = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isObject) : [];
  const properties = schemasIn(first, "properties");
  const found = Object.hasOwn(properties, name) ? properties[name] : first["items"];
  return isObject(found) ? schemaAt(found, rest) : {};
}

const converters: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === "true" || text === "false" ? text === "true" : text),
};

/** Values written as another type are left as they are, and refused: `offset=true` is no 1. */
function converted(schema: Schema, input: unknown): unknown {
  if (!isObject(input)) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const convert = converters[String(schemaAt(schema, [name])["type"])];
      return [name, convert !== undefined && typeof value === "string" ? convert(value) : value];
    }),
  );
}

/** Query parameters and path parts are text, so they are converted first; JSON bodies are taken as they are. */
export const requestValidator: FastifySchemaCompiler<TSchema & Schema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const part = httpPart === "body" ? "body" : "request";
  return (input: unknown) => {
    const value = httpPart === "body" ? input : converted(schema, input);
    if (validator.Check(value)) return { value };
    return { error: violationError(validator.Errors(value), schema, part) };
  };
};

/** Teaches `app` to read JSON: it must be UTF-8, of bounded depth and width, and may not smuggle prototypes in. */
export function addJsonBodies(app: FastifyInstance, mediaType: string): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser(mediaType, { parseAs: "buffer" }, (request, bytes: Buffer, done) => {
    try {
      const fault = requestFault(bytes);
      if (fault !== undefined) throw new FedwayError("REQUEST_INVALID", fault, { next: "Send one JSON object." });
      void parse(request, utf8Text(bytes, "The body"), done);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}
