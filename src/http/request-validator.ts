import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Value } from "typebox/value";
import { FedwayError } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";

interface Violation {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

const namesIn = (params: object, key: string): readonly string[] => {
  const value: unknown = Object.entries(params).find(([name]) => name === key)?.[1];
  return Array.isArray(value) ? value.map(String) : [];
};

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
function describe(violations: readonly Violation[], known: readonly string[], part: string): FedwayError {
  const unknown = violations
    .filter(({ keyword }) => keyword === "additionalProperties")
    .flatMap(({ params }) => namesIn(params, "additionalProperties"));
  if (unknown.length > 0) return unknownFields(unknown, known);
  const [first] = violations;
  const missing = first?.keyword === "required" ? namesIn(first.params, "requiredProperties") : [];
  if (missing.length > 0) {
    return new FedwayError("REQUEST_INVALID", `Missing: ${list(missing)}.`, { next: `Known are ${list(known)}.` });
  }
  const field = first?.instancePath.slice(1) ?? "";
  const what = field === "" ? `The ${part}` : `"${clipped(field)}"`;
  return new FedwayError("REQUEST_INVALID", `${what} ${first?.message ?? "is not valid"}.`);
}

const knownFields = (schema: TSchema): readonly string[] => {
  const properties: unknown = "properties" in schema ? schema.properties : undefined;
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
};

/** Query parameters and path parts are text, so they are converted first; JSON bodies are taken as they are. */
export const requestValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const known = knownFields(schema);
  const part = httpPart === "body" ? "body" : "request";
  return (input: unknown) => {
    const value = httpPart === "body" ? input : Value.Convert(schema, input);
    if (validator.Check(value)) return { value };
    return { error: describe(validator.Errors(value), known, part) };
  };
};
