import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { csvOf } from '../base/csv.ts';
import { type DeviceFile, withCredentials } from '../base/device-file.ts';
import { button, type Child, code, div, form, input, label, p, progress, span, use } from '../base/elements.ts';
import { count, counted, visible } from '../base/format.ts';
import { linesOf } from '../base/lines.ts';
import { operation, send } from '../base/requests.ts';
import type { ImportedDevice } from '../base/rows.ts';
import { typed } from '../base/typed.ts';
import { wordsOf } from '../base/words.ts';
import { close, open, title } from '../parts/dialog.ts';
import { textField } from '../parts/fields.ts';
import { trouble } from '../parts/loaded.ts';
import { keepFile } from '../parts/secret.ts';

interface Fault {
  line: number;
  deviceId: string | undefined;
  words: string;
}

interface Progress {
  lines: number;
  total: number;
  registered: number;
  /** All faulty lines; the page lists the first ones, and a file has them all. */
  faults: readonly Fault[];
  isDone: boolean;
}

/** A chosen file whose devices all have credentials now, and which was saved under `name`. */
interface Ready extends DeviceFile {
  owner: string;
  name: string;
  type: string;
}

/** The most faulty lines that are listed on the page. */
const MOST_FAULTS = 100;
/** Milliseconds between two updates of the shown progress of an import. */
const UPDATE_MS = 200;

/** Reads the answer, which has a line for each device, while it arrives. Throws when the connection breaks. */
async function follow(response: Response, total: number, report: (progress: Progress) => void): Promise<void> {
  const faults: Fault[] = [];
  const state: Progress = { lines: 0, total, registered: 0, faults, isDone: false };
  let last = 0;
  try {
    for await (const text of linesOf(response)) {
      const line = JSON.parse(text) as ImportedDevice;
      state.lines += 1;
      if (line.error === undefined) state.registered += 1;
      else faults.push({ line: line.line, deviceId: line.deviceId, words: wordsOf(line.error) ?? 'refused' });
      if (performance.now() - last > UPDATE_MS) {
        last = performance.now();
        report({ ...state });
      }
    }
  } catch {
    report({ ...state });
    throw new Error(`The connection broke after ${state.lines} of ${total} answers.`);
  }
  report({ ...state, isDone: true });
}

const save = ({ name, type, text }: Ready): void => keepFile(name, type, [text]);

const saveFaults = (faults: readonly Fault[]): void =>
  keepFile('faulty-lines.csv', 'text/csv', [
    csvOf(
      ['line', 'deviceId', 'error'],
      faults.map(({ line, deviceId, words }) => [line, deviceId, words]),
    ),
  ]);

/** The part of the dialog that is shown before the import begins: it says where the credentials are. */
const waiting = ({ name, made }: Ready): Child =>
  div(
    { class: 'note warn stack tight' },
    p(
      null,
      `${counted(made, 'credential')} ${made === 1 ? 'was' : 'were'} generated in this browser, which now saves the file `,
      code(null, visible(name)),
      '. Credentials are stored nowhere else: check that you have the file, then import it.',
    ),
    p(
      null,
      'If the import is interrupted, import the same file again. Devices that are already registered do not change.',
    ),
  );

const soFar = (now: Progress): Child => [
  div(
    { class: 'stack tight', 'aria-live': 'polite' },
    progress({ max: Math.max(1, now.total), value: now.lines, 'aria-label': 'Lines' }),
    p(
      null,
      `${counted(now.registered, 'device')} registered, ${counted(now.faults.length, 'faulty line')}, ${now.lines} of ${now.total} lines`,
    ),
  ),
  now.faults.length > 0
    ? div(
        { class: 'note bad stack tight' },
        now.faults
          .slice(0, MOST_FAULTS)
          .map(({ line, words }) => p({ key: line, class: 'wrap' }, code(null, `line ${line}`), ` ${visible(words)}`)),
        now.faults.length > MOST_FAULTS
          ? p(null, `These are the first ${MOST_FAULTS} of ${count(now.faults.length)} faulty lines.`)
          : null,
        div(
          null,
          button(
            { type: 'button', class: 'tiny', onClick: () => saveFaults(now.faults) },
            now.isDone ? 'Save all faulty lines as a file' : 'Save the faulty lines so far as a file',
          ),
        ),
      )
    : null,
];

