/** A page of a list. `next` is the position after which the next page begins; undefined on the last page. */
export interface Page<Row, Place> {
  rows: Row[];
  next: Place | undefined;
}

/**
 * Makes a page of `limit` rows. One row more than `limit` must have been read: if it is there, there is a next page.
 */
export function pageOf<Row, Place>(
  rows: readonly Row[],
  limit: number,
  placeOf: (last: Row) => Place,
): Page<Row, Place> {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, next: last === undefined ? undefined : placeOf(last) };
}
