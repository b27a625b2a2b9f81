import { createKept } from './kept.ts';

/** A list with its filters, under a name that the user gave. */
export interface SavedView {
  name: string;
  /** The first part of the address of the list, such as `devices`. */
  page: string;
  query: Record<string, string>;
}

const MOST = 50;
/** The characters of a name. */
export const LONGEST_NAME = 60;

const isView = (one: unknown): one is SavedView => {
  const { name, page, query } = (one ?? {}) as Partial<SavedView>;
  return (
    typeof name === 'string' &&
    typeof page === 'string' &&
    typeof query === 'object' &&
    query !== null &&
    Object.values(query).every((value) => typeof value === 'string')
  );
};

/** Reads what a text of the storage says; whatever else stands there counts as nothing. */
export function viewsIn(text: string | null): SavedView[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(found) ? found.filter(isView).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

const kept = createKept<readonly SavedView[]>('views', viewsIn);

/** The saved views of the current user. */
export const savedViews = kept.value;

const store = (views: readonly SavedView[]): void => kept.keep(views.length === 0 ? undefined : views);

const others = ({ name, page }: Pick<SavedView, 'name' | 'page'>): SavedView[] =>
  savedViews.peek().filter((one) => one.name !== name || one.page !== page);

/** Saves a view in place of one of the same name; the oldest goes when there are too many. */
export const saveView = (view: SavedView): void => store([...others(view), view].slice(-MOST));

export const forgetView = (view: SavedView): void => store(others(view));
