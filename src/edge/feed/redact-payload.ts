import { textWithoutSecrets } from '../../runtime/without-secrets.ts';

/** Characters of a payload that are shown. */
export const SHOWN = 4096;
/** What is hidden makes a text shorter: of so many characters those that are shown are taken. */
const LOOKED_AT = 2 * SHOWN;
/** Bytes of a character at most. */
const WIDEST = 4;

/** The beginning of a payload: no more of it is kept for who looks on. */
export interface Beginning {
  text: string;
  isWhole: boolean;
}

export function beginningOf(payload: string | Buffer): Beginning {
  const text = typeof payload === 'string' ? payload : payload.toString('utf8', 0, WIDEST * LOOKED_AT);
  const isWhole = text.length <= LOOKED_AT && payload.length <= WIDEST * LOOKED_AT;
  return { text: text.slice(0, LOOKED_AT), isWhole };
}

/** The text of a message for people who look on: no passwords, no URLs that are good without one, and not too long. */
export function shownPayload({ text, isWhole }: Beginning): { payload: string; truncated: boolean } {
  const shown = textWithoutSecrets(text, SHOWN + 1);
  return { payload: shown.slice(0, SHOWN).toWellFormed(), truncated: !isWhole || shown.length > SHOWN };
}
