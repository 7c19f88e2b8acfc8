/** The engine compiled by `deploy/build-engine.mjs`. */
declare module "#comunica-engine" {
  export default function createEngine(): { readonly name: string };
}
