import { type CoverInstance, coverersOf } from "./cover-instance.ts";
import type { QuadraticMinorant } from "./quadratic-bound.ts";

/** How long to branch, and who hears of it. */
export interface BranchEffort {
  /** Size of a known cover: nothing is left to prove when the bound reaches it. */
  readonly target: number;
  /** Nodes that are bounded. */
  readonly nodes: number;
  readonly better: (lowerBound: number) => void;
}

/** A part of the search space: rules that are in or out. */
interface Node {
  readonly decided: readonly (readonly [rule: number, value: 0 | 1])[];
  readonly bound: number;
  /** What to branch on next. */
  readonly next: number;
}

/** More than what rounding can add up to. */
const safety = 1e-5;
const sweeps = 60;

/**
 * Raises the lower bound by best-first branching: each node is bounded by the minimum of the quadratic minorant over the
 * box that its decisions leave. The least bound of the open nodes holds for all covers.
 */
export function branchCover(instance: CoverInstance, minorant: QuadraticMinorant, effort: BranchEffort): number {
  const box = createBox(instance, minorant);
  const open = createQueue();
  open.push(box.evaluate([]) ?? { decided: [], bound: effort.target, next: -1 });
  let best = 0;
  for (let bounded = 1; bounded < effort.nodes; bounded += 2) {
    const node = open.pop();
    const proven = node === undefined ? effort.target : Math.min(effort.target, Math.ceil(node.bound - safety));
    if (proven > best) {
      best = proven;
      effort.better(best);
    }
    if (node === undefined || best >= effort.target || node.next < 0) break;
    for (const value of [0, 1] as const) {
      const child = box.evaluate([...node.decided, [node.next, value]]);
      // A part of a node is bounded by what bounds the whole.
      if (child !== undefined) open.push(child.bound < node.bound ? { ...child, bound: node.bound } : child);
    }
  }
  return best;
}

/** Bounds nodes; the arrays are used again for each. */
function createBox(instance: CoverInstance, minorant: QuadraticMinorant) {
  const coverers = coverersOf(instance);
  const n = instance.rules.length;
  const x = new Float64Array(n);
  const fixed = new Int8Array(n);

  /** False when a query cannot be covered any more. */
  const decide = (decided: Node["decided"]): boolean => {
    fixed.fill(-1);
    const pending = [...decided];
    for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
      const [rule, value] = entry;
      if (fixed[rule] === value) continue;
      if (fixed[rule] !== -1) return false;
      fixed[rule] = value;
      if (value === 1) continue;
      for (const query of instance.rules[rule] ?? []) {
        const left = (coverers[query] ?? []).filter((other) => fixed[other] !== 0);
        const [last] = left;
        if (last === undefined) return false;
        if (left.length === 1) pending.push([last, 1]);
      }
    }
    return true;
  };
  const evaluate = (decided: Node["decided"]): Node | undefined => {
    if (!decide(decided)) return undefined;
    for (let rule = 0; rule < n; rule += 1) {
      x[rule] = fixed[rule] === -1 ? clamp(minorant.minimiser[rule] ?? 0) : (fixed[rule] ?? 0);
    }
    descend(minorant, x, fixed);
    const next = branchingRule(minorant, x, fixed);
    // Where all is decided, the size itself is the bound.
    const bound = next < 0 ? fixed.filter((value) => value === 1).length : boundAt(minorant, x, fixed);
    return { decided, bound, next };
  };
  return { evaluate };
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** Half of the slope of x' Q x along one coordinate, without the coordinate's own part. */
function pull({ neighbours, coefficients }: QuadraticMinorant, x: Float64Array, rule: number): number {
  const columns = neighbours[rule] ?? new Int32Array();
  const values = coefficients[rule] ?? new Float64Array();
  let total = 0;
  for (let at = 0; at < columns.length; at += 1) total += (values[at] ?? 0) * (x[columns[at] ?? 0] ?? 0);
  return total;
}

/** Coordinate descent over the free rules. */
function descend(minorant: QuadraticMinorant, x: Float64Array, fixed: Int8Array): void {
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    let moved = 0;
    for (let rule = 0; rule < x.length; rule += 1) {
      if (fixed[rule] !== -1) continue;
      const slope = (minorant.linear[rule] ?? 0) + 2 * pull(minorant, x, rule);
      const to = clamp(-slope / (2 * (minorant.diagonal[rule] ?? 1)));
      moved = Math.max(moved, Math.abs(to - (x[rule] ?? 0)));
      x[rule] = to;
    }
    if (moved < 1e-4) return;
  }
}

/**
 * A convex function lies above its tangents: the least value of the tangent at x over the box bounds it from below,
 * whether or not x is the minimum.
 */
function boundAt(minorant: QuadraticMinorant, x: Float64Array, fixed: Int8Array): number {
  let bound = minorant.constant;
  for (let rule = 0; rule < x.length; rule += 1) {
    const value = x[rule] ?? 0;
    const half = pull(minorant, x, rule) + (minorant.diagonal[rule] ?? 0) * value;
    const linear = minorant.linear[rule] ?? 0;
    bound += value * (linear + half);
    if (fixed[rule] !== -1) continue;
    const slope = linear + 2 * half;
    bound += slope > 0 ? -slope * value : slope * (1 - value);
  }
  return bound;
}

/** The rule for which both branches are expected to raise the bound most; -1 when all are decided. */
function branchingRule({ stiffness }: QuadraticMinorant, x: Float64Array, fixed: Int8Array): number {
  let found = -1;
  let best = -1;
  for (let rule = 0; rule < x.length; rule += 1) {
    if (fixed[rule] !== -1) continue;
    const value = x[rule] ?? 0;
    const score = Math.min(value, 1 - value) ** 2 / (stiffness[rule] ?? 1);
    if (score <= best) continue;
    best = score;
    found = rule;
  }
  return found;
}

/** Nodes by their bound, the lowest first (binary heap). */
function createQueue(): { push(node: Node): void; pop(): Node | undefined } {
  const heap: Node[] = [];
  const boundOf = (at: number): number => heap[at]?.bound ?? Number.POSITIVE_INFINITY;
  const swap = (left: number, right: number): void => {
    const [a, b] = [heap[left], heap[right]];
    if (a === undefined || b === undefined) return;
    heap[left] = b;
    heap[right] = a;
  };
  return {
    push(node) {
      heap.push(node);
      for (let at = heap.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (boundOf(parent) <= boundOf(at)) return;
        swap(parent, at);
        at = parent;
      }
    },
    pop() {
      swap(0, heap.length - 1);
      const top = heap.pop();
      for (let at = 0; ; ) {
        const child = boundOf(2 * at + 1) <= boundOf(2 * at + 2) ? 2 * at + 1 : 2 * at + 2;
        if (boundOf(child) >= boundOf(at)) return top;
        swap(at, child);
        at = child;
      }
    },
  };
}
