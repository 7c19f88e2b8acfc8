import { answerTooLarge } from "./answer-monitor.ts";
import { CollectedBody } from "./collected-body.ts";
import { maxErrorBytes } from "./excerpt.ts";
import { Exchange } from "./exchange.ts";
import type { ResponseHeaders } from "./headers.ts";
import type { Stopwatch } from "./stopwatch.ts";
import type { Upstream } from "./upstream.ts";

/** One GET. */
export interface DownloadRequest {
  readonly upstream: Upstream;
  readonly url: URL;
  /** Names and values in turn. */
  readonly headers: string[];
  /** Bytes on the wire; those of an answer that is no 200 are cut at the size of an error text. */
  readonly maxBytes: number;
  readonly watch: Stopwatch;
  /** Is kept up to date, also when the download fails. */
  readonly account: DownloadAccount;
}

/** What has come of one GET. */
export interface DownloadAccount {
  /** Undefined while no response head has come. */
  status: number | undefined;
  /** Body bytes received, content-encoded. */
  wireBytes: number;
}

/** A response with its body as it came. */
export interface Download {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Content-encoded. */
  readonly body: Buffer;
}

/**
 * Sends one GET and collects its body.
 * @throws FedwayError `ENDPOINT_UNREACHABLE`, `ENDPOINT_BROKE_OFF`, `ENDPOINT_TIMEOUT`, `ADDRESS_REFUSED`,
 *   `ANSWER_TOO_LARGE`, and what the stopwatch stops with
 */
export function download({ upstream, url, headers, maxBytes, watch, account }: DownloadRequest): Promise<Download> {
  return watch.wait((resolve, reject) => {
    const exchange = new Exchange(upstream, {
      fault: reject,
      head(status, responseHeaders, self) {
        account.status = status;
        const limit = status === 200 ? maxBytes : maxErrorBytes;
        return new CollectedBody({
          exchange: self,
          maxBytes: limit,
          done(body, error) {
            account.wireBytes = self.wireBytes;
            if (error !== undefined) reject(error);
            else if (status === 200 && body.length > maxBytes) reject(answerTooLarge(maxBytes));
            else resolve({ status, headers: responseHeaders, body });
          },
        });
      },
    });
    const { origin, pathname, search } = url;
    exchange.send({ method: "GET", origin, path: pathname + search, body: undefined, contentType: undefined }, headers);
    return (error) => exchange.abort(error);
  });
}
