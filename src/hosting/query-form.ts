import type { AnswerKind } from "../results/model.ts";

const blank = /(?:\s+|#[^\n\r]*)+/y;
const declaration = /(?:BASE\s*<[^<>"{}|^`\\\s]*>|PREFIX\s*[^\s:<>#]*:\s*<[^<>"{}|^`\\\s]*>)/iy;
const form = /(SELECT|ASK|CONSTRUCT|DESCRIBE)(?![\w-])/iy;

const kinds: Readonly<Record<string, AnswerKind>> = {
  SELECT: "bindings",
  ASK: "boolean",
  CONSTRUCT: "quads",
  DESCRIBE: "quads",
};

/** Where `pattern` (sticky) ends when it matches at `at`; `at` when it does not. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/**
 * The kind of answer that a query asks for, read from its first keyword after the prologue. Undefined when there is
 * none: the text is an update or no SPARQL at all, which the endpoint's own parser will say better.
 */
export function answerKindOf(text: string): AnswerKind | undefined {
  let at = 0;
  for (;;) {
    const start = after(blank, text, at);
    at = after(declaration, text, start);
    if (at === start) {
      form.lastIndex = start;
      return kinds[form.exec(text)?.[1]?.toUpperCase() ?? ""];
    }
  }
}
