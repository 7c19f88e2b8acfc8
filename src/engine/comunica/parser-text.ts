import type { DataFactory } from "rdf-data-factory";
import { innerName, innerPrefix } from "../evaluator/inner-names.ts";

const strings = String.raw`"""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'`;
const nameCharacter = String.raw`[\w\u0080-\u{10FFFF}]`;
const others = String.raw`<[^\s<>"{}|^${"`"}\\]*>|#[^\n\r]*|:(?:${nameCharacter}|[:.%-]|\\.)*|\d+\.?\d*`;
const changed = String.raw`[?$]${nameCharacter}+|\.(?=\d)|!\s*\(\s*\)`;
const anyCase = (word: string): string => word.replaceAll(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`);
const keywords = `(?:${anyCase("GRAPH")}|${anyCase("SERVICE")}\\s+${anyCase("SILENT")})`;
const words = `(?<![\\w\\u0080-\\u{10FFFF}@.-])${keywords}(?![\\w\\u0080-\\u{10FFFF}.:-])`;
const tokens = new RegExp(`${strings}|${others}|${changed}|${words}`, "gsu");

/**
 * A legal query in a form that Comunica's parser reads: variables have their inner names, `.5` becomes `0.5`, and `!()`, a path
 * over any predicate, becomes `!(<urn:none>)`. GRAPH becomes SERVICE SILENT, which the algebra keeps as a part of its own: the
 * parser makes GRAPH a term of patterns, so that the names of graphs get lost around empty groups and subqueries. A SERVICE
 * that is silent is not in the algebra; its clause knows that.
 */
export const toParserText = (query: string): string =>
  query.replace(tokens, (token) => {
    if (token === ".") return "0.";
    if (token.startsWith("!")) return "!(<urn:fedway:nothing>)";
    if (/^graph$/i.test(token)) return "SERVICE SILENT";
    if (/^service\s/i.test(token)) return "SERVICE";
    return /^[?$]/.test(token) ? token.charAt(0) + innerName(token.slice(1)) : token;
  });

/**
 * The factory of terms for one query's algebra. Comunica names the variables that it makes `var0`, `var1` and so on, and begins
 * again behind each subselect, so that two path sequences shared a variable: each of them is a new one here. The variables of blank
 * nodes are called as these are.
 */
export function withFreshVariables(factory: DataFactory): DataFactory {
  let count = 0;
  const variable = (name: string) => factory.variable(/^var\d+$/.test(name) ? `${innerPrefix}fresh${count++}` : name);
  const blankNode = (label?: string) => factory.blankNode(label === undefined ? label : `${innerPrefix}blank_${label}`);
  return Object.assign(Object.create(factory) as DataFactory, { variable, blankNode });
}
