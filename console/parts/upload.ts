import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { button, div, form, input, label, p, progress, span, use } from '../base/elements.ts';
import { bytes } from '../base/format.ts';
import { upload } from '../base/upload.ts';
import { close, open, title } from './dialog.ts';
import { trouble } from './loaded.ts';
import { tell } from './toast.ts';

interface Target {
  /** What it is the file of. */
  name: string;
  /** Asks the service where to put it. */
  where(file: File): Promise<string>;
  done(): void;
}

/** Puts a file to the object store, with what is done of it in percent. */
function Upload({ name, where, done }: Target) {
  const share = useSignal<number | null>(null);
  const error = useSignal<Error | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const start = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const file = new FormData(event.currentTarget as HTMLFormElement).get('file');
    if (!(file instanceof File) || share.value !== null) return;
    error.value = null;
    share.value = 0;
    try {
      await upload(await where(file), file, (done) => (share.value = done), stop.current.signal);
      close();
      tell(`The binary of ${name} is there.`);
      done();
    } catch (thrown) {
      if (!stop.current.signal.aborted) error.value = thrown as Error;
      share.value = null;
    }
  };
  const size = useSignal(0);
  const percent = Math.floor((share.value ?? 0) * 100);
  return form(
    { onSubmit: (event) => void start(event) },
    title(`Upload the binary of ${name}`),
    label(
      { class: 'field' },
      span(null, 'File'),
      input({
        type: 'file',
        name: 'file',
        required: true,
        disabled: share.value !== null,
        onChange: (event) => (size.value = event.currentTarget.files?.[0]?.size ?? 0),
      }),
      span({ class: 'hint' }, 'It goes straight to the object store. A file that is there already is replaced.'),
    ),
    share.value === null
      ? null
      : div(
          { class: 'upload' },
          progress({ max: 100, value: percent, 'aria-label': 'Uploaded' }),
          p({ class: 'num small', role: 'status' }, `${percent} % of ${bytes(size.value)}`),
        ),
    error.value ? trouble(error.value) : null,
    div(
      { class: 'ends' },
      button({ type: 'button', onClick: close }, share.value === null ? 'Back' : 'Give up'),
      button({ type: 'submit', class: 'main', disabled: share.value !== null }, 'Upload'),
    ),
  );
}

export const askForFile = (target: Target): void => open(use(Upload, target));
