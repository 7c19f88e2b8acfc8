import type { AnswerKind } from "../results/model.ts";

const prologuePart = /\s+|#[^\n\r]*|BASE\s*<[^<>]*>|PREFIX\s*[^\s:<>#]*:\s*<[^<>]*>/iy;
const word = /[A-Z]+(?![\w-])/iy;

/** The first word after the prologue, in upper case; linear in the text. */
function firstWord(text: string): string {
  let at = 0;
  for (;;) {
    prologuePart.lastIndex = at;
    if (!prologuePart.test(text)) break;
    at = prologuePart.lastIndex;
  }
  word.lastIndex = at;
  return word.exec(text)?.[0].toUpperCase() ?? "";
}

const kinds: ReadonlyMap<string, AnswerKind> = new Map([
  ["SELECT", "bindings"],
  ["ASK", "boolean"],
  ["CONSTRUCT", "quads"],
  ["DESCRIBE", "quads"],
]);

/**
 * The kind of answer that a query asks for, read from its first keyword after the prologue. Undefined when there is
 * none: the text is an update or no SPARQL at all, which the endpoint's own parser will say better.
 */
export const answerKindOf = (text: string): AnswerKind | undefined => kinds.get(firstWord(text));

const updates = new Set("INSERT DELETE WITH LOAD CLEAR DROP CREATE ADD MOVE COPY".split(" "));

/** True when the first word after the prologue starts a SPARQL 1.1 Update operation. */
export const isUpdate = (text: string): boolean => updates.has(firstWord(text));

/** Strings, IRIs and comments, whole or cut off, and names with what belongs to them: each part in one go, so linear in the text. */
const parts =
  /"""(?:[^"\\]|\\[^]?|"(?!""))*(?:""")?|'''(?:[^'\\]|\\[^]?|'(?!''))*(?:''')?|"(?:[^"\\\n\r]|\\.)*"?|'(?:[^'\\\n\r]|\\.)*'?|<[^<>"{}|^`\\\s]*>|#[^\n\r]*|[?$@]?(?:[\p{L}\p{N}_:.%-]|\\\S)+/gu;

/** True if a query names its graphs with FROM or FROM NAMED. */
export const hasDatasetClause = (text: string): boolean =>
  text.matchAll(parts).some(([part]) => part.toUpperCase() === "FROM");
