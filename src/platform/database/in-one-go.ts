/**
 * Waits for several statements that do not depend on one another. PostgreSQL gets those of one unit of work together, which
 * saves round trips; in SQLite nothing is saved. Outside of a unit they run on several connections, in any order. It
 * settles when all of them have settled, and throws the error of the first that failed. Awaiting them one by one would end
 * the process when a later one failed before it was awaited.
 */
export async function inOneGo<Statements extends readonly unknown[]>(
  ...statements: Statements
): Promise<{ [Index in keyof Statements]: Awaited<Statements[Index]> }> {
  const ended = await Promise.allSettled(statements);
  return ended.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  }) as { [Index in keyof Statements]: Awaited<Statements[Index]> };
}
