/** Reads the text of a form field; undefined when the field is empty. */
export function typed(data: FormData, name: string): string | undefined {
  const value = data.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** The number that was typed into a field; undefined when the field is empty. */
export function numberOf(data: FormData, name: string): number | undefined {
  const text = typed(data, name);
  return text === undefined ? undefined : Number(text);
}

/** Copies an object without the members that are undefined. */
export const given = <Value extends object>(value: Value): Partial<Value> =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<Value>;
