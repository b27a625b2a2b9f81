import { plainText } from '../plain-text.ts';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | readonly Html[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Ends of lines stay; all else that could deceive the reader of a page is made visible. */
const visible = (text: string): string => text.split('\n').map(plainText).join('\n');
const escaped = (text: string): string => visible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

function written(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(({ text }) => text).join('') : escaped(String(part));
}

/** HTML of a template. Inserted values are text, unless they are Html. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((string, place) => string + (place < parts.length ? written(parts[place]!) : '')).join(''));
