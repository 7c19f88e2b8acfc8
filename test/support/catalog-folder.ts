import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newFolder } from "./scratch-folder.ts";

export type CatalogFolder = Awaited<ReturnType<typeof createCatalogFolder>>;

/** A folder of catalogue files for one test. */
export async function createCatalogFolder() {
  const path = newFolder();
  const file = (name: string): string => join(path, name);
  return {
    path,
    /** Full path of a file. */
    file,
    async write(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
      await Promise.all(Object.entries(files).map(([name, content]) => writeFile(file(name), content)));
    },
  };
}

const prefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix fedway: <https://w3id.org/fedway/ns#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix void: <http://rdfs.org/ns/void#> .
`;

/** Turtle of an endpoint; line 8 has its identifier, line 9 its title, line 10 its URL. */
export const endpointTurtle = (id: string, url: string, ...statements: readonly string[]): string => `${prefixes}
[] a dcat:DataService ;
  dcterms:identifier "${id}" ;
  dcterms:title "Title of ${id}" ;
  dcat:endpointURL <${url}>${statements.map((statement) => ` ;\n  ${statement}`).join("")} .
`;

/** Turtle of a federation. */
export const federationTurtle = (id: string, ...statements: readonly string[]): string => `${prefixes}
[] a fedway:Federation ;
  dcterms:identifier "${id}" ;
  dcterms:title "Title of ${id}" ;
  ${statements.join(" ;\n  ")} .
`;

/** The shapes that come with the program. */
export const shapesFile = fileURLToPath(new URL("../../catalog/shapes/entry-shapes.ttl", import.meta.url));
