import type * as RDF from "@rdfjs/types";
import type { FedwayError } from "../errors/fedway-error.ts";
import { isXmlText, type ItemEncoder, unwritable, xml, xmlRemark } from "./encoders.ts";
import { datatypeOf, safeLabel } from "./terms.ts";

const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/** Terms of RDF's own vocabulary that may not be property elements (RDF 1.1 XML Syntax, section 6.1.4), and `li`, which is read as `_1`. */
const reserved = new Set(
  ["Description", "RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype", "li"]
    .concat("bagID", "aboutEach", "aboutEachPrefix")
    .map((name) => rdf + name),
);

/**
 * RDF 1.1 XML Syntax. Neighbours with the same subject share a description; each property element declares its own
 * namespace, so nothing is remembered. What this syntax cannot hold (a predicate whose end is no XML name, a
 * control character, a triple term) is refused with `NOT_ACCEPTABLE`. So is a base direction: readers of RDF/XML 1.1 take `its:dir`
 * for a property, and make a blank node of the text.
 */
export function createRdfXmlEncoder(): ItemEncoder<RDF.Quad> {
  let about = "";
  return {
    open: () => `<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF xmlns:rdf="${rdf}">\n`,
    item: ({ subject, predicate, object }) => {
      const next = nodeAttribute(subject, "about");
      const start = next === about ? "" : `${about === "" ? "" : "</rdf:Description>\n"}<rdf:Description ${next}>\n`;
      about = next;
      return start + propertyElement(predicate.value, object);
    },
    close: (remark) => `${about === "" ? "" : "</rdf:Description>\n"}${xmlRemark(remark)}</rdf:RDF>\n`,
    remarks: true,
    refuses: true,
  };
}

function propertyElement(predicate: string, object: RDF.Term): string {
  const name = localName(predicate);
  if (name === "" || reserved.has(predicate)) throw refusal(`the predicate <${predicate}>`);
  const namespace = predicate.slice(0, predicate.length - name.length);
  const tag = `  <${name} xmlns="${xml(namespace)}"`;
  if (object.termType !== "Literal") return `${tag} ${nodeAttribute(object, "resource")}/>\n`;
  if (!isXmlText(object.value)) throw refusal("a character");
  if (object.direction) throw refusal("a text with a base direction");
  const datatype = datatypeOf(object);
  const kind = datatype === undefined ? "" : ` rdf:datatype="${xml(datatype)}"`;
  const language = object.language === "" ? "" : ` xml:lang="${xml(object.language)}"`;
  return `${tag}${kind}${language}>${xml(object.value)}</${name}>\n`;
}

/** A blank node's label gets a letter in front: an XML name does not start with a digit. */
function nodeAttribute(term: RDF.Term, name: "about" | "resource"): string {
  if (term.termType === "BlankNode") return `rdf:nodeID="b${safeLabel(term.value)}"`;
  if (term.termType !== "NamedNode") throw refusal("a triple term");
  return `rdf:${name}="${xml(term.value)}"`;
}

const nameStart = /[A-Za-z_]|[^\p{ASCII}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{C}]/u;
const nameCharacter = /[\w.-]|[^\p{ASCII}\p{P}\p{S}\p{Z}\p{C}]/u;

/** The longest end of an IRI that is an XML name without a colon (Namespaces in XML, production 4); empty when there is none. */
function localName(iri: string): string {
  let name = "";
  let end = "";
  for (const character of Array.from(iri).toReversed()) {
    if (!nameCharacter.test(character)) break;
    end = character + end;
    if (nameStart.test(character)) name = end;
  }
  return name;
}

const refusal = (what: string): FedwayError => unwritable(what, "RDF/XML", "text/turtle or application/n-triples");
