import type { FederationEngine } from "./federation-engine.ts";

/** How a deferred engine comes into being. */
export interface DeferredEngineOptions {
  readonly name: string;
  /** Makes the engine; called at most once at a time, and again when it has failed. */
  readonly load: () => Promise<FederationEngine>;
}

/**
 * An engine that is loaded with its first plan: a service that only passes queries on starts sooner, and its garbage
 * collector never walks through an engine that nobody uses.
 */
export function createDeferredEngine({ name, load }: DeferredEngineOptions): FederationEngine {
  let loading: Promise<FederationEngine> | undefined;

  const loaded = (): Promise<FederationEngine> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  return {
    name,
    execute: async (plan, bounds) => (await loaded()).execute(plan, bounds),
    async close() {
      const engine = await loading?.catch(() => undefined);
      await engine?.close();
    },
  };
}
