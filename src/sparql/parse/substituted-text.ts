import { FedwayError } from "../../errors/fedway-error.ts";
import { offsetAt, whereAt } from "./tokens.ts";

/** A part of a text, and what stands in its place. */
export interface Substitute {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A text with parts of it substituted. */
export interface SubstitutedText {
  readonly text: string;
  /** The same error, at its place in the text as it was written. */
  relocated(error: unknown): unknown;
}

/** Substitutes parts of a text, in their order, so that errors in the result are reported at their place in the original. */
export function substituted(original: string, parts: readonly Substitute[]): SubstitutedText {
  if (parts.length === 0) return { text: original, relocated: (error) => error };
  let written = "";
  let done = 0;
  for (const { start, end, text } of parts) {
    written += original.slice(done, start) + text;
    done = end;
  }
  written += original.slice(done);
  return {
    text: written,
    relocated(error) {
      if (!(error instanceof FedwayError)) return error;
      const { line, column = 1, ...rest } = error.details.where ?? {};
      if (line === undefined) return error;
      let offset = offsetAt(written, line, column - 1);
      for (const { start, end, text } of parts) if (start < offset) offset += end - start - text.length;
      const where = { ...whereAt(original, offset), ...rest };
      return new FedwayError(error.code, error.message, { ...error.details, where });
    },
  };
}
