/** The engine compiled by `deploy/build-engine.mjs` from `deploy/comunica/engine.json`. */
declare module "#comunica-engine" {
  import type { ActorQueryProcessSequential } from "@comunica/actor-query-process-sequential";

  /** @param variables values of the configuration's variables, by their IRI */
  export default function createEngine(variables: Readonly<Record<string, unknown>>): ActorQueryProcessSequential;
}
