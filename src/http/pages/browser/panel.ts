import type { Yasgui } from "@zazuko/yasgui";
import { html } from "../../../html.ts";
import { draw, part } from "./elements.ts";
import { type Answer, FollowedQuery, type Place } from "./followed-query.ts";
import { ownUrl } from "./own-url.ts";
import { routeOf, sendQuery, type Target } from "./requests.ts";

type Tab = NonNullable<ReturnType<Yasgui["getTab"]>>;
type Argument = { readonly name: string; readonly value: string };

const targetOf = (value: string): Target => {
  const [kind, id] = value.split(":", 2);
  return kind === "endpoint" || kind === "federation" ? { [kind]: id } : {};
};

/** Parts of a tab beside YASGUI's editor and result: whom it asks, and how its query runs and ends. */
export class Panel {
  readonly #tab: Tab;
  readonly #yasqe: NonNullable<ReturnType<Tab["getYasqe"]>>;
  readonly #root: HTMLElement;
  readonly #place: Place;
  readonly #target: HTMLSelectElement;
  readonly #partial: HTMLInputElement;
  #query: FollowedQuery | undefined;

  /** Adds `content` to a tab that is drawn. */
  constructor(tab: Tab, content: DocumentFragment) {
    const [yasqe, yasr, [ask, asked]] = [tab.getYasqe(), tab.getYasr(), content.children];
    const root = yasr?.rootEl.closest<HTMLElement>(".tabPanel");
    if (!yasqe || !yasr || !root || !ask || !asked) throw new Error("The tab has not been drawn.");
    root.prepend(ask);
    yasr.rootEl.before(asked);
    this.#tab = tab;
    this.#yasqe = yasqe;
    this.#root = root;
    this.#target = part(root, ".target", HTMLSelectElement);
    this.#partial = part(root, ".partial", HTMLInputElement);
    const named = (name: string): HTMLElement => part(root, `.${name}`, HTMLElement);
    const parts = {
      state: named("state"),
      elapsed: named("elapsed"),
      problem: named("problem"),
      plan: named("planned"),
    };
    this.#place = { root, ...parts, mark: (line) => yasqe.addLineClass(line - 1, "background", "faulty") };
    yasqe.getInputField().setAttribute("aria-label", "SPARQL query");
    this.#restore();
    this.#listen();
  }

  /** The plan's place; a result view shows it once there is an answer. */
  get plan(): HTMLElement {
    return this.#place.plan;
  }

  /** Session of the last query. */
  get session(): string | undefined {
    return this.#query?.session;
  }

  get target(): Target {
    return targetOf(this.#target.value);
  }

  /** Runs the query, unless it runs already. */
  run(): void {
    const isBlank = this.#tab.getQuery().trim() === "";
    if (isBlank) draw(this.#place.state, html`<span class="badge">not run</span> Write a query first.`);
    else if (!this.#root.classList.contains("running")) void sendQuery(this.#yasqe);
  }

  /** Takes over what the tab was left with; an endpoint that is gone, or of another host, is none. */
  #restore(): void {
    const isAsked = ({ value }: HTMLOptionElement): boolean => routeOf(targetOf(value)) === this.#tab.getEndpoint();
    this.#target.value = [...this.#target.options].find(isAsked)?.value ?? "";
    this.#partial.checked = this.#arguments.some(({ name }) => name === "partial");
    this.#choose();
  }

  get #arguments(): readonly Argument[] {
    const { args } = this.#tab.getRequestConfig();
    return Array.isArray(args) ? args : [];
  }

  #listen(): void {
    this.#yasqe.on("queryBefore", () => this.#begin());
    this.#yasqe.on("queryAbort", () => this.#query?.cancelled());
    this.#yasqe.on("queryResponse", (_, answer: Answer, tookMs) => void this.#query?.ended(answer, tookMs));
    // YASGUI keeps a draft when the editor loses the focus, which a reload does not wait for.
    this.#yasqe.on("changes", () => this.#keep());
    this.#target.addEventListener("change", () => this.#choose());
    this.#partial.addEventListener("change", () => this.#allow());
    this.#root.addEventListener("click", ({ target }) => {
      const button = target instanceof Element && target.closest("button");
      if (button) this.#follow(button);
    });
  }

  #begin(): void {
    this.#query?.leave();
    this.#yasqe.eachLine((line: unknown) => void this.#yasqe.removeLineClass(line, "background", "faulty"));
    part(this.#root, ".asked", HTMLElement).append(this.plan);
    const asked = { tab: this.#tab.getId(), query: this.#tab.getQuery(), target: this.target };
    this.#query = new FollowedQuery(this.#place, asked);
  }

  #keep(): void {
    const draft = this.#tab.getPersistedJson();
    draft.yasqe.value = this.#tab.getQuery();
    this.#tab.emit("change", this.#tab, draft);
    part(this.#root, ".copied", HTMLElement).textContent = "";
  }

  #choose(): void {
    const { endpoint, federation } = this.target;
    this.#tab.setEndpoint(routeOf(this.target));
    const kinds =
      federation === undefined ? [endpoint === undefined ? "none" : "endpoint"] : ["federation", federation];
    for (const item of this.#root.querySelectorAll<HTMLElement>("[data-for]"))
      item.hidden = !kinds.includes(item.dataset["for"] ?? "");
  }

  #allow(): void {
    const others = this.#arguments.filter(({ name }) => name !== "partial");
    const partial = this.#partial.checked ? [{ name: "partial", value: "true" }] : [];
    this.#tab.setRequestConfig({ args: [...others, ...partial] });
  }

  /** Does what a button says by its class or data. */
  #follow({ dataset, classList }: HTMLButtonElement): void {
    const { line, column, example, repair } = dataset;
    if (classList.contains("run")) this.run();
    if (classList.contains("cancel")) this.#yasqe.abortQuery();
    if (classList.contains("share")) void this.#share();
    if (line !== undefined) this.#yasqe.getDoc().setCursor({ line: Number(line) - 1, ch: Number(column) - 1 });
    if (example !== undefined) this.#tab.setQuery(example);
    if (line !== undefined || example !== undefined) this.#yasqe.focus();
    if (repair !== undefined) this.#repair(dataset);
  }

  /** Changes the query as a problem advises, and runs it. */
  #repair({ query, endpoint, partial }: DOMStringMap): void {
    if (query !== undefined) this.#tab.setQuery(query);
    if (endpoint !== undefined) this.#target.value = `endpoint:${endpoint}`;
    if (partial !== undefined) this.#partial.checked = true;
    this.#choose();
    this.#allow();
    this.run();
  }

  /** Copies the link to the query as it is now; all of it is in the fragment, which no server sees. */
  async #share(): Promise<void> {
    const link = ownUrl(`/query#${new URLSearchParams({ ...this.target, query: this.#tab.getQuery() }).toString()}`);
    // Browsers have a clipboard for pages with HTTPS only.
    const copying = navigator.clipboard?.writeText(link).then(() => html`Link copied.`);
    const byHand = html`Copy the address of <a href="${link}">this link</a>.`;
    draw(part(this.#root, ".copied", HTMLElement), (await copying?.catch(() => byHand)) ?? byHand);
  }
}
