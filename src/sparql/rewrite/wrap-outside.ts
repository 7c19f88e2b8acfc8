import { FedwayError } from "../../errors/fedway-error.ts";
import { hasService, haveService } from "../structure/analysis.ts";
import type { Query } from "../parse/query.ts";
import type { Element, GraphElement, Group, SelectOutline, ServiceElement, TokenRange } from "../parse/outline.ts";
import { elementsWithin } from "../structure/scope.ts";

/** Text around a member clause. */
interface WrapOptions {
  /** Clauses of the federation, as opposed to extensions of an endpoint's engine. */
  readonly isMember: (service: ServiceElement) => boolean;
  /** Absolute URL of the endpoint that a member clause names. */
  readonly urlOf: (service: ServiceElement) => string;
  /** Endpoint to which the patterns outside of every SERVICE belong; undefined: they stay as they are. */
  readonly own: string | undefined;
}

/**
 * Puts every pattern that belongs to an endpoint and stands beside a SERVICE for another one into a SERVICE of its
 * own. Patterns outside of every SERVICE belong to `own`; those in the body of a clause that has a clause nested in
 * it belong to that clause's endpoint, so that `SERVICE <a> { P SERVICE <b> { Q } }` becomes
 * `{ SERVICE <a> { P } SERVICE <b> { Q } }`. The braces, and FILTER, BIND, OPTIONAL, MINUS staying where they are,
 * keep the meaning; the elements before the first nested clause go out as one piece.
 * @throws FedwayError `SERVICE_NESTED` where no such form exists
 */
export function wrapOutside(query: Query, options: WrapOptions): string {
  const wrapper = new Wrapper(query, options, options.own);
  const groups = query.outline.groups;
  return query.cut(groups.map((group) => ({ range: group, replacement: wrapper.group(group) })));
}

class Wrapper {
  private readonly query: Query;
  private readonly options: WrapOptions;
  private readonly own: string | undefined;

  constructor(query: Query, options: WrapOptions, own: string | undefined) {
    this.query = query;
    this.options = options;
    this.own = own;
  }

  /** A group, braces included, in which every pattern has its endpoint. */
  group(group: Group): string {
    if (group.select) return `{ ${this.select(group.select)} }`;
    return `{ ${this.elements(group.elements)} }`;
  }

  private text(element: Element): string {
    const text = this.query.textOf(element);
    // What stood between two triples blocks may be moved away, and then they need a dot.
    return element.kind === "triples" && !text.endsWith(".") ? `${text} .` : text;
  }

  private select(select: SelectOutline): string {
    const groups = select.groups;
    return replaceGroups(this.query, select, { groups, render: (group) => this.group(group) });
  }

  private isMixed(element: Element): boolean {
    return hasService(element, this.options.isMember);
  }

  private elements(elements: readonly Element[]): string {
    const mixedAt = elements.findIndex((element) => element.kind !== "filter" && this.isMixed(element));
    const firstMixed = mixedAt < 0 ? elements.length : mixedAt;
    const out: string[] = [];
    const run: Element[] = [];
    const flush = (): void => {
      out.push(this.piece(run));
      run.length = 0;
    };
    for (const [at, element] of elements.entries()) {
      if (element.kind === "filter") continue;
      // Before the first mixed element everything is one operand; behind it only joined elements can be taken out.
      if (at < firstMixed || (this.isJoined(element) && !this.isMixed(element))) {
        run.push(element);
        continue;
      }
      flush();
      out.push(this.mixed(element));
    }
    flush();
    // FILTER holds for the whole group wherever it stands.
    for (const element of elements) if (element.kind === "filter") out.push(this.inner(element));
    return out.filter((part) => part !== "").join(" ");
  }

  private isJoined(element: Element): boolean {
    return ["triples", "graph", "union", "values", "service"].includes(element.kind);
  }

  /** Elements without a member clause: sent to their endpoint when they need data, else left where they are. */
  private piece(elements: readonly Element[]): string {
    const text = elements.map((element) => this.text(element)).join(" ");
    const data = elements.some((element) => needsData(element));
    return data && this.own !== undefined ? `SERVICE <${this.own}> { ${text} }` : text;
  }

  private inner(element: Element): string {
    return replaceGroups(this.query, element, {
      groups: element.groups,
      render: (group) => this.group(group),
    });
  }

  private mixed(element: Element): string {
    if (element.kind === "service") return this.service(element);
    if (element.kind === "graph") return this.own === undefined ? this.inner(element) : this.graph(element, this.own);
    return this.inner(element);
  }

