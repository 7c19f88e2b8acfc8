import type { Repair } from "../../errors/fedway-error.ts";
import { tokenize, undeclaredPrefixes } from "../../sparql/query.ts";
import type { TextAttempt } from "./service-names.ts";

/** Where namespaces of prefixes are looked up. */
export interface NamespaceSource {
  /** Namespaces that this prefix (without colon) usually stands for, those of the query's endpoints first. */
  namespacesOf(prefix: string): readonly string[];
  /** Namespaces in which the query's endpoints have a term with this local name. */
  namespacesWith(local: string): readonly string[];
  /** True if a class or property is known, at the query's endpoints or anywhere. */
  isKnown(iri: string): boolean;
}

const mostMissing = 20;

/**
 * The text with the prefixes declared that it uses without. Where a prefix may stand for several namespaces, the one that
 * has the most of the query's own names is taken, with http or https, then the order of the source decides; a prefix that
 * is unknown is taken for the only namespace that has all its names.
 */
export function* withPrefixes(text: string, source: NamespaceSource, written: string): Generator<TextAttempt> {
  const missing = undeclaredPrefixes(tokenize(written));
  if (missing.size === 0 || missing.size > mostMissing) return;
  const repairs: Repair[] = [];
  for (const [prefix, locals] of missing) {
    const namespace = namespaceFor(prefix, [...locals], source);
    if (namespace === undefined || /[\s<>"{}|^`\\]/.test(namespace)) return;
    repairs.push({ kind: "prefix-missing", before: "", after: `PREFIX ${prefix}: <${namespace}>`, applied: true });
  }
  yield { text: `${repairs.map(({ after }) => `${after}\n`).join("")}${text}`, repairs };
}

function namespaceFor(prefix: string, locals: readonly string[], source: NamespaceSource): string | undefined {
  const candidates = new Set(source.namespacesOf(prefix).flatMap((namespace) => [namespace, twinOf(namespace)]));
  const known = (namespace: string): number => locals.filter((local) => source.isKnown(namespace + local)).length;
  const ranked = [...candidates]
    .map((namespace) => ({ namespace, known: known(namespace) }))
    .toSorted((one, other) => other.known - one.known);
  const [best] = ranked;
  if (best !== undefined && (best.known > 0 || locals.every((local) => local === ""))) return best.namespace;
  // Names that the endpoints have in another namespace say more than the usual meaning of a prefix.
  const having = locals.map((local) => new Set(local === "" ? [] : source.namespacesWith(local)));
  const [first, ...others] = having;
  const common = [...(first ?? [])].filter((namespace) => others.every((each) => each.has(namespace)));
  return common.length === 1 ? common[0] : best?.namespace;
}

/** Some vocabularies, such as schema.org, are written with http as well as with https. */
const twinOf = (namespace: string): string =>
  namespace.startsWith("https:") ? namespace.replace("https:", "http:") : namespace.replace("http:", "https:");
