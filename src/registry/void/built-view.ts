import { dcterms, fedway, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { measured, type QuadWriter } from "./quad-writer.ts";
import type { VoidDescription } from "./void-description.ts";

/** Writes what the builder of a shard said of it, in Fedway's own terms, beside what was found by asking. */
export function writeBuilt(writer: QuadWriter, base: string, description: VoidDescription): void {
  const { dataset, built, propertyPartitions } = description;
  const positions = new Map(propertyPartitions.map(({ property }, at) => [property, at + 1]));
  for (const { property, subjectClasses, objectClasses } of built?.properties ?? []) {
    const at = positions.get(property);
    if (at === undefined) continue;
    const node = `${base}#property-${at}`;
    for (const iri of subjectClasses) writer.link(node, fedway.subjectClass, iri);
    for (const iri of objectClasses) writer.link(node, fedway.objectClass, iri);
  }
  for (const [at, part] of (built?.parts ?? []).entries()) {
    const node = `${base}#part-${at + 1}`;
    writer.link(dataset, fedway.part, node);
    writer.link(node, v.class, part.class);
    writer.text(node, measured.source, "builder");
    writer.number(node, fedway.parts, part.parts);
    for (const { endpoint } of part.siblings) {
      const sibling = writer.blank();
      writer.link(node, fedway.sibling, sibling);
      writer.text(sibling, dcterms.identifier, endpoint);
    }
  }
}
