import { csvLines } from './csv.ts';

/** A page of a list, as requests.ts reads it. */
interface Page<Row> {
  rows: Row[];
  /** The cursor of the next page; null on the last page. */
  next: string | null;
}

/** A list that can be saved whole, from its first page on. */
export interface CsvList<Row> {
  /** The name of the file, without its ending. */
  name: string;
  /** The fields of a row that become columns, in order. */
  columns: readonly (keyof Row & string)[];
  page(after: string | undefined, signal: AbortSignal): Promise<Page<Row>>;
}

/** A value in a cell; what is neither text nor number, such as the tags of a device, is written as JSON. */
const cellOf = (value: unknown): string | number | null => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'string') return value;
  return JSON.stringify(value);
};

/**
 * Yields the text of a CSV file piece by piece, a piece for each page of the list, with the number of rows so far. So a
 * long list is never held as rows.
 */
export async function* csvPieces<Row>(
  { columns, page }: CsvList<Row>,
  signal: AbortSignal,
): AsyncGenerator<{ text: string; rows: number }> {
  let rows = 0;
  yield { text: csvLines([columns]), rows };
  for (let after: string | undefined; ; ) {
    const found: Page<Row> = await page(after, signal);
    signal.throwIfAborted();
    rows += found.rows.length;
    const text = csvLines(found.rows.map((row) => columns.map((column) => cellOf(row[column]))));
    yield { text, rows };
    if (found.next === null || found.next === after) return;
    after = found.next;
  }
}
