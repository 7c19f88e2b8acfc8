import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { describeCollections } from "./collection-contract.ts";
import { describeStore, type StoreHarness } from "./store-contract.ts";

const create = async (): Promise<StoreHarness> => {
  let nowMs = 1_000_000;
  const store = openSqliteStore({ path: ":memory:", clock: { now: () => nowMs } });
  return {
    store,
    advance: async (ms) => {
      nowMs += ms;
    },
    dispose: () => store.close(),
  };
};

describeStore("sqlite in memory", create);
describeCollections("sqlite in memory", create);
