/** Names of a kind of thing in the API (`/api/jobs`, `listJobs`) and on the command line (`fedway jobs list`). */
interface ResourceNames {
  /** One of them and several, in operation ids. */
  readonly one: string;
  readonly many?: string;
  /** Field of the list, where it is not the path. */
  readonly field?: string;
  /** They answer under the service's own host names only. */
  readonly isPrivate?: true;
  /** The command line lists them only, or has no command for them. */
  readonly command?: "list" | "none";
  /** Of those whose commands are alike: columns of the list, and one of them for the examples. */
  readonly noun?: { readonly about: string; readonly columns: readonly string[]; readonly example: string };
}

const noun = (about: string, example: string, columns: readonly string[]) => ({ about, example, columns });

/** By their path below `/api/`. */
const table = {
  endpoints: { one: "Endpoint", noun: noun("endpoints of the catalogue", "people", ["id", "status", "title", "url"]) },
  federations: {
    one: "Federation",
    noun: noun("federations of the catalogue", "catalog", ["id", "endpointsTotal", "title"]),
  },
  jobs: {
    one: "Job",
    isPrivate: true,
    noun: noun("work in the background", "describe.people", ["id", "kind", "state", "createdAt"]),
  },
  incidents: {
    one: "Incident",
    noun: noun("times in which endpoints were down", "1f-...", [
      "id",
      "endpoint",
      "state",
      "opened",
      "closed",
      "summary",
    ]),
  },
  shards: {
    one: "Shards",
    many: "Shards",
    noun: noun("hosted shards", "harbour", ["dataset", "shards", "triples", "title"]),
  },
  keys: { one: "Client", field: "clients", isPrivate: true, command: "list" },
  maintenance: { one: "Maintenance", many: "Maintenance", command: "list" },
  runs: { one: "Run", isPrivate: true },
  sessions: { one: "Session", isPrivate: true, command: "none" },
  watches: { one: "Watch", many: "Watches", isPrivate: true },
} as const satisfies Readonly<Record<string, ResourceNames>>;

/** The kinds of things that this service has. */
export const resources: Readonly<Record<keyof typeof table, ResourceNames>> = table;
