/** URL of a path of this service: the script is served from `/assets/` below its base path. */
export const ownUrl = (path: string): string => import.meta.url.replace(/\/assets\/[^/]*$/, path);
