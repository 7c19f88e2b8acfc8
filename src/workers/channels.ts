import type { ChildProcess } from "node:child_process";
import type { Channel, Message } from "./peer.ts";

/** The channel to a child process. What is sent after its end is dropped: whoever waits for an answer hears of the end. */
export function channelTo(child: ChildProcess): Channel {
  return {
    send(message) {
      if (child.connected) child.send(message, () => {});
    },
    onMessage: (listener) => listen(child, listener),
  };
}

/** The channel of a child process to its parent. */
export function channelToParent(): Channel {
  return {
    send(message) {
      if (process.connected) process.send?.(message, undefined, undefined, () => {});
    },
    onMessage: (listener) => listen(process, listener),
  };
}

function listen(emitter: NodeJS.EventEmitter, listener: (message: Message) => void): void {
  emitter.on("message", listener);
}
