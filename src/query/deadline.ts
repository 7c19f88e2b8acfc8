import { FedwayError } from "../errors/fedway-error.ts";

/** One signal for everything that a query starts: aborted, with a `FedwayError`, by the client's leaving or the deadline. */
export function startDeadline(client: AbortSignal, timeoutMs: number): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const leave = () => controller.abort(new FedwayError("CANCELLED", "The client closed the request."));
  const timer = setTimeout(() => {
    controller.abort(
      new FedwayError("DEADLINE_EXCEEDED", `The query did not finish within ${timeoutMs} ms.`, {
        fault: "timeout",
        next: "Narrow the query, raise the timeout (up to the service's limit), or ask with partial=true.",
      }),
    );
  }, timeoutMs);
  if (client.aborted) leave();
  else client.addEventListener("abort", leave, { once: true });
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      client.removeEventListener("abort", leave);
    },
  };
}
