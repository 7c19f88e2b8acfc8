import { estimateTokens } from "../../token-estimate.ts";
import type { PublishedFacts } from "../../registry/catalog.ts";
import { createPrefixTable } from "../../registry/schema.ts";
import { fitting } from "./join-text.ts";

/**
 * The classes and properties of an endpoint that has not been described, as others published them, within `maxTokens`: those that
 * most published queries use first, classes and properties in turn.
 */
export function publishedText(id: string, facts: PublishedFacts, maxTokens: number) {
  const terms = [...facts.terms.values()].toSorted((one, other) => other.uses - one.uses);
  const table = createPrefixTable(terms.map(({ iri }) => iri));
  const head = `${id} has not been described yet. This was ${facts.provenance}; it is not all that there is, and may be out of date.`;
  const [classes, properties] = (["class", "property"] as const).map((kind) =>
    terms.filter((one) => one.kind === kind),
  );
  const inTurn = terms.flatMap((_, at) => [classes?.[at], properties?.[at]]).filter((term) => term !== undefined);
  const texts = inTurn.map(({ iri, uses }) => `${table.short(iri).text}${uses > 0 ? ` (${uses})` : ""}`);
  const { declared, lines } = fitting(texts, maxTokens - estimateTokens(head) - 30, table);
  const listed = (name: string, kind: "class" | "property", total = 0) => {
    const shown = lines.filter((_, at) => inTurn[at]?.kind === kind);
    const text = total === 0 ? [] : [`${name}, ${shown.length} of ${total}:`, ...shown];
    return { text, omitted: total - shown.length };
  };
  const ofClasses = listed("classes (with published queries that use them)", "class", classes?.length);
  const ofProperties = listed("properties", "property", properties?.length);
  return {
    text: [head, ...declared, ...ofClasses.text, ...ofProperties.text].join("\n"),
    omitted: { classes: ofClasses.omitted, properties: ofProperties.omitted },
  };
}
