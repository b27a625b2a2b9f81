import { a, button, type Child, div, span, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { addressOf, place } from '../base/place.ts';
import { forgetView, LONGEST_NAME, type SavedView, savedViews, saveView } from '../base/saved-views.ts';
import { typed } from '../base/typed.ts';
import { ask } from './dialog.ts';
import { textField } from './fields.ts';

export const addressOfView = ({ page, query }: SavedView): string => addressOf([page], query);

const isSame = (query: Record<string, string | undefined>, other: Record<string, string>): boolean =>
  Object.keys(other).length === Object.keys(query).length &&
  Object.entries(other).every(([name, value]) => query[name] === value);

/** Asks for a name, and keeps the filters of this list under it. */
const save = (page: string, query: Record<string, string>): void =>
  ask({
    title: 'Save this view',
    text: 'The filters are kept in this browser, under a name.',
    fields: textField({ name: 'name', label: 'Name', required: true }, { maxLength: LONGEST_NAME }),
    does: 'Save',
    act(data) {
      saveView({ name: (typed(data, 'name') ?? '').slice(0, LONGEST_NAME), page, query });
      return Promise.resolve('The view was saved.');
    },
  });

function Views({ names }: { names: readonly string[] }): Child {
  const { path, query } = place.value;
  const [page = ''] = path;
  // The views of a list have its own address; lists inside of other pages have none.
  if (path.length !== 1) return null;
  const given = Object.fromEntries(
    Object.entries(query).filter(
      (entry): entry is [string, string] => names.includes(entry[0]) && entry[1] !== undefined,
    ),
  );
  const views = savedViews.value.filter((view) => view.page === page);
  const isSaved = views.some((view) => isSame(given, view.query));
  const maySave = Object.keys(given).length > 0 && !isSaved;
  if (views.length === 0 && !maySave) return null;
  return div(
    { class: 'row', role: 'group', 'aria-label': 'Saved views' },
    views.map((view) =>
      span(
        { class: 'chip', key: view.name },
        a(
          { href: addressOfView(view), ...(isSame(given, view.query) && { 'aria-current': 'true' as const }) },
          visible(view.name),
        ),
        button(
          { type: 'button', 'aria-label': `Forget the view ${visible(view.name)}`, onClick: () => forgetView(view) },
          '×',
        ),
      ),
    ),
    maySave
      ? button({ type: 'button', class: 'plain tiny', onClick: () => save(page, given) }, 'Save this view')
      : null,
  );
}

/** The saved views of this list, and a button that saves the filters with these names. */
export const viewsOf = (names: readonly string[]): VNode => use(Views, { names });
