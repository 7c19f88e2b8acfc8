/** The script of a process that does one piece of work on shards. */
import { serveShardTask } from "./service/run-task.ts";
import { storeOpener } from "../../src/hosting/file-store.ts";

serveShardTask(storeOpener);
