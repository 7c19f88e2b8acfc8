import { type Capabilities, type ProbedConstruct, probedConstructs } from "./capabilities.ts";

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
