import { createMemoryStore } from "../../support/memory-store.ts";
import { describeCollections } from "./collection-contract.ts";
import { describeStore, type StoreHarness } from "./store-contract.ts";

const create = async (): Promise<StoreHarness> => {
  let nowMs = 1_000_000;
  const store = createMemoryStore({ clock: { now: () => nowMs } });
  return {
    store,
    advance: async (ms) => {
      nowMs += ms;
    },
    dispose: () => store.close(),
  };
};

describeStore("memory", create);
describeCollections("memory", create);
