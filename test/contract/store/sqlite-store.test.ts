import { join } from "node:path";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { describeCollections } from "./collection-contract.ts";
import { describeStore, type StoreHarness } from "./store-contract.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const create = async (): Promise<StoreHarness> => {
  let nowMs = 1_000_000;
  const folder = newFolder();
  const store = openSqliteStore({ path: join(folder, "store.db"), clock: { now: () => nowMs } });
  return {
    store,
    advance: async (ms) => {
      nowMs += ms;
    },
    dispose: async () => {
      await store.close();
    },
  };
};

describeStore("sqlite", create);
describeCollections("sqlite", create);
