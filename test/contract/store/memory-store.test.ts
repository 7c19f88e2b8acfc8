import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { describeStore } from "./store-contract.ts";

describeStore("memory", async () => {
  let nowMs = 1_000_000;
  const store = createMemoryStore({ clock: { now: () => nowMs } });
  return {
    store,
    advance: async (ms) => {
      nowMs += ms;
    },
    dispose: () => store.close(),
  };
});
