// Shorthand for schemas that are both documentation and type.
import { Type } from "typebox";

/** Fields with a word on what they mean. */
export const text = (description: string) => Type.String({ description });
export const texts = (description: string) => Type.Array(Type.String(), { description });
export const integer = (description: string) => Type.Integer({ description });
export const number = (description: string) => Type.Number({ description });
export const boolean = (description: string) => Type.Boolean({ description });

/** Values of a schema as code passes them on: nothing of them changes, and an optional field may be undefined, but no count. */
export type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends Readonly<Record<string, number>>
    ? Readonly<Value>
    : Value extends object
      ? {
          readonly [Key in keyof Value]: Partial<Pick<Value, Key>> extends Pick<Value, Key>
            ? Given<Value[Key]> | undefined
            : Given<Value[Key]>;
        }
      : Value;
