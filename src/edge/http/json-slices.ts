/** The length in characters from which on a slice is given out. */
const SLICE = 32 * 1024;

/**
 * A JSON object that is turned into text in slices, while it is sent. Turning a long list into text at once would block
 * the event loop; between two slices other requests are served. A list among the members is iterated once, as it is
 * written.
 */
export class JsonSlices {
  readonly #members: Record<string, unknown>;

  constructor(members: Record<string, unknown>) {
    this.#members = members;
  }

  /** Makes the slices one after another; the last slice is the return value. */
  *slices(): Generator<string, string> {
    let text = '';
    let before = '{';
    for (const [name, value] of Object.entries(this.#members)) {
      text += `${before}${JSON.stringify(name)}:`;
      before = ',';
      if (!isRows(value)) {
        text += JSON.stringify(value);
        continue;
      }
      let separator = '[';
      for (const row of value) {
        text += separator + JSON.stringify(row);
        separator = ',';
        if (text.length < SLICE) continue;
        yield text;
        text = '';
      }
      text += separator === '[' ? '[]' : ']';
    }
    return `${text}${before === '{' ? '{' : ''}}`;
  }
}

const isRows = (value: unknown): value is Iterable<object> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

/** Converts each row only when it is written. */
export function* lazily<Row, Result>(rows: readonly Row[], toResult: (row: Row) => Result): Generator<Result> {
  for (const row of rows) yield toResult(row);
}
