import type * as RDF from "@rdfjs/types";
import { DataFactory } from "n3";
import { type IActiveTag, RdfXmlParser } from "rdfxml-streaming-parser";
import { checkedQuad, type OnBadTerm } from "../rdf/turtle.ts";
import {
  createUtf8Reader,
  type GraphDecoder,
  type GraphDecoderOptions,
  malformed,
  QuadTransform,
} from "./answer-reader.ts";
import { XmlReader } from "./read-xml.ts";
import { XmlEncoding } from "./xml-encoding.ts";

/** RDF/XML. A scanner beside the parser knows whether the document is whole: the parser does not always complain. */
export class RdfXmlDecoder implements GraphDecoder {
  readonly #parser: QuadTransform;
  readonly #encoding = new XmlEncoding();
  readonly #utf8 = createUtf8Reader("RDF/XML");
  readonly #reader = new XmlReader({ sparqlResults: false, maxAttributes: 1000, maxDepth: maxXmlDepth });

  readonly #onBadTerm: OnBadTerm | undefined;

  constructor({ baseIri, factory = DataFactory, onBadTerm }: GraphDecoderOptions) {
    const options = { dataFactory: factory, trackPosition: true, baseIRI: baseIri ?? "" };
    // Statements are checked here, so that one with an invalid IRI can be left out.
    const parser = new BoundedRdfXmlParser({ ...options, validateUri: false });
    this.#onBadTerm = onBadTerm;
    this.#parser = new QuadTransform("RDF/XML", parser);
  }

  push(received: Uint8Array): Promise<readonly RDF.Quad[]> {
    return this.#take(this.#encoding.toUtf8(received));
  }

  async #take(bytes: Uint8Array): Promise<readonly RDF.Quad[]> {
    this.#reader.push(bytes);
    if (this.#reader.fault !== undefined) throw this.#broken(this.#reader.fault);
    // The parser takes each piece for a text of its own.
    return this.#checked(await this.#parser.write(Buffer.from(this.#utf8.read(bytes))));
  }

  async end(): Promise<readonly RDF.Quad[]> {
    const last = await this.#take(this.#encoding.end());
    const verdict = this.#reader.end();
    if (!verdict.complete) throw this.#broken(verdict.detail ?? "");
    return [...last, ...this.#checked(await this.#parser.end())];
  }

  #checked(quads: readonly RDF.Quad[]): readonly RDF.Quad[] {
    try {
      return quads.filter((quad) => checkedQuad(quad, this.#onBadTerm) !== undefined);
    } catch (error) {
      throw this.#broken(error instanceof Error ? error.message : "");
    }
  }

  #broken(detail: string): Error {
    this.#parser.destroy();
    return xmlMalformed(detail);
  }
}

/** Levels of elements; a level of data is two of them. */
const maxXmlDepth = 256;

/**
 * Entities can make a small document huge, so there are none. The parser looks through all open elements for each
 * prefix, and copies all namespaces to each element: the scanner bounds nesting, and namespaces, of which the parser makes
 * no use, are not handed down.
 */
class BoundedRdfXmlParser extends RdfXmlParser {
  #writing = false;

  /** The parser takes each piece of text for all of it, and forgets that an XML literal is XML. */
  override onText(text: string): void {
    const tag = this.#openTag();
    super.onText(tag?.childrenStringTags === undefined ? `${tag?.text ?? ""}${text}` : escapedText(text));
  }

  override onTag(tag: Parameters<RdfXmlParser["onTag"]>[0]): void {
    for (const attribute of Object.values(tag.attributes)) {
      const isParseType = attribute.local === "parseType" && attribute.uri === RdfXmlParser.RDF;
      if (isParseType && !parseTypes.has(attribute.value)) attribute.value = "Literal";
    }
    if (this.#openTag()?.childrenStringTags !== undefined) {
      for (const attribute of Object.values(tag.attributes)) attribute.value = escapedAttribute(attribute.value);
    }
    super.onTag(tag);
  }

  #openTag(): IActiveTag | undefined {
    const tags: unknown = Reflect.get(this, "activeTagStack");
    if (!Array.isArray(tags)) throw new TypeError("The RDF/XML parser has changed: no activeTagStack.");
    return tags.at(-1);
  }

  /** The parser would report each of a million faults and go on; the first one ends it. */
  override emit(event: string | symbol, ...given: readonly unknown[]): boolean {
    if (event === "error" && this.#writing) throw given[0];
    return super.emit(event, ...given);
  }

  override _transform(...given: Parameters<RdfXmlParser["_transform"]>): void {
    this.#writing = true;
    super._transform(...given);
    this.#writing = false;
  }

  override onDoctype(): void {
    this.destroy(xmlMalformed("document type declarations are not read."));
  }

  // "never": the type of a tag is that of a package which is not our own dependency.
  override onTagResource(...given: [never, IActiveTag, IActiveTag, boolean]): void {
    super.onTagResource(...given);
    forgetNamespaces(given[2]);
  }

  override onTagProperty(tag: never, active: IActiveTag, parent: IActiveTag): void {
    super.onTagProperty(tag, active, parent);
    // The parser drops the triple.
    if (active.childrenTagsToTripleTerms === true && active.rdfVersion === undefined) {
      throw xmlMalformed('it has a triple term (rdf:parseType="Triple") without rdf:version="1.2".');
    }
    forgetNamespaces(parent);
  }
}

/** All others mean Literal (RDF 1.1 XML Syntax, section 7.2.20); the parser ignores them. */
const parseTypes: ReadonlySet<string> = new Set(["Resource", "Literal", "Collection", "Triple"]);

/** As in Canonical XML, which an XML literal is (RDF 1.1 XML Syntax, section 7.2.17). */
const escapedText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\r", "&#xD;");
const escapedAttribute = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\t", "&#x9;")
    .replaceAll("\n", "&#xA;")
    .replaceAll("\r", "&#xD;");

// The root element has no parent, whatever its type says.
function forgetNamespaces(tag: IActiveTag | null): void {
  if (tag !== null) delete tag.namespaces;
}

const xmlMalformed = (what: string): Error => malformed(`The endpoint's RDF/XML answer is malformed: ${what}`);
