import { Type } from "typebox";
import { FedwayError } from "../../errors/fedway-error.ts";
import { html } from "../../html.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { openToAll } from "../write-access.ts";
import { page } from "./layout.ts";
import { sendPrivatePage } from "./page-reply.ts";
import { documented } from "../schemas.ts";

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const Link = Type.Object({ receiver: text(64), endpoint: text(300), signature: text(100) });

const unknownLink = (): FedwayError =>
  new FedwayError("NOT_FOUND", "This link to unsubscribe is not one of this service.", {
    next: "Use the link of the latest message, or ask the operator.",
  });

/**
 * Stops the messages about one endpoint to one receiver. Reading the page changes nothing, as programs that look for harmful
 * links open every one; its button, or a POST to the same address (RFC 8058), does it.
 */
export function addUnsubscribe(app: TypedApp, { webhooks, catalog }: HttpShell): void {
  const titleOf = (id: string): string => catalog.byId(id)?.title ?? id.replace(/^_host\./u, "the host ");
  app.get("/unsubscribe", {
    ...openToAll,
    schema: { tags: ["Pages"], summary: "Asks whether messages about an endpoint are to stop", querystring: Link },
    handler: async (request, reply) => {
      const { receiver, endpoint, signature } = request.query;
      if (!webhooks.mutes.isSigned(request.query)) throw unknownLink();
      const parameters = new URLSearchParams({ receiver, endpoint, signature });
      const main = html`<h1>Stop messages</h1>
<form class="card" method="post" action="/unsubscribe?${parameters.toString()}"><p>Messages about <strong>${titleOf(endpoint)}</strong> will no longer be sent to this receiver.</p><div class="act"><button>Stop them</button></div></form>`;
      return sendPrivatePage(reply, page({ title: "Stop messages", main }));
    },
  });
  app.post("/unsubscribe", {
    ...openToAll,
    schema: {
      ...documented("Pages")("unsubscribe", "Stops messages about an endpoint to a receiver"),
      querystring: Link,
    },
    handler: async (request, reply) => {
      if (!(await webhooks.mutes.mute(request.query))) throw unknownLink();
      const main = html`<h1>Stopped</h1>
<p>Messages about <strong>${titleOf(request.query.endpoint)}</strong> are no longer sent to this receiver. An operator can undo it.</p>`;
      return sendPrivatePage(reply, page({ title: "Stopped", main }));
    },
  });
}
