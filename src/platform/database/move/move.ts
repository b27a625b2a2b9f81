import { createHash } from 'node:crypto';
import { Refused } from '../../../runtime/refused.ts';
import type { Side, Table, Value } from './side.ts';

/** Each database keeps these for itself: its own migrations, and the nodes that use it. */
const OWN = new Set(['migrations', 'nodes', 'device_owners', 'receiver_partitions']);
const SUMS = 1n << 128n;

/** The rows of a table: their number, and a checksum that does not depend on their order. */
export interface Content {
  rows: number;
  checksum: string;
}

function createSum() {
  let rows = 0;
  let sum = 0n;
  return {
    add(row: readonly Value[]): void {
      const text = JSON.stringify(
        row.map((value) => (Buffer.isBuffer(value) ? { hex: value.toString('hex') } : value)),
      );
      rows += 1;
      sum = (sum + BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 32)}`)) % SUMS;
    },
    content: (): Content => ({ rows, checksum: sum.toString(16).padStart(32, '0') }),
  };
}

async function contentOf(side: Side, table: Table): Promise<Content> {
  const sum = createSum();
  for await (const page of side.pages(table)) for (const row of page) sum.add(row);
  return sum.content();
}

/** The tables that are moved, with the columns in one order for both. Throws if the databases differ in their tables. */
async function tablesOf(from: Side, to: Side): Promise<Table[]> {
  const theirs = new Map((await to.tables()).map((table) => [table.name, table.columns.toSorted().join()]));
  const tables = (await from.tables()).filter(({ name }) => !OWN.has(name));
  for (const { name, columns } of tables)
    if (theirs.get(name) !== columns.toSorted().join())
      throw new Refused(`the table ${name} is not the same in ${from.name} and in ${to.name}`);
  return tables;
}

/**
 * Moves all rows of the service from one database to another, which `target` opens and which must have none. Compares the
 * number and the checksum of the rows of each table, as both databases give them; nothing is committed if they differ. The
 * numbers go on higher than in the former database. The databases are closed in the end. Throws Refused. `told` is called
 * after each table.
 */
export async function moveAll(
  from: Side,
  target: () => Side | Promise<Side>,
  told: (table: string, content: Content) => void,
): Promise<void> {
  let to: Side | undefined;
  try {
    to = await target();
    const tables = await tablesOf(from, to);
    for (const table of tables)
      if ((await contentOf(to, table)).rows > 0)
        throw new Refused(`${to.name} has rows already (in ${table.name}): a move needs an empty database`);
    for (const table of tables) {
      const sum = createSum();
      for await (const page of from.pages(table)) {
        for (const row of page) sum.add(row);
        await to.insert(table, page);
      }
      const [read, written] = [sum.content(), await contentOf(to, table)];
      if (read.rows !== written.rows || read.checksum !== written.checksum)
        throw new Refused(
          `the table ${table.name} has ${written.rows} rows (checksum ${written.checksum}) in ${to.name}, but ${read.rows} (${read.checksum}) in ${from.name}`,
        );
      told(table.name, read);
    }
    for (const [table, last] of await from.sequences()) await to.setSequence(table, last);
    await to.commit();
  } finally {
    await Promise.allSettled([from.close(), to?.close()]);
  }
}
