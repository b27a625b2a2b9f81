import { createKept } from './kept.ts';

/** The columns that the user does not want to see, by the label of their table. */
type Hidden = Readonly<Record<string, readonly string[]>>;

const isNames = (names: unknown): names is string[] =>
  Array.isArray(names) && names.every((name) => typeof name === 'string');

/** Reads what a text of the storage says; whatever else stands there counts as nothing. */
export function hiddenIn(text: string | null): Hidden {
  try {
    const found = JSON.parse(text ?? '{}') as object | null;
    return Object.fromEntries(Object.entries(found ?? {}).filter(([, names]) => isNames(names)));
  } catch {
    return {};
  }
}

const kept = createKept<Hidden>('columns', hiddenIn);

/** The columns of a table that are not shown. */
export const hiddenOf = (label: string): readonly string[] => kept.value.value[label] ?? [];

/** Hides these columns of a table, and shows its others. */
export function hide(label: string, names: readonly string[]): void {
  const { [label]: _, ...others } = kept.value.peek();
  const next = names.length === 0 ? others : { ...others, [label]: names };
  kept.keep(Object.keys(next).length === 0 ? undefined : next);
}
