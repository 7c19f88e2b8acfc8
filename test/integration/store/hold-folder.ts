import { writeSync } from "node:fs";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { holdDataFolder } from "../../../src/store/data-folder.ts";

// A process that holds the data folder named on its command line until it is killed.
const [path = "", url = ""] = process.argv.slice(2);
try {
  const folder = await holdDataFolder(path);
  if (url !== "") await folder.announce(url);
  writeSync(1, "held\n");
  setInterval(() => {}, 60_000);
} catch (error) {
  writeSync(1, error instanceof FedwayError ? `${error.code}\n` : "unexpected\n");
}
