import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { ExampleService } from "../registry/find.ts";
import { analyseQuery } from "../sparql/structure.ts";
import { parseQuery } from "../sparql/query.ts";
import { withServiceUrls } from "../sparql/rewrite.ts";
import { catalogSources } from "./catalog-files.ts";
import type { Foundation } from "./open-registry.ts";
import type { Catalog } from "../registry/catalog.ts";

/** Solved questions of endpoints, files and runs. @throws FedwayError `CONFIG_INVALID` when a folder of the settings is missing */
export function openExamples(
  { config, log, state, clients }: Foundation,
  known: Pick<ConstructorParameters<typeof ExampleService>[0], "models" | "exampleSets" | "onFault"> & {
    readonly catalog: Catalog;
  },
): ExampleService {
  const { catalog } = known;
  const { queryExamples, experience } = config.agents;
  const missing = queryExamples.find((folder) => !existsSync(folder));
  if (missing !== undefined) {
    throw new FedwayError("CONFIG_INVALID", `FEDWAY_QUERY_EXAMPLES names ${missing}, which is not there.`);
  }
  const beside = catalogSources(config).dirs.map(({ path }) => join(path, "queries"));
  return new ExampleService({
    ...known,
    store: state.store,
    asker: clients.asker,
    // Ages are compared with those that other processes have stored.
    clock: systemClock,
    embedder: clients.embedder,
    keepRuns: experience,
    readTargets: (query) => targetsOf(query, catalog),
    folders: [...new Set([...beside.filter((folder) => existsSync(folder)), ...queryExamples])],
    baseUrl: config.publicUrl,
    onProblem: ({ file, reason }) => log.warn({ file, reason }, "example queries left out"),
  });
}

/** URLs of the SERVICE targets; undefined when it is no query. */
function targetsOf(text: string, catalog: Catalog): readonly string[] | undefined {
  try {
    const { services } = analyseQuery(parseQuery(withServiceUrls(text, (id) => catalog.byId(id)?.url).text));
    return services.flatMap(({ target }) => (target.kind === "iri" ? target.iri : []));
  } catch {
    return undefined;
  }
}
