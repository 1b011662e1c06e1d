/** A handle of the addon with some methods replaced: the addon takes no handle but its own for `this`. */
export function overriding<T extends object>(handle: T, methods: Partial<T>): T {
  return new Proxy(handle, {
    get: (target, name) => {
      const own = (methods as Record<string | symbol, unknown>)[name];
      const value: unknown = own ?? Reflect.get(target, name, target);
      return typeof value === 'function' && own === undefined ? (value.bind(target) as unknown) : value;
    },
  });
}
