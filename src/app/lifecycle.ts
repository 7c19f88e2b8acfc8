import { FedwayError } from "../errors/fedway-error.ts";

type Closing = () => void | Promise<void>;

/** The steps of a start, in their order. */
interface Beginning {
  /** Begins the work in the background. */
  readonly startWork: () => Promise<void>;
  /** Begins to answer; resolves to the URL. */
  readonly answer: () => Promise<string>;
  /** Announces the URL of the service to others. */
  readonly announce: (url: string) => Promise<void>;
}

/** A service begins once and ends once, and everything opened for it is closed in reverse order. */
export class Lifecycle {
  readonly #closings: Closing[] = [];
  #beginning: Promise<string> | undefined;
  #ending: Promise<void> | undefined;
  #answering = false;
  #closing = false;

  /** It answers, or did. */
  get answering(): boolean {
    return this.#answering;
  }

  /** Shutting down: not ready any more. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Adds what closes something that was opened. */
  add(closing: Closing): void {
    this.#closings.push(closing);
  }

  /**
   * Resolves to the URL. When that fails, or `close` comes before it is done, everything is closed.
   * @throws what kept it from beginning; FedwayError `CANCELLED` when it was closed meanwhile
   */
  async begin(steps: Beginning): Promise<string> {
    this.#beginning ??= this.#begin(steps);
    try {
      return await this.#beginning;
    } catch (error) {
      this.#closing = true;
      this.#ending ??= this.#closeAll();
      // What else fails now says nothing about why.
      await this.#ending.catch(() => {});
      throw error;
    }
  }

  /**
   * Ends it: not ready, drained when it answered, then everything is closed, also when something fails; the first failure
   * is thrown at the end. Whoever asks again waits for the same end.
   */
  close(drain: () => Promise<void> = async () => {}): Promise<void> {
    this.#closing = true;
    this.#ending ??= this.#end(drain);
    return this.#ending;
  }

  async #begin({ startWork, answer, announce }: Beginning): Promise<string> {
    this.#refuseClosing();
    await startWork();
    this.#refuseClosing();
    const url = await answer();
    this.#answering = true;
    await announce(url);
    this.#refuseClosing();
    return url;
  }

  #refuseClosing(): void {
    if (this.#closing) throw new FedwayError("CANCELLED", "The service is shutting down.");
  }

  async #end(drain: () => Promise<void>): Promise<void> {
    // What is half begun cannot be closed.
    await this.#beginning?.catch(() => {});
    if (this.#answering) await drain();
    await this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const closing of this.#closings.splice(0).toReversed()) {
      try {
        await closing();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
