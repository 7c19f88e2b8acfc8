import { Agent, type Dispatcher } from "undici";
import { createConnector, type ConnectorOptions } from "./connector.ts";

/** A dispatch handler that can also be told how to end its connection attempt. */
export interface UpstreamHandler extends Dispatcher.DispatchHandler {
  dialling(abort: (reason: Error) => void): void;
}

/** Bounds of the connection pools. */
export interface UpstreamOptions extends Omit<ConnectorOptions, "onDial" | "onSocketError"> {
  /** Connections per origin. */
  readonly connections: number;
  /** Longest wait for the response head, and between two pieces of the body. */
  readonly headersMs: number;
  readonly idleMs: number;
}

/** The HTTP connections: one keep-alive pool per origin. */
export interface Upstream {
  dispatch(request: Dispatcher.DispatchOptions, handler: UpstreamHandler): void;
  /** True while a socket error is being delivered: a response that "ends" now was cut off. */
  readonly failing: boolean;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Bytes of one response head. */
const maxHeaderBytes = 16_384;
const keepAliveMs = 10_000;

export function createUpstream(options: UpstreamOptions): Upstream {
  let dispatching: UpstreamHandler | undefined;
  let failing = false;
  const settle = (): void => {
    failing = false;
  };
  const agent = new Agent({
    connections: options.connections,
    allowH2: false,
    pipelining: 1,
    headersTimeout: options.headersMs,
    bodyTimeout: options.idleMs,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keepAliveMs,
    connect: createConnector({
      ...options,
      // A dispatch that needs a new connection starts it before it returns, so this is its own attempt.
      onDial: (abort) => dispatching?.dialling(abort),
      // The parser takes a body without a length for complete when the peer resets; the error event runs first.
      onSocketError: () => {
        failing = true;
        queueMicrotask(settle);
      },
    }),
  });
  return {
    get failing() {
      return failing;
    },
    dispatch(request, handler) {
      dispatching = handler;
      try {
        agent.dispatch(request, handler);
      } finally {
        dispatching = undefined;
      }
    },
    close: () => agent.destroy(),
  };
}
