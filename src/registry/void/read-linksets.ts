import type * as RDF from "@rdfjs/types";
import { dcterms, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { nodeKey } from "./node-index.ts";
import { onlyIri } from "./read-values.ts";
import { readCount, type VoidSource } from "./void-source.ts";
import type { Linkset } from "./void-description.ts";

const mostLinksets = 50_000;
const catalogId = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

/** The linksets of a dataset: its subsets, and those that name it as the side of their subjects (VoID, section 4). */
export function readLinksets(source: VoidSource): readonly Linkset[] {
  const { index, nodes } = source;
  const datasets = new Set(nodes.map(nodeKey));
  const subsets = new Set(nodes.flatMap((node) => index.objects(node, v.subset).map(nodeKey)));
  const linksets: Linkset[] = [];
  for (const node of index.subjects) {
    if (linksets.length >= mostLinksets) break;
    if (!index.has(node, v.linkPredicate)) continue;
    const from = index.objects(node, v.subjectsTarget);
    if (!subsets.has(nodeKey(node)) && !from.some((target) => datasets.has(nodeKey(target)))) continue;
    const linkset = readLinkset(source, node);
    if (linkset !== undefined) linksets.push(linkset);
  }
  return linksets;
}

function readLinkset(source: VoidSource, node: RDF.Term): Linkset | undefined {
  const { index, annotations } = source;
  const property = onlyIri(index.objects(node, v.linkPredicate));
  if (property === undefined) return undefined;
  const classOf = (predicate: string): string | undefined =>
    onlyIri(index.objects(node, predicate).flatMap((target) => index.objects(target, v.class)));
  const subjectClass = classOf(v.subjectsTarget);
  const objectClass = classOf(v.objectsTarget);
  const target = annotations.own ? targetOf(source, node) : {};
  const triples = readCount(source, [node], v.triples);
  return {
    property,
    ...annotations.known(node, v.linkPredicate),
    ...(subjectClass !== undefined && { subjectClass }),
    ...(objectClass !== undefined && { objectClass }),
    ...target,
    ...(triples !== undefined && { triples }),
  };
}

/** The endpoint that describes the objects, and its dataset unless the side is only a part that this view has named. */
function targetOf({ index }: VoidSource, node: RDF.Term): Pick<Linkset, "targetEndpoint" | "targetDataset"> {
  const [side] = index.objects(node, v.objectsTarget);
  const ids = side === undefined ? [] : index.objects(side, dcterms.identifier);
  const id = ids.length === 1 ? ids[0]?.value : undefined;
  if (side === undefined || id === undefined || !catalogId.test(id)) return {};
  return { targetEndpoint: id, ...(side.value !== `${node.value}-objects` && { targetDataset: side.value }) };
}
