/** The most characters of one text of a stranger in an answer. */
export const LONGEST = 160;

/**
 * Characters that no reader sees, or that turn the text around them: controls, soft hyphens, zero-width characters, the
 * marks of bidirectional text, tags, variation selectors, and halves of characters.
 */
const UNSEEN =
  /\u{34f}|[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{3164}\u{ffa0}]|\p{Variation_Selector}/gu;
/** Signs that make HTML, code, links and pictures of a text: a program that shows the answer could fetch a picture. */
const MARKUP = /[<>`[\]|]|:\/\//g;

const escaped = (text: string): string =>
  text === '://' ? ':\\u002f/' : `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Shows a text that a device, a receiver or a customer has written: as a JSON string behind `data:`, in one line, without
 * characters that are not seen, without markup, and cut. Nothing in it can end the string, so whatever it says stays
 * marked as data.
 */
export function data(text: string | number | null | undefined, most = LONGEST): string {
  if (text === null || text === undefined) return 'none';
  // Whatever is behind so many characters would be cut in any case, so it is not looked at.
  const given = String(text);
  const begin = given.slice(0, most * 4).toWellFormed();
  const clean = begin.replaceAll(/\s/g, ' ').replaceAll(UNSEEN, '');
  const shown = Array.from(clean).slice(0, most).join('');
  const quoted = JSON.stringify(shown).replaceAll(MARKUP, escaped);
  const isCut = given.length > begin.length || shown.length < clean.length;
  return isCut ? `data:${quoted} (cut; ${given.length} characters)` : `data:${quoted}`;
}

/** A short name for records, such as that of an assistant: only plain letters, digits and a few signs. */
export const plainName = (text: string | undefined, most = 64): string =>
  (text ?? '')
    .slice(0, most * 4)
    .replaceAll(/[^A-Za-z0-9 ._/+-]/g, '')
    .trim()
    .slice(0, most) || 'unknown';
