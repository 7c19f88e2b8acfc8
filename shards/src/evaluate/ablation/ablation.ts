import { valueFor } from "../../../../src/values.ts";
import { estimateTokens } from "../../../../src/token-estimate.ts";
import { join } from "node:path";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { parseTurtle } from "../../../../src/rdf/turtle.ts";
import { schemaView } from "../../../../src/registry/schema.ts";
import { readDataset, type VoidDescription } from "../../../../src/registry/descriptions.ts";
import { parseQuery } from "../../../../src/sparql/query.ts";
import { readBoundedFile } from "../../bounded-file.ts";
import type { BenchmarkPackage, PackagedEndpoint } from "../../package/open-package.ts";

/** Terms of gold queries found in forms of the same descriptions, and the tokens of these. */
export interface Ablation {
  /** Questions whose queries name a class or a property. */
  readonly questions: number;
  readonly forms: readonly AblatedForm[];
}

interface AblatedForm {
  readonly form: string;
  /** Of the texts of all endpoints together, as `estimateTokens` counts. */
  readonly tokens: number;
  /** Mean share of a question's terms whose IRIs stand in the text; null without questions. */
  readonly iris: number | null;
  /** The same of terms whose local names' words are among the words of the text. */
  readonly words: number | null;
  /** `iris` for each 1,000 tokens. */
  readonly irisPerThousand: number | null;
}

/** The texts of an endpoint that the forms are made of. */
interface EndpointTexts {
  readonly endpoint: PackagedEndpoint;
  readonly description: VoidDescription;
  readonly standard: string;
  readonly extended: string;
}

const view =
  (detail: Parameters<typeof schemaView>[1]["detail"]) =>
  ({ description }: EndpointTexts): string =>
    schemaView(description, { detail, maxTokens: 100_000 }).text;

const forms: Readonly<Record<string, (of: EndpointTexts) => string>> = {
  "URL only": ({ endpoint }) => endpoint.url,
  "one sentence": ({ endpoint: { url, topic } }) => `${url}: ${topic}`,
  "class names": view("classes"),
  "one line a class": view("lines"),
  "full paths": view("paths"),
  "VoID, standard": ({ standard }) => standard,
  "VoID, extended": ({ extended }) => extended,
};

/** Compares forms of the descriptions of a package's endpoints. @throws FedwayError `REQUEST_INVALID`: a description is damaged */
export async function ablationOf(pkg: BenchmarkPackage): Promise<Ablation> {
  const endpoints = await Promise.all(pkg.endpoints.map((endpoint) => textsOf(pkg, endpoint)));
  const asked = pkg.questions.map(({ query }) => termsOf(valueFor(pkg.queries, query).query));
  const questions = asked.filter((terms) => terms.length > 0);
  const mean = (found: (iri: string) => boolean): number | null =>
    questions.length === 0
      ? null
      : questions.reduce((sum, terms) => sum + terms.filter(found).length / terms.length, 0) / questions.length;
  const measured = Object.entries(forms).map(([form, textOf]): AblatedForm => {
    const text = endpoints.map(textOf).join("\n");
    const tokens = estimateTokens(text);
    const [named, words] = [irisIn(text), new Set(wordsIn(text))];
    const iris = mean((iri) => named.has(iri));
    return {
      form,
      tokens,
      iris,
      words: mean((iri) => wordsIn(localOf(iri)).every((word) => words.has(word))),
      irisPerThousand: iris === null || tokens === 0 ? null : (iris * 1_000) / tokens,
    };
  });
  return { questions: questions.length, forms: measured };
}

async function textsOf({ folder, manifest }: BenchmarkPackage, endpoint: PackagedEndpoint): Promise<EndpointTexts> {
  const read = async (variant: string): Promise<string> => {
    const name = `void/${endpoint.id}.${variant}.ttl`;
    const refused = (why: string): FedwayError =>
      new FedwayError("REQUEST_INVALID", `The package in ${folder} cannot be read: its ${name} is ${why}.`);
    return (await readBoundedFile(join(folder, name), maxBytes, refused)).toString("utf8");
  };
  const [standard, extended] = [await read("standard"), await read("extended")];
  const dataset = `${manifest.baseUrl}/endpoints/${endpoint.entry}#dataset`;
  const quads = parseTurtle(extended, { maxBytes, maxQuads: 1_000_000, baseIri: dataset });
  const facts = readDataset(quads, dataset);
  const time = new Date(0).toISOString();
  const description: VoidDescription = {
    ...facts,
    id: endpoint.entry,
    endpoint: endpoint.url,
    dataset,
    source: "computed",
    unfinished: false,
    startedAt: time,
    finishedAt: time,
    unknown: [],
    records: [],
    cost: { requests: 0, bytes: 0, ms: 0 },
    classesComplete: true,
    propertiesComplete: true,
  };
  return { endpoint, description, standard, extended };
}

const maxBytes = 64 * 1024 * 1024;
const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** The classes and properties that a query names. */
function termsOf(query: string): readonly string[] {
  const patterns = query === "" ? [] : parseQuery(query).patterns;
  const iris = patterns.flatMap(({ predicate, object }) => {
    if (predicate.kind !== "iri") return [];
    if (predicate.iri !== rdfType) return [predicate.iri];
    return object.kind === "iri" ? [object.iri] : [];
  });
  return [...new Set(iris)];
}

/** IRIs that stand in a text, in full or by a prefix that it declares. */
function irisIn(text: string): ReadonlySet<string> {
  const declared = [...text.matchAll(/prefix\s+([\w.-]*):\s*<([^<>\s]*)>/giu)];
  const namespaces = new Map(declared.map(([, prefix = "", namespace = ""]) => [prefix, namespace]));
  const full = [...text.matchAll(/<([^<>\s]+)>/gu)].map(([, iri = ""]) => iri);
  const short = [...text.matchAll(/(?<![\w.-])([\w.-]*):([\w-]+(?:\.[\w-]+)*)/gu)].flatMap(
    ([, prefix = "", local = ""]) => {
      const namespace = namespaces.get(prefix);
      return namespace === undefined ? [] : [namespace + local];
    },
  );
  return new Set([...full, ...short]);
}

const localOf = (iri: string): string => /(?<![^/#:])[^/#:]+$/u.exec(iri)?.[0] ?? iri;

/** Words in lower case and the singular; names are taken apart at capitals. */
const wordsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\p{Lu}?\p{Ll}+|\p{Lu}+|\d+/gu)].map(([word]) =>
    word.toLowerCase().replace(/(?:ie)?s$/u, (end) => (end === "ies" ? "y" : "")),
  );
