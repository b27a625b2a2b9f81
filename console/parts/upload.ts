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
  /** The name of the version that the file belongs to. */
  name: string;
  /** Gets the upload URL from the service. */
  where(file: File): Promise<string>;
  /** Waits for the service to inspect the uploaded file, and returns its warning; null when there is none. */
  fault(signal: AbortSignal): Promise<string | null>;
  /** True when the version is distributed, so that devices may already install the current file. */
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
    span({ class: 'hint' }, 'The browser sends the file directly to the object store. An existing file is replaced.'),
  ),
  isDistributed
    ? div(
        { class: 'note warn stack tight' },
        p(
          null,
          'This version is distributed: devices that install it from now on get the new file under the same version.',
        ),
        label(
          { class: 'tick' },
          input({ type: 'checkbox', name: 'replaces', required: true }),
          span(null, 'Replace the file of the distributed version'),
        ),
      )
    : null,
];

/** Uploads a file and shows the progress in percent; afterwards it shows what the service found wrong with the file. */
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
      tell(`The binary of ${name} was uploaded.`);
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
          p(
            null,
            'The file was uploaded, but does not match the version that it was uploaded for: ',
            said(found.value),
          ),
          p(null, 'Devices that install it will report an error. Upload another file, or keep this one.'),
        ),
    choosing(isDistributed, isSending, (bytes) => (size.value = bytes)),
    isSending
      ? div(
          { class: 'upload' },
          progress({ max: 100, value: percent, 'aria-label': 'Uploaded' }),
          p(
            { class: 'num small', role: 'status' },
            percent === 100 ? 'The service checks the file ...' : `${percent} % of ${bytes(size.value)}`,
          ),
        )
      : null,
    error.value ? trouble(error.value) : null,
    div(
      { class: 'ends' },
      button(
        { type: 'button', onClick: close },
        isSending ? 'Cancel' : found.value === null ? 'Back' : 'Keep this file',
      ),
      button({ type: 'submit', class: 'main', disabled: isSending }, 'Upload'),
    ),
  );
}

export const askForFile = (target: Target): void => open(use(Upload, target));
