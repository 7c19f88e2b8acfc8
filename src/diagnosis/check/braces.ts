import { isWord, type Token, tokenize } from "../../sparql/query.ts";
import type { TextAttempt } from "./service-names.ts";

const mostMissing = 8;

/**
 * The text with as many braces at its end as are open, or without those that are too many: behind everything, before the
 * solution modifiers, and `{` behind WHERE. Only braces at the end: where one is missing further in, its place is unknown.
 */
export function* withBraces(text: string): Generator<TextAttempt> {
  const tokens = tokenize(text);
  const braces = tokens.filter(({ kind, text: sign }) => kind === "punct" && (sign === "{" || sign === "}"));
  const open = braces.reduce((depth, { text: sign }) => depth + (sign === "{" ? 1 : -1), 0);
  if (open === 0 || Math.abs(open) > mostMissing) return;
  if (open > 0) yield* closed(text, tokens, open);
  else yield* opened(text, tokens, -open);
}

function* closed(text: string, tokens: readonly Token[], open: number): Generator<TextAttempt> {
  const end = tokens.at(-1)?.end ?? text.length;
  const modifiers = modifiersFrom(tokens);
  const places = modifiers === undefined ? [end] : [modifiers, end];
  const signs = "}".repeat(open);
  for (const place of places) {
    const added = place === end ? ` ${signs}` : `${signs} `;
    yield {
      text: text.slice(0, place) + added + text.slice(place),
      repairs: [{ kind: "brace-missing", before: "", after: signs, applied: true }],
    };
  }
}

/** Where the solution modifiers begin that end the text, if it ends in some. */
function modifiersFrom(tokens: readonly Token[]): number | undefined {
  const lastBrace = tokens.findLastIndex(({ text }) => text === "{" || text === "}");
  const found = tokens.findIndex(
    (token, at) => at > lastBrace && isWord(token, "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"),
  );
  return found < 0 ? undefined : tokens[found]?.start;
}

function* opened(text: string, tokens: readonly Token[], missing: number): Generator<TextAttempt> {
  const where = tokens.find((token) => isWord(token, "WHERE"));
  if (where && missing === 1) {
    yield {
      text: `${text.slice(0, where.end)} {${text.slice(where.end)}`,
      repairs: [{ kind: "brace-missing", before: "WHERE", after: "WHERE {", applied: true }],
    };
  }
  const tail = tokens.slice(-missing);
  if (!tail.every(({ text: sign }) => sign === "}")) return;
  yield {
    text: text.slice(0, tail[0]?.start).trimEnd(),
    repairs: [{ kind: "brace-surplus", before: "}".repeat(missing), after: "", applied: true }],
  };
}
