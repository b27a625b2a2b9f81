import { textWithoutSecrets } from '../../runtime/without-secrets.ts';

/** Characters of a payload that are shown. */
export const SHOWN = 4096;
/** Characters of a payload that are kept. They are more than are shown, because hiding secrets shortens the text. */
const LOOKED_AT = 2 * SHOWN;
/** The most bytes of a character. */
const WIDEST = 4;

/** The beginning of a payload; the rest is not kept for viewers. */
export interface Beginning {
  text: string;
  isWhole: boolean;
}

export function beginningOf(payload: string | Buffer): Beginning {
  const text = typeof payload === 'string' ? payload : payload.toString('utf8', 0, WIDEST * LOOKED_AT);
  const isWhole = text.length <= LOOKED_AT && payload.length <= WIDEST * LOOKED_AT;
  return { text: text.slice(0, LOOKED_AT), isWhole };
}

/** The text of a message for viewers: without passwords and URLs that grant access, and of bounded length. */
export function shownPayload({ text, isWhole }: Beginning): { payload: string; truncated: boolean } {
  const shown = textWithoutSecrets(text, SHOWN + 1);
  return { payload: shown.slice(0, SHOWN).toWellFormed(), truncated: !isWhole || shown.length > SHOWN };
}
