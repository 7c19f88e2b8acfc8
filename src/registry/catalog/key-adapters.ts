import type * as RDF from "@rdfjs/types";
import { type KeyRule, keySteps } from "../../rdf/key-rule.ts";
import { isWritableIri } from "../../rdf/term-text.ts";
import { dataFactory } from "../../rdf/triple-index.ts";
import { dcterms, fedway, voidVocabulary, xsd } from "../../rdf/vocabularies.ts";
import type { AcceptedAdapter, CatalogEntry, KeyPlace } from "./catalog.ts";
import {
  choice,
  count,
  EntryProblem,
  iris,
  isCatalogId,
  quote,
  refuseUnknownTerms,
  single,
  type Statements,
  statementsAbout,
  texts,
  values,
} from "./statements.ts";

/** More than any pair of data sets needs. */
const mostAdapters = 50;

const hereTerms: ReadonlySet<string> = new Set([fedway.matches, fedway.other, fedway.prefix, fedway.step]);
const otherTerms: ReadonlySet<string> = new Set([fedway.form, fedway.member, fedway.prefix]);

/**
 * The adapters of an entry: `fedway:keyAdapter [ void:property ex:code; fedway:prefix "C-"; fedway:step "padding";
 * fedway:other [ fedway:member "b"; void:class ex:Country; fedway:prefix "http://b.example/"; fedway:form "iri" ] ]`.
 * @throws EntryProblem
 */
export function keyAdapters(statements: Statements, quads: readonly RDF.Quad[]): CatalogEntry["keyAdapters"] {
  const nodes = values(statements, fedway.keyAdapter);
  if (nodes.length === 0) return undefined;
  if (nodes.length > mostAdapters)
    throw new EntryProblem(`fedway:keyAdapter is given more than ${mostAdapters} times.`);
  return Object.freeze(nodes.map((node) => adapterOf(node, quads)));
}

function adapterOf(node: RDF.Term, quads: readonly RDF.Quad[]): AcceptedAdapter {
  const here = statementsAbout(node, quads);
  const otherNode = single(here, fedway.other);
  const other = otherNode === undefined ? new Map<string, RDF.Term[]>() : statementsAbout(otherNode, quads);
  refuseUnknownTerms(here, hereTerms);
  refuseUnknownTerms(other, otherTerms);
  const [id, second] = texts(other, fedway.member);
  if (id === undefined || second !== undefined || !isCatalogId(id)) {
    throw new EntryProblem("fedway:other of a fedway:keyAdapter does not name one endpoint with fedway:member.", id);
  }
  const rule: KeyRule = {
    prefix: prefixOf(here),
    otherPrefix: prefixOf(other),
    steps: stepsOf(here),
    form: formOf(other),
  };
  return Object.freeze({
    here: placeOf(here),
    other: placeOf(other),
    otherEndpoint: id,
    rule,
    acceptedAt: texts(here, dcterms.created)[0],
    matches: count(here, fedway.matches),
  });
}

function placeOf(statements: Statements): KeyPlace {
  const [property, ...properties] = iris(statements, voidVocabulary.property);
  const [itsClass, ...classes] = iris(statements, voidVocabulary.class);
  if (properties.length === 0 && property !== undefined && itsClass === undefined) return { property };
  if (classes.length === 0 && itsClass !== undefined && property === undefined) return { class: itsClass };
  throw new EntryProblem("Each side of a fedway:keyAdapter has one void:property or one void:class.");
}

/** White space counts, so the text is taken as it is. */
function prefixOf(statements: Statements): string {
  const term = single(statements, fedway.prefix);
  if (term === undefined) return "";
  if (term.termType === "Literal" && term.value.length <= 1_000) return term.value;
  throw new EntryProblem(`fedway:prefix ${quote(term.value)} is not a text of at most 1000 characters.`, term.value);
}

function stepsOf(statements: Statements): KeyRule["steps"] {
  const named = texts(statements, fedway.step);
  const unknown = named.find((name) => !keySteps.some((step) => step === name));
  if (unknown === undefined) return keySteps.filter((step) => named.includes(step));
  throw new EntryProblem(`fedway:step ${quote(unknown)} is not one of ${keySteps.map(quote).join(", ")}.`, unknown);
}

/** "iri", or the IRI of a datatype. */
function formOf(statements: Statements): string | undefined {
  const term = single(statements, fedway.form);
  if (term?.termType === "NamedNode" && isWritableIri(term.value)) return term.value;
  return choice(statements, fedway.form, ["iri"]);
}

/** An adapter as triples about an entry. */
export function adapterQuads(entry: RDF.Quad_Subject, adapter: AcceptedAdapter): readonly RDF.Quad[] {
  const { here, other, otherEndpoint, rule, acceptedAt, matches } = adapter;
  const { prefix, otherPrefix, steps, form } = rule;
  const [node, otherNode] = [dataFactory.blankNode(), dataFactory.blankNode()];
  return [
    ...about(entry, [[fedway.keyAdapter, node]]),
    ...about(node, [
      placed(here),
      ...written(fedway.prefix, prefix),
      ...steps.flatMap((step) => written(fedway.step, step)),
      ...written(fedway.matches, matches === undefined ? "" : String(matches), xsd.integer),
      ...written(dcterms.created, acceptedAt ?? "", xsd.dateTime),
      [fedway.other, otherNode],
    ]),
    ...about(otherNode, [
      placed(other),
      ...written(fedway.member, otherEndpoint),
      ...written(fedway.prefix, otherPrefix),
      ...(form === undefined || form === "iri" ? written(fedway.form, form ?? "") : [named(fedway.form, form)]),
    ]),
  ];
}

const about = (subject: RDF.Quad_Subject, objects: readonly PropertyObject[]): readonly RDF.Quad[] =>
  objects.map(([property, object]) => dataFactory.quad(subject, dataFactory.namedNode(property), object));

type PropertyObject = readonly [property: string, object: RDF.Quad_Object];

const named = (property: string, iri: string): PropertyObject => [property, dataFactory.namedNode(iri)];

const placed = (place: KeyPlace): PropertyObject =>
  "property" in place ? named(voidVocabulary.property, place.property) : named(voidVocabulary.class, place.class);

/** Nothing for an empty text. */
const written = (property: string, text: string, datatype: string = xsd.string): readonly PropertyObject[] =>
  text === "" ? [] : [[property, dataFactory.literal(text, dataFactory.namedNode(datatype))]];
