import { readFileSync } from "node:fs";
import { packageFile } from "../../package-file.ts";
import type { HttpShell } from "../http-deps.ts";

const folder = packageFile("catalog/examples/queries/");

/** The query in a file, without the comment above it. */
const queryIn = (file: string): string =>
  readFileSync(new URL(file, folder), "utf8")
    .replace(/^(?:#.*\n)+/, "")
    .trimEnd();

/** Queries over the hosted example endpoints, as the README shows them. */
export const exampleQueries = {
  threeEndpoints: queryIn("1-three-endpoints.rq"),
  oneDataset: queryIn("2-one-dataset.rq"),
  registry: queryIn("4-registry.rq"),
} as const;

/** True if the endpoints that the examples ask are hosted here. */
export const hasExamples = ({ hosted }: HttpShell): boolean =>
  ["places", "people", "museums"].every((id) => hosted(id) !== undefined);
