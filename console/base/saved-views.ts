import { computed, signal } from '@preact/signals';
import { ROLE } from './place.ts';
import { owner } from './session.ts';

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

/** The views belong to this browser, and to one user of it: each application has its own. */
const nameOf = (): string => `lapel-views ${ROLE === 'operator' ? '' : `application ${owner.value ?? ''}`}`.trim();

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

/** Increases with each change, in this window or another one. */
const changes = signal(0);
addEventListener('storage', () => {
  changes.value += 1;
});

/** A browser may forbid its storage, which then throws. Then views hold until the window is closed. */
let kept: string | null = null;
const stored = (): string | null => {
  try {
    return localStorage.getItem(nameOf());
  } catch {
    return kept;
  }
};

/** The saved views of the current user. */
export const savedViews = computed((): readonly SavedView[] => {
  void changes.value;
  return viewsIn(stored());
});

function store(views: readonly SavedView[]): void {
  kept = JSON.stringify(views);
  try {
    if (views.length === 0) localStorage.removeItem(nameOf());
    else localStorage.setItem(nameOf(), kept);
  } catch {
    // kept in memory
  }
  changes.value += 1;
}

const others = ({ name, page }: Pick<SavedView, 'name' | 'page'>): SavedView[] =>
  viewsIn(stored()).filter((one) => one.name !== name || one.page !== page);

/** Saves a view in place of one of the same name; the oldest goes when there are too many. */
export const saveView = (view: SavedView): void => store([...others(view), view].slice(-MOST));

export const forgetView = (view: SavedView): void => store(others(view));
