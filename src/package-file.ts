const packageFolder = new URL(import.meta.url.endsWith(".ts") ? "../" : "../../", import.meta.url);

/** The URL of a file of the package, the same for modules in `src/` and for compiled ones, a folder deeper, in `dist/src/`. */
export const packageFile = (path: string): URL => new URL(path, packageFolder);
