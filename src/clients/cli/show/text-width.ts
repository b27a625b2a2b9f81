import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Columns of a terminal that a text takes: two for wide characters and emoji, none for colours. */
export const widthOf = (text: string): number => stringWidth(text);

export const padEnd = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** The text, or as much of its beginning as fits, and an ellipsis; never half a character. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let taken = 0;
  for (const { segment } of graphemes.segment(text)) {
    taken += widthOf(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
