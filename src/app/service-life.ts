import { FedwayError } from "../errors/fedway-error.ts";

/** What a service does in its life. */
export interface ServiceLifeOptions {
  /** Everything that was opened for it. */
  readonly opened: Pick<Opened, "close">;
  /** Begins the work in the background. */
  readonly startWork: () => Promise<void>;
  /** Begins to answer; resolves to the URL. */
  readonly answer: () => Promise<string>;
  /** Tells others where it answers. */
  readonly announce: (url: string) => Promise<void>;
  /** Sends clients elsewhere with their next request. */
  readonly drain: () => void;
  /** The time in which others notice that it is not ready any more. */
  readonly waitDrained: () => Promise<void>;
}

/** The life of a service: it begins once, and ends once. */
export interface ServiceLife {
  /** It was told to end, and is not ready any more. */
  readonly closing: boolean;
  /** It answers, or did. */
  readonly answering: boolean;
  /**
   * Begins it; resolves to the URL. When that fails, or `close` comes before it is done, everything is closed.
   * @throws what kept it from beginning; FedwayError `CANCELLED` when it was closed meanwhile
   */
  begin(): Promise<string>;
  /** Ends it: not ready, a while for others to notice, then everything is closed. Whoever asks again waits for the same end. */
  close(): Promise<void>;
}

/** A life that has not begun. */
export function createServiceLife(options: ServiceLifeOptions): ServiceLife {
  const { opened, startWork, answer, announce, drain, waitDrained } = options;
  const phase = { answering: false, closing: false };
  let beginning: Promise<string> | undefined;
  let ending: Promise<void> | undefined;

  const refuseClosing = (): void => {
    if (phase.closing) throw new FedwayError("CANCELLED", "The service is shutting down.");
  };
  const begin = async (): Promise<string> => {
    refuseClosing();
    await startWork();
    refuseClosing();
    const url = await answer();
    phase.answering = true;
    await announce(url);
    refuseClosing();
    return url;
  };
  const end = async (): Promise<void> => {
    // What is half begun cannot be closed.
    await beginning?.catch(() => {});
    if (phase.answering) {
      drain();
      await waitDrained();
    }
    await opened.close();
  };
  return {
    get closing() {
      return phase.closing;
    },
    get answering() {
      return phase.answering;
    },
    begin() {
      beginning ??= begin();
      return beginning.catch(async (error: unknown) => {
        phase.closing = true;
        ending ??= opened.close();
        // What else fails now says nothing about why.
        await ending.catch(() => {});
        throw error;
      });
    },
    close() {
      phase.closing = true;
      ending ??= end();
      return ending;
    },
  };
}

type Closing = () => void | Promise<void>;

/** What was opened, to be closed in reverse order. */
export interface Opened {
  add(closing: Closing): void;
  /**
   * Closes everything, also when something fails; the first failure is thrown at the end. What was closed once is not
   * closed again, and whoever asks meanwhile waits for the same end.
   */
  close(): Promise<void>;
}

/** Nothing yet. */
export function createOpened(): Opened {
  const closings: Closing[] = [];
  let last: Promise<void> = Promise.resolve();
  const closeAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let closing = closings.pop(); closing !== undefined; closing = closings.pop()) {
      try {
        await closing();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  return {
    add: (closing) => void closings.push(closing),
    close() {
      last = last.then(closeAll, closeAll);
      return last;
    },
  };
}
