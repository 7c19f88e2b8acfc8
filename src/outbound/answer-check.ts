import { isUtf8 } from "node:buffer";
import type { AnswerScanner } from "../results/scanner.ts";
import type { SparqlRequest } from "./sparql-client.ts";

const endings: Readonly<Record<SparqlRequest["kind"], string>> = {
  bindings: "rows were expected",
  boolean: "a boolean was expected",
  quads: "triples were expected",
};

/** Unrequested form or columns of an answer; undefined while nothing is wrong. */
export function misfit(
  { form, variables }: Pick<AnswerScanner, "form" | "variables">,
  { kind, columns }: Pick<SparqlRequest, "kind" | "columns">,
): string | undefined {
  if (form !== undefined && form !== kind) {
    return `The endpoint answered with ${form === "boolean" ? "a boolean" : "rows"} where ${endings[kind]}.`;
  }
  if (columns === undefined || variables === undefined) return undefined;
  const { asked, allowed = [] } = columns;
  const missing = without(asked, variables);
  const other = without(variables, [...asked, ...allowed]);
  if (missing.length + other.length === 0) return undefined;
  const lacks = missing.length > 0 ? [`it lacks ${named(missing)}`] : [];
  const adds = other.length > 0 ? [`it has ${named(other)}, which the query does not ask for`] : [];
  return `The endpoint's answer has other columns than the query: ${[...lacks, ...adds].join(", and ")}.`;
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Set(others);
  return names.filter((name) => !left.has(name));
}

const mostNamed = 5;
const longestName = 80;

/** Foreign names, fit for a message. */
function named(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).map((name) => {
    const plain = name.slice(0, longestName).replaceAll(/[\p{C}\s]+/gu, " ");
    return /^[\p{L}\p{N}_]+$/u.test(plain) ? `?${plain}` : `"${plain}"`;
  });
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
  return `${shown.join(", ")}${more}`;
}

const nothing = Buffer.alloc(0);

/** Checks that bytes that pass in pieces are UTF-8; a piece may end inside a character. */
export class EncodingCheck {
  #rest: Uint8Array = nothing;

  /** False as soon as they are not. */
  push(chunk: Uint8Array): boolean {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = wholeCharacters(bytes);
    if (whole === bytes.length) {
      this.#rest = nothing;
      return isUtf8(bytes);
    }
    this.#rest = Buffer.from(bytes.subarray(whole));
    return isUtf8(bytes.subarray(0, whole));
  }

  /** False when the last character is not whole. */
  end(): boolean {
    return this.#rest.length === 0;
  }
}

/** Index behind the last character that is whole; where bytes are no UTF-8 any index will do. */
function wholeCharacters(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? length - back : length;
    }
  }
  return length;
}
