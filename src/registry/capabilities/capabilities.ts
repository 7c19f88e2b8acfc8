/** Constructs whose right answer is probed; the names of the probes (registry method, section 7). */
export const probedConstructs = [
  "values",
  "aggregates",
  "aggregateTruth",
  "groupHaving",
  "minus",
  "subquery",
  "optional",
  "valuesUndef",
  "notExists",
  "zeroLengthPath",
  "blankNodes",
  "typedLiterals",
  "construct",
] as const;

export type ProbedConstruct = (typeof probedConstructs)[number];

/** What one probe found. */
export interface ProbeOutcome {
  /** "right": the known answer came; "wrong": another one; "refused": 4xx; "failed": anything else went wrong. */
  readonly verdict: "right" | "wrong" | "refused" | "failed";
  /** What came instead, or the error's message; one line. */
  readonly detail?: string;
  readonly durationMs: number;
}

/** What an endpoint can do, by probes that touch no data. JSON-serialisable; what was not probed is absent. */
export interface Capabilities {
  readonly endpoint: string;
  /** ISO 8601. */
  readonly probedAt: string;
  /** The canary gave its three rows. */
  readonly reachable: boolean;
  readonly constructs: Readonly<Partial<Record<ProbedConstruct, ProbeOutcome>>>;
  /** Request forms that gave the canary's answer, in order of preference. */
  readonly methods: readonly ("post-form" | "post-direct" | "get")[];
  /** Media types that came when asked for, and parsed to the right answer. */
  readonly formats: readonly string[];
  /** Rows after which answers are cut; absent when 20,000 rows came whole, or unknown (`wholeRows` tells). */
  readonly rowCap?: number;
  /** Nothing in an answer cut at `rowCap` says so. */
  readonly rowCapSilent?: boolean;
  /** 20,000 rows came whole; absent when there is a cap, or it is not known. */
  readonly wholeRows?: number;
  /** Largest number of VALUES rows that worked of 10, 100, 1,000, 10,000. */
  readonly maxValuesRows?: number;
  /** Largest URL in bytes that worked by GET of 2 and 8 KiB; longer ones are never sent. */
  readonly maxUrlBytes?: number;
  /** SERVICE to itself worked; only probed with the operator's consent. */
  readonly service?: boolean;
  /** The probing ended early, because the endpoint stopped answering or the budget was spent. */
  readonly unfinished?: boolean;
}

/** What planning and sending need to know of an endpoint. What is absent is not known, and forbids nothing. */
export interface EndpointView {
  /** The first request form that worked. */
  readonly method?: "post-form" | "post-direct" | "get";
  /** Largest URL in bytes that worked by GET. */
  readonly maxUrlBytes?: number;
  /** Largest number of join keys in one VALUES that worked. */
  readonly maxValuesRows?: number;
  /** Rows after which answers are cut. */
  readonly rowCap?: number;
  /** The same number, when a cut answer looks like a whole one. */
  readonly silentRowCap?: number;
  /** Media types that came right when asked for; empty when none was found. */
  readonly formats: readonly string[];
  /** Constructs that the endpoint refuses or answers wrongly; a probe that merely failed forbids nothing. */
  readonly lacks: ReadonlySet<ProbedConstruct>;
}

/** Everything that can be relied on; undefined when the endpoint did not answer at all. */
export function endpointView(capabilities: Capabilities): EndpointView | undefined {
  if (!capabilities.reachable) return undefined;
  const { constructs, methods, formats, maxUrlBytes, maxValuesRows, rowCap, rowCapSilent } = capabilities;
  const [method] = methods;
  const lacks = new Set<ProbedConstruct>();
  for (const name of probedConstructs) {
    const verdict = constructs[name]?.verdict;
    if (verdict === "wrong" || verdict === "refused") lacks.add(name);
  }
  return {
    ...(method !== undefined && { method }),
    ...(maxUrlBytes !== undefined && { maxUrlBytes }),
    ...(maxValuesRows !== undefined && { maxValuesRows }),
    ...(rowCap !== undefined && { rowCap }),
    ...(rowCap !== undefined && rowCapSilent === true && { silentRowCap: rowCap }),
    formats,
    lacks,
  };
}
