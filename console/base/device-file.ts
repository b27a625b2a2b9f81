/** A file of devices in which each valid device has a credential. */
export interface DeviceFile {
  text: string;
  /** The number of devices; blank lines and the line of column names do not count. */
  lines: number;
  /** The number of credentials that were generated here; the other devices had theirs in the file. */
  made: number;
}

const DEVICE_ID = /^\d{15}$/;

/** Generates a credential of 256 random bits, as the service does for devices without one. */
function makeCredential(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/**
 * Splits CSV (RFC 4180) into records. Fields stay as they are written, with their quotes. A record may extend over
 * several lines.
 */
function* recordsOf(text: string): Generator<string[]> {
  let fields: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (sign === ',') {
      fields.push(text.slice(start, at));
      start = at + 1;
    } else if (sign === '\n' || sign === '\r') {
      yield [...fields, text.slice(start, at)];
      if (sign === '\r' && text[at + 1] === '\n') at += 1;
      fields = [];
      start = at + 1;
    }
  }
  yield [...fields, text.slice(start)]; // an empty record when the text ends with a line feed
}

const contentOf = (field = ''): string => {
  const text = field.trim();
  return text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).trim() : text;
};
const isBlank = (fields: readonly string[]): boolean => fields.every((field) => contentOf(field) === '');

/** True when the last field has an opening quote without a closing one. */
const isOpen = (fields: readonly string[]): boolean => (fields.at(-1) ?? '').split('"').length % 2 === 0;

function completeCsv(text: string): DeviceFile {
  const written: string[] = [];
  const made = { lines: 0, made: 0 };
  let names: string[] | undefined;
  let column = -1;
  for (const fields of recordsOf(text.startsWith('\ufeff') ? text.slice(1) : text)) {
    if (isBlank(fields)) {
      written.push(fields.join(','));
    } else if (!names) {
      names = fields.map(contentOf);
      column = names.indexOf('credential');
      written.push([...fields, ...(column === -1 ? ['credential'] : [])].join(','));
      if (column === -1) column = fields.length;
    } else {
      made.lines += 1;
      const isWhole = fields.length === names.length && !isOpen(fields);
      const isDevice = DEVICE_ID.test(contentOf(fields[names.indexOf('deviceId')]));
      if (isWhole && contentOf(fields[column]) === '') {
        if (isDevice) made.made += 1;
        fields[column] = isDevice ? makeCredential() : '';
      }
      written.push(fields.join(','));
    }
  }
  return { text: written.join('\n'), ...made };
}

function completeJson(text: string): DeviceFile {
  const made = { lines: 0, made: 0 };
  const complete = (line: string): string => {
    if (line.trim() === '') return line;
    made.lines += 1;
    try {
      const device = JSON.parse(line) as { deviceId?: unknown; credential?: unknown };
      if (typeof device.deviceId !== 'string' || device.credential !== undefined) return line;
      made.made += 1;
      return JSON.stringify({ ...device, credential: makeCredential() });
    } catch {
      return line; // the service reports the fault of this line
    }
  };
  return { text: text.split('\n').map(complete).join('\n'), ...made };
}

/**
 * Gives a credential to each device of a file that has none. It is generated in the browser, so that the user can save
 * it before anything is sent. All lines keep their positions, and faulty lines stay as they are.
 */
export const withCredentials = (text: string, isJson: boolean): DeviceFile =>
  isJson ? completeJson(text) : completeCsv(text);
