import type { Plugin, Yasr } from "@zazuko/yasr";
import { cells, type Cells } from "./cells.ts";

/** A way to show an answer, with a library that loads when the view is first opened. */
interface LazyView {
  readonly label: string;
  /** Path data of its icon, in a box of 24 by 24. */
  readonly icon: string;
  fits(cells: Cells): boolean;
  /** Returns a function that ends the drawing. */
  draw(place: HTMLElement, cells: Cells): Promise<() => void>;
}

const views: Readonly<Record<string, LazyView>> = {
  chart: {
    label: "Chart",
    icon: "M4 20V10h4v10zM10 20V4h4v16zM16 20v-7h4v7z",
    fits: ({ rows, numbers }) => rows.length > 0 && numbers.length > 0,
    draw: async (place, given) => (await import("./chart.ts")).drawChart(place, given),
  },
  map: {
    label: "Map",
    icon: "M12 2a7 7 0 0 0-7 7c0 5 7 13 7 13s7-8 7-13a7 7 0 0 0-7-7zm0 9.5a2.5 2.5 0 1 1 0-5 2.5 2.5 0 0 1 0 5z",
    fits: ({ rows, places }) => rows.length > 0 && places !== undefined,
    draw: async (place, given) => (await import("./map.ts")).drawMap(place, given),
  },
  graph: {
    label: "Graph",
    icon: "M6 3a3 3 0 0 1 2.8 4L14 12.2a3 3 0 1 1-1.4 1.4L7.4 8.7A3 3 0 1 1 6 3zM18 3a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
    fits: ({ triples }) => triples.length > 0,
    draw: async (place, given) => (await import("./graph.ts")).drawGraph(place, given),
  },
};

/** Adds the views chart, map and graph to the result views of YASGUI. */
export function registerViews(target: typeof Yasr): void {
  for (const [name, view] of Object.entries(views)) {
    // Its method `registerPlugin` does the same, but by its type it takes the browser's own `Plugin`.
    Object.assign(target.plugins, { [name]: pluginOf(view) });
    target.defaults.plugins[name] = { enabled: true };
    target.defaults.pluginOrder = [...new Set([...target.defaults.pluginOrder, name])];
  }
}

const pluginOf = (view: LazyView) =>
  class implements Plugin<object> {
    readonly priority = 1;
    readonly label = view.label;
    readonly #yasr: Yasr;
    #end: (() => void) | undefined;

    constructor(yasr: Yasr) {
      this.#yasr = yasr;
    }

    canHandleResults(): boolean {
      const { results } = this.#yasr;
      return results !== undefined && !results.hasError() && view.fits(cells(results));
    }

    async draw(): Promise<void> {
      this.destroy();
      const { results, resultsEl } = this.#yasr;
      if (results === undefined) return;
      const place = document.createElement("section");
      place.className = `view-${view.label.toLowerCase()}`;
      place.setAttribute("aria-label", view.label);
      resultsEl.replaceChildren(place);
      this.#end = await view.draw(place, cells(results));
    }

    destroy(): void {
      this.#end?.();
      this.#end = undefined;
    }

    getIcon(): Element {
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      svg.setAttribute("viewBox", "0 0 24 24");
      svg.setAttribute("aria-hidden", "true");
      path.setAttribute("d", view.icon);
      svg.append(path);
      return svg;
    }
  };
