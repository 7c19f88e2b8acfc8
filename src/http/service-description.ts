import { FedwayError } from "../errors/fedway-error.ts";
import { resultFormats } from "../results/formats.ts";

/** Formats in which the description itself can be had. */
type DescriptionFormat = "turtle" | "ntriples" | "jsonld";

const sd = "http://www.w3.org/ns/sparql-service-description#";
const type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** IRIs of the W3C's list of unique formats (http://www.w3.org/ns/formats/). */
const formatNames: Readonly<Record<string, string>> = {
  json: "SPARQL_Results_JSON",
  xml: "SPARQL_Results_XML",
  csv: "SPARQL_Results_CSV",
  tsv: "SPARQL_Results_TSV",
  turtle: "Turtle",
  ntriples: "N-Triples",
  jsonld: "JSON-LD",
};

const formatIris = resultFormats
  .filter(({ writable }) => writable)
  .map(({ name }) => `http://www.w3.org/ns/formats/${formatNames[name] ?? name}`);

/** What is described: one SPARQL route. */
export interface DescribedService {
  /** Absolute URL of the route. */
  readonly url: string;
  /** SERVICE clauses are evaluated. */
  readonly federated: boolean;
}

const facts = ({ federated }: DescribedService): readonly (readonly [string, readonly string[]])[] => [
  ["supportedLanguage", [`${sd}SPARQL11Query`]],
  ["resultFormat", formatIris],
  ...(federated ? [["feature", [`${sd}BasicFederatedQuery`]] as const] : []),
];

function turtle(service: DescribedService): string {
  const lines = facts(service).map(([name, iris]) => `  sd:${name} ${iris.map((iri) => `<${iri}>`).join(", ")}`);
  return `@prefix sd: <${sd}> .\n\n[] a sd:Service ;\n  sd:endpoint <${service.url}> ;\n${lines.join(" ;\n")} .\n`;
}

const triple = (predicate: string, object: string): string => `_:service <${predicate}> <${object}> .\n`;

function ntriples(service: DescribedService): string {
  const listed = facts(service).flatMap(([name, iris]) => iris.map((iri) => triple(sd + name, iri)));
  return [triple(type, `${sd}Service`), triple(`${sd}endpoint`, service.url), ...listed].join("");
}

function jsonld(service: DescribedService): string {
  const listed = facts(service).map(([name, iris]) => [`sd:${name}`, iris.map((iri) => ({ "@id": iri }))] as const);
  const document = {
    "@context": { sd },
    "@type": "sd:Service",
    "sd:endpoint": { "@id": service.url },
    ...Object.fromEntries(listed),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

const writers: Readonly<Record<DescriptionFormat, (service: DescribedService) => string>> = {
  turtle,
  ntriples,
  jsonld,
};

const offered = resultFormats.filter(
  (format): format is typeof format & { readonly name: DescriptionFormat } => format.name in writers,
);

/** Weight of a media type in an Accept header; the most specific range decides (RFC 9110, section 12.5.1). */
function weightOf(mediaType: string, accept: string): number {
  const group = `${mediaType.split("/", 1)[0]}/*`;
  let best = { specificity: 0, weight: 0 };
  for (const part of accept.toLowerCase().split(",", 50)) {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const specificity = [undefined, "*/*", group, mediaType].indexOf(range);
    if (specificity <= best.specificity) continue;
    const q = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    best = { specificity, weight: q >= 0 && q <= 1 ? q : 0 };
  }
  return best.weight;
}

function choose(accept: string | undefined, wanted: string | undefined): (typeof offered)[number] {
  const named = offered.find(({ name, mediaType }) => name === wanted || mediaType === wanted);
  if (named) return named;
  const ranked = offered
    .map((format) => ({ format, weight: weightOf(format.mediaType, accept ?? "*/*") }))
    .toSorted((left, right) => right.weight - left.weight);
  const [best] = ranked;
  if (best && best.weight > 0) return best.format;
  throw new FedwayError("NOT_ACCEPTABLE", "The service description cannot be had in a format of the Accept header.", {
    next: `Ask for one of ${offered.map(({ mediaType }) => mediaType).join(", ")}, or send a query.`,
  });
}

/**
 * The SPARQL 1.1 Service Description of a route, in the format that `accept` or `wanted` (short name or media type)
 * asks for.
 * @throws FedwayError `NOT_ACCEPTABLE`
 */
export function describeService(
  service: DescribedService,
  accept: string | undefined,
  wanted: string | undefined,
): { readonly contentType: string; readonly body: string } {
  const { name, contentType } = choose(accept, wanted);
  return { contentType, body: writers[name](service) };
}
