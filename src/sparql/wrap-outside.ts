import { FedwayError } from "../errors/fedway-error.ts";
import { hasService, haveService, type AnalysedQuery } from "./analyse-query.ts";
import { editText, placeOf, replaceGroups, textOf } from "./edit-text.ts";
import type { Element, GraphElement, Group, SelectOutline, ServiceElement } from "./outline.ts";
import type { IsMember } from "./rewrite.ts";
import { elementsWithin, groupsOf, groupsOfSelect, hasScopedFilter, mentionedVariables, shareName } from "./scope.ts";

/** Text around a member clause. */
interface WrapOptions {
  readonly isMember: IsMember;
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
export function wrapOutside(query: AnalysedQuery, options: WrapOptions): string {
  const wrapper = new Wrapper(query, options, options.own);
  const groups = groupsOfSelect(query.parsed.outline);
  return editText(
    query.parsed,
    groups.map((group) => ({ range: group, replacement: wrapper.group(group) })),
  );
}

class Wrapper {
  private readonly query: AnalysedQuery;
  private readonly options: WrapOptions;
  private readonly own: string | undefined;

  constructor(query: AnalysedQuery, options: WrapOptions, own: string | undefined) {
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
    const text = textOf(this.query.parsed, element);
    // What stood between two triples blocks may be moved away, and then they need a dot.
    return element.kind === "triples" && !text.endsWith(".") ? `${text} .` : text;
  }

  private select(select: SelectOutline): string {
    const groups = groupsOfSelect(select);
    return replaceGroups(this.query.parsed, select, { groups, render: (group) => this.group(group) });
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
    return replaceGroups(this.query.parsed, element, {
      groups: groupsOf(element),
      render: (group) => this.group(group),
    });
  }

  private mixed(element: Element): string {
    if (element.kind === "service") return this.service(element);
    if (element.kind === "graph") return this.own === undefined ? this.inner(element) : this.graph(element, this.own);
    return this.inner(element);
  }

  private service(element: ServiceElement): string {
    if (!haveService([element.group], this.options.isMember)) return textOf(this.query.parsed, element);
    if (element.silent) {
      throw this.nested(
        element,
        "A SERVICE inside a SERVICE SILENT cannot be taken out: if only one of them fails, the answer differs.",
      );
    }
    const group = new Wrapper(this.query, this.options, this.options.urlOf(element)).group(element.group);
    return hasScopedFilter(this.query.parsed.tokens, element.group) ? `{ SELECT * ${group} }` : group;
  }

  /** `GRAPH g { P SERVICE <b> { Q } }`: the GRAPH holds for P only, because Q is answered elsewhere. */
  private graph(element: GraphElement, own: string): string {
    const { elements } = element.group;
    const name = mentionedVariables(this.query.parsed.tokens, { from: element.name, to: element.name + 1 });
    const rest: Element[] = [];
    const clauses: string[] = [];
    const filters: string[] = [];
    for (const inner of elements) {
      if (inner.kind === "filter" && inner.exists.length === 0) {
        const names = mentionedVariables(this.query.parsed.tokens, inner);
        if (shareName(names, name)) throw this.nested(inner, "A FILTER on the GRAPH variable stands in the way.");
        filters.push(this.text(inner));
      } else if (inner.kind === "service" && this.options.isMember(inner)) clauses.push(this.service(inner));
      else if (this.isJoined(inner) && !this.isMixed(inner)) rest.push(inner);
      else throw this.nested(inner, "A SERVICE inside GRAPH can be taken out only where it is simply joined.");
    }
    if (element.group.select) throw this.nested(element, "A SERVICE inside a subquery of GRAPH cannot be taken out.");
    const label = textOf(this.query.parsed, { from: element.name, to: element.name + 1 });
    const body = rest.map((inner) => this.text(inner)).join(" ");
    return `{ ${[`SERVICE <${own}> { GRAPH ${label} { ${body} } }`, ...clauses, ...filters].join(" ")} }`;
  }

  private nested(element: Element, message: string): FedwayError {
    return new FedwayError("SERVICE_NESTED", message, {
      where: placeOf(this.query.parsed, element),
      next: "Write the SERVICE clauses side by side.",
    });
  }
}

/** True when an element reads from a dataset: triples, GRAPH, or an extension of the endpoint's engine. */
const needsData = (element: Element): boolean =>
  readsData(element) || elementsWithin(groupsOf(element)).some(readsData);

const readsData = ({ kind }: Element): boolean => kind === "triples" || kind === "graph" || kind === "service";
