import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { button, code, div, form, input, label, p, progress, span, use } from '../base/elements.ts';
import { counted, visible } from '../base/format.ts';
import { linesOf } from '../base/lines.ts';
import { at, send } from '../base/requests.ts';
import type { ImportedDevice } from '../base/rows.ts';
import { wordsOf } from '../base/words.ts';
import { close, open, title } from '../parts/dialog.ts';
import { textField, typed } from '../parts/fields.ts';
import { trouble } from '../parts/loaded.ts';
import { keepFile } from '../parts/secret.ts';

interface Progress {
  lines: number;
  total: number;
  made: number;
  faults: { line: number; words: string }[];
  isDone: boolean;
}

/** Faults that are listed; the others are in the file. */
const MOST_FAULTS = 100;
/** Milliseconds between two looks of the page at how far it is. */
const TOLD_EVERY = 200;

/** The service's answer, line by line, as it comes; credentials go into a file and nowhere else. */
async function follow(response: Response, total: number, told: (progress: Progress) => void): Promise<string[]> {
  const kept: string[] = [];
  const state: Progress = { lines: 0, total, made: 0, faults: [], isDone: false };
  let last = 0;
  for await (const text of linesOf(response)) {
    const line = JSON.parse(text) as ImportedDevice;
    state.lines += 1;
    if (line.credential !== undefined && line.deviceId !== undefined) {
      state.made += 1;
      kept.push(`${line.deviceId},${line.credential}\n`);
    } else if (line.error !== undefined)
      state.faults.push({ line: line.line, words: wordsOf(line.error) ?? 'refused' });
    if (performance.now() - last > TOLD_EVERY) {
      last = performance.now();
      told({ ...state, faults: state.faults.slice(0, MOST_FAULTS) });
    }
  }
  told({ ...state, isDone: true });
  return kept;
}

const countLines = (text: string): number => text.split('\n').filter((line) => line.trim() !== '').length;

function Import({ developerId }: { developerId: string | undefined }) {
  const state = useSignal<Progress | null>(null);
  const error = useSignal<Error | null>(null);
  const kept = useRef<string[]>([]);
  const start = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const file = data.get('file');
    const owner = typed(data, 'developerId') ?? developerId;
    if (!(file instanceof File) || owner === undefined) return;
    error.value = null;
    const isJson = /\.(ndjson|jsonl|json)$/i.test(file.name);
    const total = countLines(await file.text()) - (isJson ? 0 : 1);
    state.value = { lines: 0, total, made: 0, faults: [], isDone: false };
    try {
      const body = { type: isJson ? 'application/x-ndjson' : 'text/csv', content: file };
      const response = await send('POST', `/developers${at(owner)}/devices/import`, { body });
      kept.current = await follow(response, total, (progress) => (state.value = progress));
    } catch (thrown) {
      error.value = thrown as Error;
    }
  };
  const keep = (): void => {
    keepFile(`credentials-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.csv`, 'text/csv', [
      'deviceId,credential\n',
      ...kept.current,
    ]);
  };
  const { value: now } = state;
  return form(
    { onSubmit: (event) => void start(event) },
    title('Import devices'),
    p(
      { class: 'soft' },
      'A CSV file with a column deviceId (and hardwareProperties, credential), or NDJSON of the same fields. A faulty line harms no other.',
    ),
    now
      ? null
      : div(
          { class: 'fields' },
          developerId === undefined
            ? textField({
                name: 'developerId',
                label: 'Developer',
                required: true,
                hint: 'Whose devices they will be.',
              })
            : null,
          label(
            { class: 'field' },
            span(null, 'File'),
            input({ type: 'file', name: 'file', accept: '.csv,.ndjson,.jsonl,text/csv', required: true }),
          ),
        ),
    now
      ? div(
          { class: 'stack tight', 'aria-live': 'polite' },
          progress({ max: Math.max(1, now.total), value: now.lines, 'aria-label': 'Lines' }),
          p(
            null,
            `${counted(now.made, 'device')} registered, ${counted(now.faults.length, 'faulty line')}, ${now.lines} of ${now.total} lines`,
          ),
        )
      : null,
    now && now.faults.length > 0
      ? div(
          { class: 'note bad stack tight' },
          now.faults
            .slice(0, MOST_FAULTS)
            .map(({ line, words }) =>
              p({ key: line, class: 'wrap' }, code(null, `line ${line}`), ` ${visible(words)}`),
            ),
        )
      : null,
    now?.isDone && now.made > 0
      ? p({ class: 'note warn' }, 'The credentials are shown nowhere else and never again: keep the file.')
      : null,
    error.value ? trouble(error.value) : null,
    div(
      { class: 'ends' },
      button({ type: 'button', onClick: close }, now?.isDone ? 'Close' : 'Back'),
      now?.isDone && now.made > 0
        ? button({ type: 'button', class: 'main', onClick: keep }, 'Keep the credentials')
        : null,
      now ? null : button({ type: 'submit', class: 'main' }, 'Import'),
    ),
  );
}

/** Asks for a file of devices and registers them; of a developer, or of one that is asked for. */
export const importDevicesOf = (developerId: string | undefined): void => open(use(Import, { developerId }));
export const importDevices = (): void => importDevicesOf(undefined);
