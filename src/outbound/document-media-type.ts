import { answerMediaType, bareMediaType } from "./media-types.ts";

/** The Accept header of a document request. */
export const rdfAccept =
  "text/turtle, application/n-triples;q=0.9, application/ld+json;q=0.8, application/rdf+xml;q=0.8, */*;q=0.1";

const byExtension: Readonly<Record<string, string>> = {
  ttl: "text/turtle",
  n3: "text/turtle",
  nt: "application/n-triples",
  rdf: "application/rdf+xml",
  owl: "application/rdf+xml",
  jsonld: "application/ld+json",
};

/** Types that servers give to files they do not know. */
const untold = new Set(["", "application/octet-stream", "text/plain", "binary/octet-stream"]);

/**
 * The RDF format of a document by its Content-Type, else by the extension of its URL; undefined when it is no RDF.
 * Plain text is read as Turtle, which N-Triples is a part of.
 */
export function documentMediaType(contentType: string | undefined, url: URL): string | undefined {
  const bare = bareMediaType(contentType);
  if (!untold.has(bare)) return answerMediaType(contentType, "quads");
  const extension = /\.([a-z0-9]{1,8})$/iu.exec(url.pathname)?.[1]?.toLowerCase() ?? "";
  if (Object.hasOwn(byExtension, extension)) return byExtension[extension];
  return bare === "text/plain" ? "text/turtle" : undefined;
}
