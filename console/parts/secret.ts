import { button, code, div, p } from '../base/elements.ts';
import { copy } from './copy.ts';
import { close, open, title } from './dialog.ts';

/** Shows a secret that cannot be shown again. The dialog stays until the user confirms that it was saved. */
export function showSecret(heading: string, text: string, secret: string): void {
  const content = div(
    null,
    title(heading),
    p({ class: 'soft' }, text),
    div({ class: 'secret' }, code(null, secret), copy(secret)),
    div({ class: 'ends' }, button({ type: 'button', class: 'main', onClick: close }, 'I have saved it')),
  );
  open(content, { holds: () => true });
}

/** Shows a key that is no secret, with a button that copies it. */
export function showPublicKey(heading: string, text: string, key: string): void {
  open(
    div(
      null,
      title(heading),
      p({ class: 'soft' }, text),
      div({ class: 'secret' }, code(null, key), copy(key)),
      div({ class: 'ends' }, button({ type: 'button', class: 'main', onClick: close }, 'Close')),
    ),
  );
}

/** Makes the browser save a text or bytes as a file. */
export function keepFile(name: string, type: string, parts: BlobPart[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
