/** Value of a JSON text; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Values of a schema as code passes them on: nothing of them changes, and an optional field may be undefined. */
export type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? {
        readonly [Key in keyof Value]: Partial<Pick<Value, Key>> extends Pick<Value, Key>
          ? Given<Value[Key]> | undefined
          : Given<Value[Key]>;
      }
    : Value;
