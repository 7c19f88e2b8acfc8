import { parsedJson } from "../../src/values.ts";

/**
 * Checks of values from files and messages. A build of a small dataset takes a second and a half of a processor; TypeBox
 * would add a tenth of that to each process that loads it.
 */
export type Guard<Value> = (value: unknown) => value is Value;

/** Type that a guard accepts. */
export type Guarded<Of> = Of extends Guard<infer Value> ? Value : never;

type Fields = Readonly<Record<string, Guard<unknown>>>;
type Optional<Of> = { [Name in keyof Of]: undefined extends Guarded<Of[Name]> ? Name : never }[keyof Of];
type Shape<Of> = { readonly [Name in Exclude<keyof Of, Optional<Of>>]: Guarded<Of[Name]> } & {
  readonly [Name in Optional<Of>]?: Guarded<Of[Name]>;
};

/** Not empty. */
export const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
export const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

export const matches =
  (pattern: RegExp): Guard<string> =>
  (value): value is string =>
    typeof value === "string" && pattern.test(value);

export const isOneOf =
  <const Value>(...values: readonly Value[]): Guard<Value> =>
  (value): value is Value =>
    values.some((each) => each === value);

export const optional =
  <Value>(holds: Guard<Value>): Guard<Value | undefined> =>
  (value): value is Value | undefined =>
    value === undefined || holds(value);

export const isListOf =
  <Value>(holds: Guard<Value>): Guard<readonly Value[]> =>
  (value): value is readonly Value[] =>
    Array.isArray(value) && value.every(holds);

/** An object with these fields; it may have others. */
export const isShape =
  <const Of extends Fields>(fields: Of): Guard<Shape<Of>> =>
  (value): value is Shape<Of> =>
    isObject(value) && faultIn(value, fields) === undefined;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The name of the first field that is wrong. */
export const faultIn = (value: Readonly<Record<string, unknown>>, fields: Fields): string | undefined =>
  Object.entries(fields).find(([name, holds]) => !holds(Object.hasOwn(value, name) ? value[name] : undefined))?.[0];

/** Value of a JSON text, if the guard accepts it. */
export function parsedAs<Value>(text: string, holds: Guard<Value>): Value | undefined {
  const value = parsedJson(text);
  return holds(value) ? value : undefined;
}
