import { Agent, install, setGlobalDispatcher } from "undici";

/** Lets `fetch` wait as long as the service does; Node's own gives up after five minutes. */
export function waitPatiently(): void {
  setGlobalDispatcher(new Agent({ headersTimeout: 0, bodyTimeout: 0 }));
  install();
}
