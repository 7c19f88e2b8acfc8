import { join } from "node:path";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { describeClients } from "./clients-contract.ts";

describeClients("sqlite", async () => {
  const store = openSqliteStore({ path: join(newFolder(), "store.db") });
  return { stores: [store, store], dispose: () => store.close() };
});
