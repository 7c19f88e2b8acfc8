import { Yasgui } from "@zazuko/yasgui";
import { wellKnownNamespaces } from "../../../rdf/well-known-prefixes.ts";
import { installCompletion } from "./completion.ts";
import { part } from "./elements.ts";
import { ownUrl } from "./own-url.ts";
import { Panel } from "./panel.ts";
import { routeOf, type Target } from "./requests.ts";
import { registerPlanView, usePlainTable } from "./result-views.ts";
import { registerViews } from "./views/index.ts";

const place = part(document, "#yasgui", HTMLElement);
const panels = new Map<string, Panel>();
const { Yasqe, Yasr } = Yasgui;

installCompletion(Yasqe, () => current()?.target ?? {});
usePlainTable(Yasr);
registerViews(Yasr);
registerPlanView(Yasr, ({ rootEl }) => panels.get(rootEl.closest(".tabPanel")?.id ?? "")?.plan);
const tenTriples = "SELECT * WHERE {\n  ?subject ?property ?value .\n}\nLIMIT 10";
const run = (): void => current()?.run();
// Tab leaves the editor: a keyboard is not caught in it.
const keys = { "Ctrl-Enter": run, "Cmd-Enter": run, "Ctrl-S": () => undefined, Tab: false, "Shift-Tab": false };
Object.assign(Yasqe.defaults, {
  value: tenTriples,
  extraKeys: { ...Yasqe.defaults.extraKeys, ...keys },
  showQueryButton: false,
  resizeable: false,
  editorHeight: "auto",
});

const yasgui = new Yasgui(place, {
  persistenceId: `fedway ${ownUrl("/query")}`,
  // A link runs nothing: `openLink` reads it.
  populateFromUrl: false,
  autoAddOnInit: false,
  autofocus: false,
  requestConfig: {
    endpoint: routeOf({}),
    method: "POST",
    acceptHeaderSelect: "application/sparql-results+json",
    acceptHeaderGraph: "text/turtle",
    headers: () => sessionHeader(current()?.session),
  },
  // Answers are not kept: after a reload they would look like those of now.
  yasr: { maxPersistentResponseSize: 0, prefixes: Object.fromEntries(wellKnownNamespaces) },
});

const sessionHeader = (session: string | undefined): Record<string, string> =>
  session === undefined ? {} : { "Fedway-Session": session };

function current(): Panel | undefined {
  return panels.get(yasgui.getTab()?.getId() ?? "");
}

/** Opens the query and target of the URL's fragment, in the tab that has them already or in a new one. */
function openLink(): void {
  const link = new URLSearchParams(location.hash.slice(1));
  const [endpoint, federation] = [link.get("endpoint"), link.get("federation")];
  const target: Target = { ...(endpoint !== null && { endpoint }), ...(federation !== null && { federation }) };
  const query = link.get("query") ?? ((endpoint ?? federation) ? tenTriples : undefined);
  if (query === undefined) return;
  history.replaceState(undefined, "", location.pathname);
  const tabs = Object.values(yasgui._tabs);
  const same = tabs.find(
    (tab) => tab.getPersistedJson().yasqe.value === query && tab.getEndpoint() === routeOf(target),
  );
  if (same === undefined) addTab(query, target);
  else yasgui.selectTabId(same.getId());
}

function addTab(value: string, target: Target = {}): void {
  const { requestConfig } = yasgui.config;
  yasgui.addTab(true, { yasqe: { value }, requestConfig: { ...requestConfig, endpoint: routeOf(target) } });
}

/** Adds its panel to the tab that is shown; there always is one. */
function complete(): void {
  const tab = yasgui.getTab();
  if (tab === undefined) return addTab(place.dataset["first"] ?? tenTriples);
  const content = document.importNode(part(document, "#panel", HTMLTemplateElement).content, true);
  if (!panels.has(tab.getId())) panels.set(tab.getId(), new Panel(tab, content));
}

/** Puts the button for new tabs beside the list of tabs, in which screen readers expect tabs only. */
function moveAddButton(): void {
  const { tabElements } = yasgui;
  const button = place.querySelector(".addTab")?.parentElement;
  if (button) place.querySelector(".tabsList")?.after(button);
  Reflect.set(tabElements, "addTabEl", undefined);
}

// YASGUI draws and selects a tab after its event.
const completeLater = (): void => queueMicrotask(complete);
yasgui.on("tabSelect", completeLater);
yasgui.on("tabAdd", completeLater);
yasgui.on("tabClose", (_, tab) => {
  panels.delete(tab.getId());
  completeLater();
});
moveAddButton();
openLink();
complete();
globalThis.addEventListener("hashchange", openLink);
part(document, "#forget", HTMLElement).addEventListener("click", () => {
  localStorage.removeItem(yasgui.getStorageId(yasgui.config.persistenceLabelConfig) ?? "");
  location.reload();
});
document.documentElement.dataset["console"] = "ready";
