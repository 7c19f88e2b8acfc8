/** Value of a JSON text; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for an object that has these fields, of any value. */
export const hasFields = <Of extends object>(value: unknown, ...fields: readonly (keyof Of & string)[]): value is Of =>
  typeof value === "object" && value !== null && fields.every((name) => name in value);
