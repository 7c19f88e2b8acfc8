import type { Duplex } from "node:stream";
import type * as RDF from "@rdfjs/types";
import { asMalformed } from "./decoder.ts";

/** The part of the parsers' transform streams that is used; they come from another stream library than Node's. */
type ParserStream = Pick<Duplex, "write" | "end" | "destroy" | "on" | "once" | "off">;

/** Drives a parser that is a transform stream, one step at a time. */
export class QuadTransform {
  readonly #name: string;
  readonly #parser: ParserStream;
  #quads: RDF.Quad[] = [];
  #error: unknown;

  /** @param name of the format, for errors */
  constructor(name: string, parser: ParserStream) {
    this.#name = name;
    this.#parser = parser;
    parser.on("data", (quad: RDF.Quad) => this.#quads.push(quad));
    parser.on("error", (error: unknown) => {
      this.#error ??= error;
    });
  }

  /** What has come out with these bytes. @throws FedwayError `ENDPOINT_MALFORMED`, or what the parser was ended with */
  async write(bytes: Uint8Array): Promise<readonly RDF.Quad[]> {
    await this.#settled((done) => this.#parser.write(Buffer.from(bytes), () => done()));
    return this.#take();
  }

  async end(): Promise<readonly RDF.Quad[]> {
    await this.#settled((done) => {
      this.#parser.once("end", done);
      this.#parser.end();
    });
    return this.#take();
  }

  destroy(): void {
    this.#parser.destroy();
  }

  /** Waits for one step, but never longer than the parser lives. */
  #settled(step: (done: () => void) => void): Promise<void> {
    // After an error nothing is told any more.
    if (this.#error !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#parser.off("error", done);
        this.#parser.off("close", done);
        resolve();
      };
      this.#parser.once("error", done);
      this.#parser.once("close", done);
      step(done);
    });
  }

  #take(): readonly RDF.Quad[] {
    if (this.#error !== undefined) {
      this.#parser.destroy();
      throw asMalformed(this.#name, this.#error);
    }
    const quads = this.#quads;
    this.#quads = [];
    return quads;
  }
}
