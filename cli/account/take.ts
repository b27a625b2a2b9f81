/** Takes the first rows of a list, or all of them. */
export async function take<Row>(rows: AsyncIterable<Row>, limit = Number.POSITIVE_INFINITY): Promise<Row[]> {
  const taken: Row[] = [];
  for await (const row of rows) {
    taken.push(row);
    if (taken.length === limit) break;
  }
  return taken;
}
