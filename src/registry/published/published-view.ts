import { estimateTokens } from "../schema/compose-view.ts";
import { createPrefixTable } from "../schema/prefixes.ts";
import type { PublishedFacts, PublishedTerm } from "./published-facts.ts";

/** What a view shows of published facts, and what it leaves out. */
export interface PublishedView {
  readonly text: string;
  readonly omitted: { readonly classes: number; readonly properties: number };
}

/**
 * The classes and properties of an endpoint that has not been described, as others published them, within `maxTokens`: those that
 * most published queries use first, classes and properties in turn.
 */
export function publishedView(id: string, facts: PublishedFacts, maxTokens: number): PublishedView {
  const terms = [...facts.terms.values()].toSorted((one, other) => other.uses - one.uses);
  const [classes, properties] = [ofKind(terms, "class"), ofKind(terms, "property")];
  const table = createPrefixTable(terms.map(({ iri }) => iri));
  const head = `${id} has not been described yet. This was ${facts.provenance}; it is not all that there is, and may be out of date.`;
  const declared = new Map<string, string>();
  const lines: Record<PublishedTerm["kind"], string[]> = { class: [], property: [] };
  let left = maxTokens - estimateTokens(head) - 40;
  for (let at = 0; at < Math.max(classes.length, properties.length); at++) {
    for (const term of [classes[at], properties[at]]) {
      if (term === undefined) continue;
      const { text, prefixes } = table.short(term.iri);
      const line = `${text}${term.uses > 0 ? ` (${term.uses})` : ""}`;
      const own = prefixes.filter((prefix) => !declared.has(prefix));
      const declarations = own.map((prefix) => `PREFIX ${prefix}: <${table.namespace(prefix) ?? ""}>`);
      left -= [line, ...declarations].reduce((sum, each) => sum + estimateTokens(each) + 1, 0);
      if (left < 0) continue;
      for (const [place, prefix] of own.entries()) declared.set(prefix, declarations[place] ?? "");
      lines[term.kind].push(line);
    }
  }
  const listed = [
    ...listText("classes (with published queries that use them)", lines.class, classes.length),
    ...listText("properties", lines.property, properties.length),
  ];
  return {
    text: [head, ...declared.values(), ...listed].join("\n"),
    omitted: {
      classes: classes.length - lines.class.length,
      properties: properties.length - lines.property.length,
    },
  };
}

const ofKind = (terms: readonly PublishedTerm[], kind: PublishedTerm["kind"]): readonly PublishedTerm[] =>
  terms.filter((term) => term.kind === kind);

function listText(name: string, shown: readonly string[], total: number): readonly string[] {
  if (total === 0) return [];
  return [`${name}, ${shown.length} of ${total}:`, ...shown];
}
