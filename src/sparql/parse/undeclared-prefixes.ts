import { isWord, type Token } from "./tokens.ts";

/** Local names by prefix (without its colon) that a text uses without declaring it. */
export function undeclaredPrefixes(tokens: readonly Token[]): ReadonlyMap<string, ReadonlySet<string>> {
  const declared = new Set(
    tokens.filter((_, at) => isWord(tokens[at - 1], "PREFIX")).map(({ text }) => text.slice(0, -1)),
  );
  const missing = new Map<string, Set<string>>();
  for (const { kind, text } of tokens) {
    if (kind !== "pname") continue;
    const colon = text.indexOf(":");
    const prefix = text.slice(0, colon);
    if (declared.has(prefix)) continue;
    const locals = missing.get(prefix) ?? new Set();
    missing.set(prefix, locals.add(text.slice(colon + 1).replaceAll(/\\(.)/g, "$1")));
  }
  return missing;
}
