import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Evaluators and build processes start from TypeScript again and again: half of their start is compiling.
enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/fedway-tests", import.meta.url)));
