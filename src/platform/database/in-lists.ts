/** Values of a list at most; a longer one is asked for in several. */
const LONGEST = 200;

/** A list of parameters, `column IN ${IN_LIST}`: always as long, so that its length is no other text. */
export const IN_LIST = `(${Array(LONGEST).fill('?').join(', ')})`;

/** The values in lists that are as long as IN_LIST; what is missing of the last one is its first value again. */
export function* inLists<Value>(values: readonly Value[]): Generator<Value[]> {
  for (let start = 0; start < values.length; start += LONGEST) {
    const list = values.slice(start, start + LONGEST);
    while (list.length < LONGEST) list.push(list[0] as Value);
    yield list;
  }
}