  private service(element: ServiceElement): string {
    if (!haveService([element.group], this.options.isMember)) return this.query.textOf(element);
    if (element.silent) {
      throw this.nested(
        element,
        "A SERVICE inside a SERVICE SILENT cannot be taken out: if only one of them fails, the answer differs.",
      );
    }
    const group = new Wrapper(this.query, this.options, this.options.urlOf(element)).group(element.group);
    return this.query.hasScopedFilter(element.group) ? `{ SELECT * ${group} }` : group;
  }

  /** `GRAPH g { P SERVICE <b> { Q } }`: the GRAPH holds for P only, because Q is answered elsewhere. */
  private graph(element: GraphElement, own: string): string {
    const label = this.query.textOf({ from: element.name, to: element.name + 1 });
    const names = this.query.variablesIn({ from: element.name, to: element.name + 1 });
    const wrap = (text: string): string => `SERVICE <${own}> { GRAPH ${label} { ${text} } }`;
    return this.inGraph(element.group, { names, wrap });
  }

  /** Joined elements may change places; BIND and OPTIONAL end such a run. A group inside need not bind the name again. */
  private inGraph(group: Group, graph: GraphName, isInside = false): string {
    if (group.select) throw this.nested(group, "A SERVICE inside a subquery of GRAPH cannot be taken out.");
    const out: string[] = [];
    const filters: string[] = [];
    let run: string[] = [];
    let clauses: string[] = [];
    const flush = (): void => {
      // The first one binds the name, also where the graph is not asked for triples.
      if (run.length > 0 || (out.length === 0 && !isInside)) out.push(graph.wrap(run.join(" ")));
      out.push(...clauses);
      [run, clauses] = [[], []];
    };
    for (const inner of group.elements) {
      if (inner.kind === "service" && this.options.isMember(inner)) clauses.push(this.service(inner));
      else if (inner.kind === "filter") filters.push(this.expressionInGraph(inner, graph));
      else if (this.isJoined(inner) && !this.isMixed(inner)) run.push(this.text(inner));
      else {
        flush();
        out.push(this.barrierInGraph(inner, graph));
      }
    }
    flush();
    return `{ ${[...out, ...filters].join(" ")} }`;
  }

  private barrierInGraph(element: Element, graph: GraphName): string {
    if (element.kind === "bind") return this.expressionInGraph(element, graph);
    if (element.kind !== "optional" && element.kind !== "union") {
      throw this.nested(
        element,
        "A SERVICE inside GRAPH cannot be taken out beside MINUS or within another GRAPH or SERVICE.",
      );
    }
    const render = (group: Group): string => this.inGraph(group, graph, true);
    return replaceGroups(this.query, element, { groups: element.groups, render });
  }

  /** FILTER or BIND, which may stand outside of the GRAPH unless it looks into it. */
  private expressionInGraph(element: Element & { kind: "filter" | "bind" }, graph: GraphName): string {
    const names = this.query.variablesIn(element);
    if (element.groups.length > 0 || !names.isDisjointFrom(graph.names)) {
      throw this.nested(element, "EXISTS or the variable of the GRAPH in an expression stands in the way.");
    }
    return this.text(element);
  }

  private nested(element: Element | Group, message: string): FedwayError {
    return new FedwayError("SERVICE_NESTED", message, {
      where: this.query.whereIs(element),
      next: "Write the SERVICE clauses side by side.",
    });
  }
}

/** The GRAPH that elements stand in. */
interface GraphName {
  /** Its variable, if it is one. */
  readonly names: ReadonlySet<string>;
  /** The GRAPH with other elements, at its endpoint. */
  readonly wrap: (text: string) => string;
}

/** True when an element reads from a dataset: triples, GRAPH, or an extension of the endpoint's engine. */
const needsData = (element: Element): boolean => readsData(element) || elementsWithin(element.groups).some(readsData);

const readsData = ({ kind }: Element): boolean => kind === "triples" || kind === "graph" || kind === "service";

/** `range` with each of the groups in it replaced by what `render` makes of it. */
function replaceGroups(
  query: Query,
  range: TokenRange,
  replacing: { readonly groups: readonly Group[]; readonly render: (group: Group) => string },
): string {
  const edits = replacing.groups.map((group) => ({ range: group, replacement: replacing.render(group) }));
  return query.cutRange(range, edits);
}
