/** Characters after which a slice is complete. */
const SLICE = 32 * 1024;

/**
 * A JSON object that is made slice by slice while it is sent. A long list is turned into text over several turns of the
 * event loop, so that other requests are served in between. Lists are iterated once, while they are written.
 */
export class JsonSlices {
  readonly #members: Record<string, unknown>;

  constructor(members: Record<string, unknown>) {
    this.#members = members;
  }

  /** The slices; the last one is the return value. */
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

/** Converts each row when it is needed. */
export function* lazily<Row, Result>(rows: readonly Row[], toResult: (row: Row) => Result): Generator<Result> {
  for (const row of rows) yield toResult(row);
}
