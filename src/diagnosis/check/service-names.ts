import type { Repair } from "../../errors/fedway-error.ts";
import { isWord, tokenize } from "../../sparql/query.ts";

/** A text with faults mended that the parser stumbles over. */
export interface TextAttempt {
  readonly text: string;
  readonly repairs: readonly Repair[];
}

/** Words that follow SERVICE in a legal query. */
const idText = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `SERVICE people`, `SERVICE "people"`, `SERVICE :people` and `SERVICE people:` become `SERVICE <people>`, for ids of the catalogue. */
export function* withServiceNames(
  text: string,
  { isId }: { readonly isId: (id: string) => boolean },
): Generator<TextAttempt> {
  const tokens = tokenize(text);
  const repairs: Repair[] = [];
  let written = "";
  let done = 0;
  for (const [at, token] of tokens.entries()) {
    const isTarget =
      isWord(tokens[at - 1], "SERVICE") || (isWord(tokens[at - 1], "SILENT") && isWord(tokens[at - 2], "SERVICE"));
    if (!isTarget || token.kind === "iri" || token.kind === "var" || isWord(token, "SILENT")) continue;
    // An id may be cut into several tokens at its hyphens.
    const brace = text.indexOf("{", token.start);
    const before = text.slice(token.start, brace < 0 ? token.end : brace).trim();
    const id = before.replaceAll(/^["':]+|(?<!["':])["':]+$/g, "");
    const known = [id, id.toLowerCase()].find((each) => idText.test(each) && isId(each));
    if (known === undefined) continue;
    written += `${text.slice(done, token.start)}<${known}>`;
    done = token.start + before.length;
    repairs.push({ kind: "service-name", before: `SERVICE ${before}`, after: `SERVICE <${known}>`, applied: true });
  }
  if (repairs.length > 0) yield { text: written + text.slice(done), repairs };
}
