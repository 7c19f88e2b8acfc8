import { innerName } from "./variable-names.ts";

const strings = String.raw`"""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'`;
const name = String.raw`[\w\u0080-\u{10FFFF}]`;
const others = String.raw`<[^\s<>"{}|^${"`"}\\]*>|#[^\n\r]*|:(?:${name}|[:.%-]|\\.)*|\d+\.?\d*`;
const changed = String.raw`[?$]${name}+|\.(?=\d)|!\s*\(\s*\)`;
const tokens = new RegExp(`${strings}|${others}|${changed}`, "gsu");

/**
 * A legal query as Comunica's parser reads it: variables have their inner names, `.5` is `0.5`, and `!()`, a path over any
 * predicate, is one over any but one that nobody has.
 */
export const toParserText = (query: string): string =>
  query.replace(tokens, (token) => {
    if (token === ".") return "0.";
    if (token.startsWith("!")) return "!(<urn:fedway:nothing>)";
    return /^[?$]/.test(token) ? token.charAt(0) + innerName(token.slice(1)) : token;
  });
