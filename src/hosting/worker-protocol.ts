/** Where a hosted endpoint's data comes from; the worker can build it again by itself after every restart. */
export type HostedSource =
  | {
      readonly kind: "text";
      /** N-Triples or N-Quads. */
      readonly text: string;
    }
  | {
      readonly kind: "module";
      /** `file:` URL of a module; its default type of code (TypeScript or JavaScript) is that of the worker script. */
      readonly url: string;
      /** Exported function `(argument: string) => string` that gives N-Triples or N-Quads, always the same. */
      readonly name: string;
      readonly argument: string;
      /** About as many bytes of text come out; absent: few. */
      readonly bytes?: number;
    };

/** What a worker is started with. */
export interface WorkerBoot {
  readonly source: HostedSource;
  /** Cap of the store's memory, answers under construction included. */
  readonly memoryBytes: number;
  readonly maxAnswerBytes: number;
}

/** One query for the worker; it works on one at a time. */
export interface WorkerQuery {
  readonly id: number;
  readonly query: string;
  /** Media type to serialise the answer in. */
  readonly mediaType: string;
  /** The protocol's dataset; both empty means the stored one. */
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
}

/** What the worker says: `memoryBytes` is what its store holds. After `crashed` it is of no further use and ends itself. */
export type WorkerMessage =
  | { readonly kind: "ready"; readonly memoryBytes: number }
  | StoreReply
  | { readonly kind: "crashed"; readonly cause: "memory" | "trap"; readonly message: string };

/** A reply to a query that leaves the worker usable. */
export type StoreReply = { readonly id: number; readonly memoryBytes: number } & (
  | { readonly kind: "answer"; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "too-large"; readonly bytes: number }
);
