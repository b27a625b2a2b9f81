// The site is made once, for all services and for all folders. So a made text has a slot at each place that differs
// between them: an address of the service, its time zone, the link to another page. Two characters for private use enclose
// a slot; no document has them, and neither HTML nor JSON escapes them.
const OPEN = '\uE000';
const CLOSE = '\uE001';

const slot = (name: string, about = ''): string =>
  `${OPEN}${name}:${encodeURIComponent(about).replaceAll("'", '%27')}${CLOSE}`;
const [BEGIN, END] = [slot('begin'), slot('end')];

/** The slots of made texts. */
export const SLOTS = {
  /** The URL of the API that callers use (`{base_url}`), without a slash at its end. */
  publicUrl: slot('publicUrl'),
  /** A URL below that one, as a word of a shell. */
  shellUrl: (path: string): string => slot('shellUrl', path),
  timeZone: slot('timeZone'),
  apiRelease: slot('apiRelease'),
  /** The addresses of the broker, as HTML. */
  servers: slot('servers'),
  /** Links to a page, to a file that pages load, and to a document of the service. */
  page: (name: string): string => slot('page', name),
  file: (name: string): string => slot('file', name),
  document: (name: string): string => slot('document', name),
};

/** A part of a text for pages of a service only. */
export const forService = (text: string): string => BEGIN + text + END;

/** Removes the parts of a text between two marks, and the marks. */
export const withoutParts = (text: string, begin: string, end: string): string =>
  text
    .split(begin)
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf(end) + end.length)))
    .join('');

/** Removes the parts for pages of a service. */
export const withoutService = (text: string): string => withoutParts(text, BEGIN, END);

/** Fills each slot of a text with the value of its name. Throws when a slot has no value. */
export function fill(text: string, values: Readonly<Record<string, (about: string) => string>>): string {
  const [first = '', ...parts] = text.split(OPEN);
  return parts.reduce((filled, part) => {
    const colon = part.indexOf(':');
    const close = part.indexOf(CLOSE);
    const value = values[part.slice(0, colon)];
    if (value === undefined) throw new Error(`a document has an unknown slot: ${part.slice(0, close)}`);
    return filled + value(decodeURIComponent(part.slice(colon + 1, close))) + part.slice(close + 1);
  }, first);
}
