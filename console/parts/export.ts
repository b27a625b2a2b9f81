import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type CsvList, csvPieces } from '../base/csv-pages.ts';
import { button, div, p, use, type VNode } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { isPassing } from '../base/load.ts';
import type { Page } from '../base/requests.ts';
import { close, open, title } from './dialog.ts';
import { trouble } from './loaded.ts';
import { keepFile } from './secret.ts';
import { tell } from './toast.ts';

/** Milliseconds after which a page that could not be read is asked for again, and how often. */
const PAUSE_MS = 2_000;
const MOST_TRIES = 10;
/** Rows in a request: the most that a list gives. */
export const EXPORT_LIMIT = 1000;

/** Reads a page, and waits while the service is away or busy. */
async function patiently<Row>(read: () => Promise<Page<Row>>, signal: AbortSignal): Promise<Page<Row>> {
  for (let tries = 1; ; tries += 1)
    try {
      return await read();
    } catch (thrown) {
      if (signal.aborted || tries === MOST_TRIES || !isPassing(thrown as Error)) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
}

function Saving<Row>({ list }: { list: CsvList<Row> }) {
  const rows = useSignal(0);
  const error = useSignal<Error | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const page: typeof list.page = (after) => patiently(() => list.page(after, signal), signal);
    const save = async (): Promise<void> => {
      const pieces: Blob[] = [];
      for await (const piece of csvPieces({ ...list, page }, signal)) {
        pieces.push(new Blob([piece.text])); // a blob, because browsers keep large ones on the disk
        rows.value = piece.rows;
      }
      keepFile(`${list.name}.csv`, 'text/csv', pieces);
      close();
      tell(`${counted(rows.peek(), 'row')} saved.`);
    };
    save().catch((thrown: Error) => {
      if (!signal.aborted) error.value = thrown;
    });
    return () => stop.abort();
  }, []);
  return div(
    null,
    title('Save the list as CSV'),
    p({ class: 'soft', role: 'status' }, `${counted(rows.value, 'row')} read so far.`),
    error.value === null ? null : [trouble(error.value), p(null, 'Nothing was saved.')],
    div({ class: 'ends' }, button({ type: 'button', onClick: close }, 'Stop')),
  );
}

/** A button that saves all rows of a list, and not only the page that is shown, with the filters of the list. */
export const csvButton = <Row>(list: CsvList<Row>): VNode =>
  button({ type: 'button', class: 'tiny', onClick: () => open(use(Saving<Row>, { list })) }, 'Save as CSV');
