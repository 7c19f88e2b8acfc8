import type { FedwayError } from "../errors/fedway-error.ts";
import type { DownloadAccount } from "./download.ts";
import { outcomeName } from "./health.ts";
import type { TransportObserver } from "./options.ts";
import { outcomeOfReply, type RequestEnd, type RequestOutcome } from "./request-watch.ts";

/** Tells an observer of the HTTP requests that one document takes, one after the other. */
export interface DocumentWatch {
  /** A request is sent now; its account is to be filled. */
  sent(): DownloadAccount;
  /** It brought the document, whole and parsed. */
  done(): void;
  /** Its response is no document. */
  answered(status: number): void;
  /** It, or what was made of its response, failed. */
  failed(error: FedwayError): void;
}

/** For whom a document is fetched. */
interface DocumentOwner {
  readonly endpoint?: string | undefined;
  readonly trace?: unknown;
}

/** A watch over one document; nothing happens when nobody listens, and each request ends once. */
export function watchDocument(
  observer: Pick<TransportObserver, "onRequest"> | undefined,
  { endpoint = "unlisted", trace }: DocumentOwner,
): DocumentWatch {
  let attempt = 0;
  let account: DownloadAccount = { status: undefined, wireBytes: 0 };
  let tell: ((end: RequestEnd) => void) | undefined;
  const over = (outcome: RequestOutcome): void => {
    const ended = tell;
    tell = undefined;
    ended?.({ ...account, outcome });
  };
  return {
    sent() {
      attempt += 1;
      account = { status: undefined, wireBytes: 0 };
      tell = observer?.onRequest?.({ endpoint, attempt, trace });
      return account;
    },
    done: () => over("ok"),
    answered: (status) => over(outcomeOfReply({ kind: "refusal", refusal: { status } }, false)),
    failed: (error) => over(outcomeName(error, false)),
  };
}
