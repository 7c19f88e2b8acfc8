import { FedwayError } from "../errors/fedway-error.ts";
import type { CliApp } from "./cli-io.ts";
import type { Asked, Runner } from "./runner.ts";

function checkEndpoint({ catalog }: CliApp, { endpoint }: Asked): void {
  if (endpoint === undefined || catalog.byId(endpoint)) return;
  throw new FedwayError("ENDPOINT_UNKNOWN", `The catalogue has no endpoint "${endpoint}".`, {
    endpoints: catalog.entries.slice(0, 20).map(({ id }) => id),
  });
}

/** Runs queries in this process, with the catalogue and limits of the environment. */
export function createLocalRunner(app: CliApp): Runner {
  const { queries } = app;
  return {
    run: async (asked, signal) => {
      checkEndpoint(app, asked);
      const answer = await queries.run({
        text: asked.text,
        ...(asked.endpoint !== undefined && { endpointId: asked.endpoint }),
        ...(asked.format !== undefined && { format: asked.format }),
        ...(asked.timeoutMs !== undefined && { timeoutMs: asked.timeoutMs }),
        defaultGraphs: [],
        namedGraphs: [],
        strict: asked.strict,
        partial: asked.partial,
        signal,
      });
      return {
        body: answer.body,
        notes: answer.notes.map(({ message }) => message),
        finalStatus: async () => {
          const status = (await queries.runRecord(answer.runId))?.status;
          return status === "running" ? answer.status : (status ?? answer.status);
        },
      };
    },
    explain: async (asked) => {
      checkEndpoint(app, asked);
      const { text, endpoint, strict } = asked;
      const where = endpoint === undefined ? {} : { endpointId: endpoint };
      return queries.explain({ text, ...where, strict, defaultGraphs: [], namedGraphs: [] });
    },
    close: async () => app.close(),
  };
}
