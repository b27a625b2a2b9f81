import { textWithoutSecrets } from '@lapel/schemas/base/without-secrets';

/** Characters of a message that the readers of a stream are shown. */
export const SHOWN = 4096;
/**
 * Characters of a message that are kept until it is sent: more than are shown, because removing secrets shortens the
 * text.
 */
const KEPT_CHARACTERS = 2 * SHOWN;
/** The most bytes of one character in UTF-8. */
const MOST_BYTES = 4;

/** The beginning of a message; the rest is not kept. */
export interface Beginning {
  text: string;
  isWhole: boolean;
}

export function beginningOf(payload: string | Buffer): Beginning {
  const text = typeof payload === 'string' ? payload : payload.toString('utf8', 0, MOST_BYTES * KEPT_CHARACTERS);
  const isWhole = text.length <= KEPT_CHARACTERS && payload.length <= MOST_BYTES * KEPT_CHARACTERS;
  return { text: text.slice(0, KEPT_CHARACTERS), isWhole };
}

/** The text of a message as readers see it: shortened, and without passwords and URLs that grant access. */
export function shownPayload({ text, isWhole }: Beginning): { payload: string; truncated: boolean } {
  const shown = textWithoutSecrets(text, SHOWN + 1);
  return { payload: shown.slice(0, SHOWN).toWellFormed(), truncated: !isWhole || shown.length > SHOWN };
}
