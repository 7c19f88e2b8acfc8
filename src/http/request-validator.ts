import type { TSchema } from "typebox";
import type { FastifySchemaCompiler } from "fastify";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { FedwayError } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";

const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

const clipped = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}…` : name);

function unknownFields(unknown: readonly string[], known: readonly string[]): FedwayError {
  const shown = unknown.slice(0, 5).map(clipped);
  const likes = shown.flatMap((name) => nearest(name, known, 1));
  const hint = likes.length > 0 ? ` Did you mean ${list(likes)}?` : "";
  return new FedwayError("REQUEST_INVALID", `Unknown: ${list(shown)}.${hint}`, {
    next: `Known are ${list(known)}.`,
  });
}

/** The first violation in words; unknown fields first, because they are most often misspelt names of missing ones. */
function violationError(violations: readonly TLocalizedValidationError[], schema: TSchema, part: string): FedwayError {
  const known = Object.keys(propertiesOf(schema));
  const unknown = violations.flatMap(({ keyword, params }) =>
    keyword === "additionalProperties" ? params.additionalProperties : [],
  );
  if (unknown.length > 0) return unknownFields(unknown, known);
  const [first] = violations;
  const missing = first?.keyword === "required" ? first.params.requiredProperties : [];
  if (missing.length > 0) {
    return new FedwayError("REQUEST_INVALID", `Missing: ${list(missing)}.`, { next: `Known are ${list(known)}.` });
  }
  return fieldError(first, schema, part);
}

function fieldError(violation: TLocalizedValidationError | undefined, schema: TSchema, part: string): FedwayError {
  const field = violation?.instancePath.slice(1) ?? "";
  const what = field === "" ? `The ${part}` : `"${clipped(field)}"`;
  const described = violation?.keyword === "pattern" ? textIn(schema, field, "description") : undefined;
  if (described !== undefined)
    return new FedwayError("REQUEST_INVALID", `${what} is malformed. Expected: ${described}`);
  const must =
    violation?.keyword === "enum" ? `must be one of ${list(violation.params.allowedValues.map(String))}` : undefined;
  return new FedwayError("REQUEST_INVALID", `${what} ${must ?? withArticle(violation?.message ?? "is not valid")}.`);
}

/** `must be object` as `must be an object`. */
const withArticle = (message: string): string =>
  message.replace(/^must be ([aio]?)(?=[a-z]+$)/, (_all, vowel) => `must be ${vowel === "" ? "a " : `an ${vowel}`}`);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const propertiesOf = (schema: TSchema): Readonly<Record<string, unknown>> =>
  "properties" in schema && isObject(schema.properties) ? schema.properties : {};

/** Text of a schema keyword of a field. */
function textIn(schema: TSchema, field: string, keyword: "type" | "description"): string | undefined {
  const properties = propertiesOf(schema);
  const found = Object.hasOwn(properties, field) ? properties[field] : undefined;
  const text = isObject(found) ? found[keyword] : undefined;
  return typeof text === "string" ? text : undefined;
}

const converters: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === "true" || text === "false" ? text === "true" : text),
};

/** Values written as another type are left as they are, and refused: `offset=true` is no 1. */
function converted(schema: TSchema, input: unknown): unknown {
  if (!isObject(input)) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const convert = converters[textIn(schema, name, "type") ?? ""];
      return [name, convert !== undefined && typeof value === "string" ? convert(value) : value];
    }),
  );
}

/** Query parameters and path parts are text, so they are converted first; JSON bodies are taken as they are. */
export const requestValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const part = httpPart === "body" ? "body" : "request";
  return (input: unknown) => {
    const value = httpPart === "body" ? input : converted(schema, input);
    if (validator.Check(value)) return { value };
    return { error: violationError(validator.Errors(value), schema, part) };
  };
};
