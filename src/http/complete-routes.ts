import { createCompletion } from "../completion/complete.ts";
import { Completion, CompletionRequest } from "../completion/completion.ts";
import { sendNow } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { documented, NoParameters } from "./schemas.ts";

/** `POST /api/complete`: what fits at a cursor. */
export function addCompleteRoute(app: TypedApp, shell: HttpShell): void {
  const complete = createCompletion(shell);
  app.post("/api/complete", {
    config: { role: "read" },
    schema: {
      ...documented("Queries")(
        "complete",
        "What fits at a cursor, by what is known of the endpoints that are asked there: names, classes, properties, values",
        Completion,
      ),
      querystring: NoParameters,
      body: CompletionRequest,
    },
    handler: async ({ body }, reply) => sendNow(reply, await complete(body)),
  });
}
