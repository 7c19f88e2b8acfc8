import type { FederationEngine } from "../executor.ts";
import { createAlgebraEngine, type EngineOptions } from "../evaluator/algebra-engine.ts";
import { createComunicaHost } from "./comunica-host.ts";

/** The evaluator with Comunica as its host, which parses queries and dispatches the operations of their algebra. */
export const createComunicaEngine = (options: EngineOptions): FederationEngine =>
  createAlgebraEngine(options, createComunicaHost());
