import type { Repair } from "../../errors/fedway-error.ts";
import { isWord, type Token, tokenize } from "../../sparql/query.ts";

/** A text with faults mended that the parser stumbles over. */
export interface TextAttempt {
  readonly text: string;
  readonly repairs: readonly Repair[];
}

/** Words that follow SERVICE in a legal query. */
const idText = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `SERVICE people`, `FROM "people"`, `SERVICE :people` and `SERVICE people:` become `SERVICE <people>`, for ids of the catalogue. */
export function* withServiceNames(
  text: string,
  { isId }: { readonly isId: (id: string) => boolean },
): Generator<TextAttempt> {
  const tokens = tokenize(text);
  const repairs: Repair[] = [];
  let written = "";
  let done = 0;
  for (const [at, token] of tokens.entries()) {
    const word = placeWord(tokens, at);
    if (!word || token.kind === "iri" || token.kind === "var" || isWord(token, "SILENT", "NAMED")) continue;
    // An id may be cut into several tokens at its hyphens.
    const before = /[^\s{]*/.exec(text.slice(token.start, token.start + 200))?.[0] ?? "";
    const id = before.replaceAll(/^["':]+|(?<!["':])["':]+$/g, "");
    const known = [id, id.toLowerCase()].find((each) => idText.test(each) && isId(each));
    if (known === undefined) continue;
    written += `${text.slice(done, token.start)}<${known}>`;
    done = token.start + before.length;
    repairs.push({
      kind: "service-name",
      before: `${word} ${before}`,
      after: `${word} <${known}>`,
      applied: true,
    });
  }
  yield* withoutNamed(text, tokens, isId);
  if (repairs.length > 0) yield { text: written + text.slice(done), repairs };
}

/** The word before the name of a place. */
function placeWord(tokens: readonly Token[], at: number): string | undefined {
  if (isWord(tokens[at - 1], "FROM")) return "FROM";
  const word = isWord(tokens[at - 1], "SILENT") ? tokens[at - 2] : tokens[at - 1];
  return isWord(word, "SERVICE") ? "SERVICE" : undefined;
}

/** `FROM NAMED <people>` becomes `FROM <people>`: a place, of which GRAPH reads the named graphs. */
function* withoutNamed(text: string, tokens: readonly Token[], isId: (id: string) => boolean): Generator<TextAttempt> {
  const [named, ...others] = tokens.flatMap((token, at) => {
    const graph = tokens[at + 1]?.text.slice(1, -1) ?? "";
    return isWord(token, "NAMED") && isWord(tokens[at - 1], "FROM") && isId(graph) ? { token, graph } : [];
  });
  if (named === undefined || others.length > 0) return;
  const { token, graph } = named;
  yield {
    text: text.slice(0, token.start) + text.slice(token.end),
    repairs: [{ kind: "service-name", before: `FROM NAMED <${graph}>`, after: `FROM <${graph}>`, applied: true }],
  };
}
