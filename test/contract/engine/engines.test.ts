import { engines } from "../../support/tested-engine.ts";
import { describeEngine } from "./engine-contract.ts";

for (const [name, create] of Object.entries(engines)) {
  describeEngine(name, (client) => create({ client, maxSolutions: 10_000, now: () => performance.now() }));
}
