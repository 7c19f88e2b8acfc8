import { sparqlAsker } from "./sparql-asker.ts";
import type { Asker } from "../../src/outbound/whole-answer.ts";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import {
  createDescriber,
  type DescribeOptions,
  type DescribeTarget,
} from "../../src/registry/descriptions/compute/describer.ts";
import { createSparqlClient } from "../../src/outbound/client.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import { type DistinctFault, withDistinctFault } from "./distinct-faults.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

/** Describes endpoints of this machine, through the real transport. */
export interface EndpointDescriber {
  describe(url: string, options?: DescribeCall): Promise<VoidDescription>;
  /**
   * Goes on with unfinished descriptions, as the background job does, until nothing is left or a run adds nothing.
   * @param betweenRuns hears of each description that is not the last
   */
  describeToTheEnd(url: string, options?: DescribeCall & { readonly betweenRuns?: BetweenRuns }): Promise<ManyRuns>;
  close(): Promise<void>;
}

type BetweenRuns = (description: VoidDescription) => Promise<void> | void;

/** What came of one or more runs. */
interface ManyRuns {
  readonly description: VoidDescription;
  readonly runs: number;
}

interface DescribeCall extends Partial<DescribeOptions> {
  readonly target?: Partial<DescribeTarget>;
}

interface DescriberSettings {
  readonly transport?: Clock;
  readonly describer?: Clock;
  /** Data sets of at most so many bytes are read whole; default as in the product. */
  readonly readBytes?: number;
}

/**
 * @param settings time for the transport and for the describer, the system's unless told otherwise
 * @param fault what every endpoint makes of DISTINCT
 */
export function createEndpointDescriber(
  { transport = systemClock, describer: clock = systemClock, readBytes }: DescriberSettings = {},
  fault?: DistinctFault,
): EndpointDescriber {
  const client = createSparqlClient({
    version: "0.0.0-test",
    allowAddresses: ["127.0.0.0/8"],
    clock: transport,
    random: () => 0.5,
  });
  const asker = withFault(sparqlAsker({ client, clock: transport }), fault);
  const describer = createDescriber({ asker, clock, pauseMs: 0, readBytes });
  const describe: EndpointDescriber["describe"] = async (url, { target, ...options } = {}) => {
    const { signal } = new AbortController();
    return (await describer.describe({ ...target, endpoint: { url } }, { signal, ...options })).description;
  };

  async function describeToTheEnd(
    url: string,
    { betweenRuns, ...call }: DescribeCall & { readonly betweenRuns?: BetweenRuns } = {},
  ): Promise<ManyRuns> {
    let description = await describe(url, call);
    let runs = 1;
    while (description.unfinished && runs < mostRuns) {
      await betweenRuns?.(description);
      const size = knowledge(description);
      description = await describe(url, { ...call, known: description });
      runs++;
      if (knowledge(description) === size) break;
    }
    return { description, runs };
  }

  return { describe, describeToTheEnd, close: () => client.close() };
}

const withFault = (asker: Asker, fault: DistinctFault | undefined): Asker => ({
  fetchDocument: (fetching) => asker.fetchDocument(fetching),
  async ask(asking) {
    const query = withDistinctFault(asking.query, fault);
    if (query === undefined)
      throw new FedwayError("ENDPOINT_REJECTED_QUERY", "DISTINCT is refused.", { upstreamStatus: 400 });
    return asker.ask({ ...asking, query });
  },
});

const mostRuns = 50;

/** Length of everything that a description says or knows that it cannot find out. */
function knowledge({ classPartitions, propertyPartitions, unknown, languages, linksets }: VoidDescription): number {
  return JSON.stringify([classPartitions, propertyPartitions, unknown, languages, linksets]).length;
}
