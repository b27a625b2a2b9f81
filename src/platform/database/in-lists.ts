/** The number of parameters in a list; longer lists are split. */
const LONGEST = 200;

/** A list of parameters, `column IN ${IN_LIST}`. Its length is fixed, so that all lists share one prepared statement. */
export const IN_LIST = `(${Array(LONGEST).fill('?').join(', ')})`;

/** Splits the values into lists of the length of IN_LIST. The last list is filled up with its first value. */
export function* inLists<Value>(values: readonly Value[]): Generator<Value[]> {
  for (let start = 0; start < values.length; start += LONGEST) {
    const list = values.slice(start, start + LONGEST);
    while (list.length < LONGEST) list.push(list[0] as Value);
    yield list;
  }
}
