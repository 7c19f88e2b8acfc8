import { readFile } from "node:fs/promises";
import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../../errors/fedway-error.ts";
import { toDataset } from "../../rdf/dataset.ts";
import { vocabularyPrefixes } from "../../rdf/prefixes.ts";
import { parseTurtle } from "../../rdf/turtle.ts";
import { shacl } from "../../rdf/vocabularies.ts";

/** How much a finding weighs: a violation refuses the document. */
export type Severity = "violation" | "warning" | "info";

/** What a SHACL shape has to say about a document. */
export interface ShapeFinding {
  readonly severity: Severity;
  /** Predicate, with its usual prefix where there is one. */
  readonly path?: string;
  readonly reason: string;
}

/** Validates documents against SHACL shapes, most important findings first. */
export type ShapeCheck = (quads: readonly RDF.Quad[]) => Promise<readonly ShapeFinding[]>;

/** Findings about one document: at least half as many as this are reported. */
const maxErrors = 400;
const limits = { baseIri: "urn:fedway:shapes:", maxBytes: 1_000_000, maxQuads: 20_000 };

/**
 * SHACL Core over one document at a time. The validator is loaded when the first document is checked.
 * @throws FedwayError `CATALOG_INVALID`, when it is called, for shapes that cannot be read
 */
export function createShapeCheck(shapesFile: string): ShapeCheck {
  let loading: Promise<ShapeCheck> | undefined;
  return async (quads) => {
    loading ??= loadShapes(shapesFile);
    return (await loading)(quads);
  };
}

async function loadShapes(shapesFile: string): Promise<ShapeCheck> {
  // It brings a large family of RDF libraries along, which a service that never changes its catalogue does not need.
  const { default: Validator } = await import("rdf-validate-shacl");
  const shapes = toDataset(await readShapes(shapesFile));
  const create = () => new Validator(shapes, { maxErrors });
  let validator = create();
  let found = 0;
  return async (quads) => {
    // Making one takes long; but it counts its findings over all documents, and stops at `maxErrors`.
    if (found > maxErrors / 2) {
      validator = create();
      found = 0;
    }
    const report = await validator.validate(toDataset(quads));
    found += report.results.length;
    const findings = report.results.map(({ severity, path, message }) => toFinding(severity, path, message));
    return findings.toSorted((left, right) => weights.indexOf(left.severity) - weights.indexOf(right.severity));
  };
}

async function readShapes(shapesFile: string): Promise<readonly RDF.Quad[]> {
  try {
    return parseTurtle(await readFile(shapesFile, "utf8"), limits);
  } catch (cause) {
    const reason = cause instanceof FedwayError ? ` ${cause.message}` : "";
    throw new FedwayError("CATALOG_INVALID", `The shapes ${shapesFile} cannot be read.${reason}`, { cause });
  }
}

const weights: readonly Severity[] = ["violation", "warning", "info"];
const severities: ReadonlyMap<string, Severity> = new Map([
  [shacl.Violation, "violation"],
  [shacl.Warning, "warning"],
  [shacl.Info, "info"],
]);

function toFinding(
  severity: RDF.Term | null,
  path: RDF.Term | null | undefined,
  messages: readonly RDF.Term[],
): ShapeFinding {
  const [message] = messages;
  return {
    severity: severities.get(severity?.value ?? "") ?? "violation",
    ...(path?.termType === "NamedNode" && { path: shortName(path.value) }),
    reason: message?.value ?? "The document does not have the shape of its kind.",
  };
}

/** An IRI with its usual prefix, or as it is. */
export function shortName(iri: string): string {
  const end = Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1;
  const prefix = vocabularyPrefixes.get(iri.slice(0, end));
  return prefix === undefined ? iri : `${prefix}:${iri.slice(end)}`;
}
