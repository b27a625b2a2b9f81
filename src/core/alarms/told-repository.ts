import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

/** An alarm that the receiver was told of. */
export interface ToldAlarm {
  /** As in the messages: the kind, or `part NAME`. */
  name: string;
  level: string;
  text: string;
  since: Micros;
  toldAt: Micros;
}

export const listTold = (sql: Sql): Promise<ToldAlarm[]> =>
  sql.all('SELECT name, level, text, since, told_at AS "toldAt" FROM told_alarms ORDER BY name');

/** Stores that the receiver was told of an alarm, in place of what it was told before. */
export async function saveTold(unit: UnitOfWork, { name, level, text, since, toldAt }: ToldAlarm): Promise<void> {
  await unit.run(
    `INSERT INTO told_alarms (name, level, text, since, told_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET level = excluded.level, text = excluded.text, told_at = excluded.told_at`,
    name,
    level,
    text,
    since,
    toldAt,
  );
}

export async function removeTold(unit: UnitOfWork, name: string): Promise<void> {
  await unit.run('DELETE FROM told_alarms WHERE name = ?', name);
}
