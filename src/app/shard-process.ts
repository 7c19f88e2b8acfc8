/** The script of a process that does one piece of work on shards. */
import { serveShardTask } from "../shards/service/run-task.ts";
import { storeOpener } from "../hosting/file-store.ts";

serveShardTask(storeOpener);
