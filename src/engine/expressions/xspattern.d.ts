// Its package.json does not lead TypeScript to its own types.
declare module "xspattern" {
  /** @throws Error for a pattern of XML Schema that is not valid */
  export function compile(pattern: string): (text: string) => boolean;
}
