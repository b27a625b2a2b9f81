import { button } from '../base/elements.ts';
import { filter } from '../base/place.ts';
import type { Column } from './table.ts';

/**
 * The head of a column that sorts its list: a button that leads to the order `to`, or without it to the usual one. An
 * arrow shows the order that the list has by this column.
 */
export const sortHead = (
  words: string,
  sorted: 'ascending' | 'descending' | undefined,
  to: string | undefined,
): Pick<Column<unknown>, 'head' | 'sorted'> => ({
  head: button(
    { type: 'button', class: 'sort', onClick: () => filter({ sort: to }) },
    sorted === undefined ? words : `${words} ${sorted === 'ascending' ? '↑' : '↓'}`,
  ),
  ...(sorted && { sorted }),
});
