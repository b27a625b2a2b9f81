import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { button, type Child, div, form, input, label, p, progress, span, use } from '../base/elements.ts';
import { bytes } from '../base/format.ts';
import { upload } from '../base/upload.ts';
import { close, open, title } from './dialog.ts';
import { trouble } from './loaded.ts';
import { said } from './show.ts';
import { tell } from './toast.ts';

interface Target {
  /** What it is the file of. */
  name: string;
  /** Asks the service where to put it. */
  where(file: File): Promise<string>;
  /** Asks what is wrong with what was put there; null when nothing is. */
  fault(signal: AbortSignal): Promise<string | null>;
  /** Devices get the file that is there now. */
  isDistributed: boolean;
  done(): void;
}

const choosing = (isDistributed: boolean, isSending: boolean, chosen: (size: number) => void): Child => [
  label(
    { class: 'field' },
    span(null, 'File'),
    input({
      type: 'file',
      name: 'file',
      required: true,
      disabled: isSending,
      onChange: (event) => chosen(event.currentTarget.files?.[0]?.size ?? 0),
    }),
    span({ class: 'hint' }, 'It goes straight to the object store. A file that is there already is replaced.'),
  ),
  isDistributed
    ? div(
        { class: 'note warn stack tight' },
        p(null, 'This version is distributed: who installs it from now on gets the new file, under the same version.'),
        label(
          { class: 'tick' },
          input({ type: 'checkbox', name: 'replaces', required: true }),
          span(null, 'Replace the file of the distributed version'),
        ),
      )
    : null,
];

/** Puts a file to the object store, with what is done of it in percent, and says what is wrong with it. */
function Upload({ name, where, fault, isDistributed, done }: Target) {
  const share = useSignal<number | null>(null);
  const error = useSignal<Error | null>(null);
  const found = useSignal<string | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const start = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const file = new FormData(event.currentTarget as HTMLFormElement).get('file');
    if (!(file instanceof File) || share.value !== null) return;
    error.value = null;
    found.value = null;
    share.value = 0;
    const { signal } = stop.current;
    try {
      await upload(await where(file), file, (done) => (share.value = done), signal);
      found.value = await fault(signal);
      share.value = null;
      done();
      if (found.value !== null) return;
      close();
      tell(`The binary of ${name} is there.`);
    } catch (thrown) {
      if (!signal.aborted) error.value = thrown as Error;
      share.value = null;
    }
  };
  const size = useSignal(0);
  const percent = Math.floor((share.value ?? 0) * 100);
  const isSending = share.value !== null;
  return form(
    { onSubmit: (event) => void start(event) },
    title(`Upload the binary of ${name}`),
    found.value === null
      ? null
      : div(
          { class: 'note bad stack tight', role: 'alert' },
          p(null, 'The file is there, and is not what was registered: ', said(found.value)),
          p(null, 'Devices that install it will report an error. Upload another file, or leave it as it is.'),
        ),
    choosing(isDistributed, isSending, (bytes) => (size.value = bytes)),
    isSending
      ? div(
          { class: 'upload' },
          progress({ max: 100, value: percent, 'aria-label': 'Uploaded' }),
          p(
            { class: 'num small', role: 'status' },
            percent === 100 ? 'It is looked at ...' : `${percent} % of ${bytes(size.value)}`,
          ),
        )
      : null,
    error.value ? trouble(error.value) : null,
    div(
      { class: 'ends' },
      button({ type: 'button', onClick: close }, isSending ? 'Give up' : found.value === null ? 'Back' : 'Leave it'),
      button({ type: 'submit', class: 'main', disabled: isSending }, 'Upload'),
    ),
  );
}

export const askForFile = (target: Target): void => open(use(Upload, target));
