/**
 * A text as a string of an answer-set program: the one way in which text from outside enters one. clingo knows only the
 * escapes \\, \" and \n, and its input ends at a NUL; so the text is first written as in JSON (control characters and lone
 * surrogates as \uXXXX), then quoted.
 */
export function quote(text: string): string {
  const json = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[\u007f-\u009f\u2028\u2029]/gu, escapeUnit);
  return `"${json.replaceAll("\\", String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}

/** The text of a string that `quote` wrote, as clingo prints it. */
export function unquote(quoted: string): string {
  const json = quoted.slice(1, -1).replaceAll(/\\(.)/gu, "$1");
  return JSON.parse(`"${json}"`);
}

const escapeUnit = (unit: string): string => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
