/** Fills the `{parameters}` of a path in, encoded. A parameter without a value becomes empty. */
export const fillPath = (path: string, values: Readonly<Record<string, string | number | undefined>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
