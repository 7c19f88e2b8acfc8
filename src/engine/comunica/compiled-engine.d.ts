/** What `deploy/build-engine.mjs` compiles. */
declare module "#comunica-engine" {
  export default function createEngine(): { readonly name: string };
}
