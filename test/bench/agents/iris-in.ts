/** The IRIs in an answer of a tool, in full or by the prefixes that it declares. */
export function irisIn(text: string): ReadonlySet<string> {
  return new Set(irisOfLines(text, prefixesIn(text)));
}

/** Namespaces by prefix. */
export const prefixesIn = (text: string): ReadonlyMap<string, string> =>
  new Map(Array.from(text.matchAll(/^PREFIX ([\w-]+): <(.+)>$/gm), ([, name = "", iri = ""]) => [name, iri]));

/** The IRIs in lines of a text whose prefixes these are. */
export function irisOfLines(lines: string, prefixes: ReadonlyMap<string, string>): readonly string[] {
  const short = Array.from(lines.matchAll(/\b([\w-]+):([\w.-]+)/g), ([, prefix = "", local = ""]) => {
    const namespace = prefixes.get(prefix);
    return namespace === undefined ? "" : namespace + local.replace(/\.$/, "");
  });
  return [...Array.from(lines.matchAll(/<([^<>\s]+)>/g), ([, iri = ""]) => iri), ...short];
}
