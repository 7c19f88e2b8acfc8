import { expect, it } from "vitest";
import { libraryMessage } from "../../../src/errors/fedway-error.ts";

const shouldSay = (thrown: unknown, expected: string | undefined) =>
  it(String(thrown), () => expect(libraryMessage(thrown)).toBe(expected));

shouldSay(new Error("a \n b"), "a b");
shouldSay(new SyntaxError("Unexpected token"), "Unexpected token");
shouldSay(new TypeError("Cannot read properties of undefined"), undefined);
shouldSay(new RangeError("Maximum call stack size exceeded"), undefined);
shouldSay("text", undefined);
