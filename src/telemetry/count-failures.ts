/** Codes of errors that mean the storage failed. */
const failed = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "STORE_FAILED";

/** The same port; `onFailure` hears of every call whose promise rejects with the code `STORE_FAILED`. */
export function countFailures<Port extends object>(port: Port, onFailure: () => void): Port {
  const wrapped = new Map<string | symbol, unknown>();
  const count = (error: unknown): never => {
    if (failed(error)) onFailure();
    throw error;
  };
  const wrap =
    (method: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      const result = Reflect.apply(method, port, args);
      return result instanceof Promise ? result.catch(count) : result;
    };
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (!isMethod(value)) return value;
      if (!wrapped.has(key)) wrapped.set(key, wrap(value));
      return wrapped.get(key);
    },
  });
}

const isMethod = (value: unknown): value is (...args: unknown[]) => unknown => typeof value === "function";