const choosing = (developerId: string | undefined): Child => [
  p(
    { class: 'soft' },
    'A CSV file with a column deviceId (and optionally hardwareProperties and credential), or NDJSON with the same fields. A faulty line does not affect others. Devices without a credential get one in this browser.',
  ),
  div(
    { class: 'fields' },
    developerId === undefined
      ? textField({ name: 'developerId', label: 'Developer', required: true, hint: 'The developer of the devices.' })
      : null,
    label(
      { class: 'field' },
      span(null, 'File'),
      input({ type: 'file', name: 'file', accept: '.csv,.ndjson,.jsonl,text/csv', required: true }),
    ),
  ),
];

interface Of {
  developerId: string | undefined;
  /** `now` is true while devices are being registered. */
  running: { now: boolean };
}

function Import({ developerId, running }: Of) {
  const ready = useSignal<Ready | null>(null);
  const state = useSignal<Progress | null>(null);
  const error = useSignal<Error | null>(null);
  const isBusy = useRef(false);

  async function prepare(data: FormData): Promise<void> {
    const file = data.get('file');
    const owner = typed(data, 'developerId') ?? developerId;
    if (!(file instanceof File) || owner === undefined) return;
    const isJson = /\.(ndjson|jsonl|json)$/i.test(file.name);
    const complete = withCredentials(await file.text(), isJson);
    const time = new Date().toISOString().slice(0, 19).replaceAll(':', '');
    const name = `devices-with-credentials-${time}.${isJson ? 'ndjson' : 'csv'}`;
    const type = isJson ? 'application/x-ndjson' : 'text/csv';
    ready.value = { ...complete, owner, name, type };
    if (complete.made > 0) save(ready.value);
    else await run(ready.value);
  }

  async function run({ owner, text, type, lines }: Ready): Promise<void> {
    state.value = { lines: 0, total: lines, registered: 0, faults: [], isDone: false };
    running.now = true;
    try {
      const body = { type, content: text };
      const response = await send(operation('importDevices', { developerId: owner }), { body });
      await follow(response, lines, (progress) => (state.value = progress));
    } finally {
      running.now = false;
    }
  }

  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy.current) return;
    isBusy.current = true;
    error.value = null;
    try {
      if (ready.value) await run(ready.value);
      else await prepare(new FormData(event.currentTarget as HTMLFormElement));
    } catch (thrown) {
      error.value = thrown as Error;
    }
    isBusy.current = false;
  };

  const { value: file } = ready;
  const { value: now } = state;
  const isRunning = now !== null && !now.isDone && error.value === null;
  return form(
    { onSubmit: (event) => void submit(event) },
    title(developerId === undefined ? 'Import devices' : `Import devices of ${developerId}`),
    file === null ? choosing(developerId) : null,
    file !== null && file.made > 0 && now === null ? waiting(file) : null,
    now ? soFar(now) : null,
    error.value ? trouble(error.value) : null,
    now && error.value && file && file.made > 0
      ? p(
          { class: 'note warn' },
          'All credentials are in ',
          code(null, visible(file.name)),
          '. Import that file again.',
        )
      : null,
    div(
      { class: 'ends' },
      button({ type: 'button', onClick: close, disabled: isRunning }, now?.isDone ? 'Close' : 'Back'),
      file !== null && file.made > 0
        ? button({ type: 'button', onClick: () => save(file) }, 'Save the credentials again')
        : null,
      now === null || error.value
        ? button(
            { type: 'submit', class: 'main' },
            file === null ? 'Continue' : now ? 'Try again' : 'I have the file: import',
          )
        : null,
    ),
  );
}

/** Asks for a file and registers its devices, for the given developer or for one that the user enters. */
export function importDevicesOf(developerId: string | undefined): void {
  const running = { now: false };
  open(use(Import, { developerId, running }), { holds: () => running.now });
}
export const importDevices = (): void => importDevicesOf(undefined);
