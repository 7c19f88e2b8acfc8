import type { Parser, Yasr } from "@zazuko/yasr";

type Prefixes = Readonly<Record<string, string>>;

/** The table of YASR as far as it is changed here; the methods are private in its types. */
interface Table {
  persistentConfig: { compact?: boolean };
  yasr: Yasr;
  drawControls(): void;
  getUriLinkFromBinding(binding: Parser.BindingValue, prefixes?: Prefixes): string;
}

/** Has the table show plain values first; its switch shows datatypes, languages and full IRIs. */
export function usePlainTable(yasr: typeof Yasr): void {
  const plugins: object = yasr.plugins;
  const Original: new (yasr: Yasr) => Table = Reflect.get(plugins, "table");
  class PlainTable extends Original {
    override getUriLinkFromBinding(binding: Parser.BindingValue, prefixes?: Prefixes): string {
      return super.getUriLinkFromBinding(binding, this.persistentConfig.compact === true ? prefixes : undefined);
    }

    override drawControls(): void {
      super.drawControls();
      const [plain, ellipse] = this.yasr.pluginControls.querySelectorAll(".switch");
      plain?.querySelector(".label")?.replaceChildren("Plain values");
      ellipse?.parentElement?.remove();
      this.yasr.pluginControls.querySelector(".tableSizer")?.setAttribute("aria-label", "Rows on a page");
    }
  }
  Object.assign(yasr.plugins, { table: PlainTable });
  yasr.defaults.plugins["table"] = { enabled: true, dynamicConfig: { compact: true, isEllipsed: false } };
}

/** Adds a view of how an answer came about, behind the others. */
export function registerPlanView(yasr: typeof Yasr, planOf: (yasr: Yasr) => HTMLElement | undefined): void {
  class PlanView {
    readonly priority = 0;
    readonly label = "Plan and steps";
    readonly yasr: Yasr;

    constructor(of: Yasr) {
      this.yasr = of;
    }

    canHandleResults(): boolean {
      return this.yasr.results?.hasError() === false;
    }

    draw(): void {
      this.yasr.resultsEl.append(planOf(this.yasr) ?? "");
    }

    getIcon(): undefined {
      return undefined;
    }
  }
  Object.assign(yasr.plugins, { plan: PlanView });
  yasr.defaults.plugins["plan"] = { enabled: true };
  const { pluginOrder } = yasr.defaults;
  yasr.defaults.pluginOrder = [...pluginOrder.filter((name) => name !== "response"), "plan", "response"];
}
