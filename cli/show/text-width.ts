import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The width of a text in columns of a terminal: two for wide characters and emoji, none for colour codes. */
export const widthOf = (text: string): number => stringWidth(text);

export const padEnd = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Cuts a text to a width, with an ellipsis; it never splits a character. */
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

/** Wraps a text into lines of at most `width` columns; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines = [''];
  let taken = 0;
  for (const word of text.split(' ')) {
    const size = widthOf(word);
    if (taken > 0 && taken + 1 + size > width) {
      lines.push(word);
      taken = size;
    } else {
      lines[lines.length - 1] = taken === 0 ? word : `${lines.at(-1)} ${word}`;
      taken += taken === 0 ? size : size + 1;
    }
  }
  return lines;
}
