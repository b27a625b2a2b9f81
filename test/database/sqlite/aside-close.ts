// Closes databases while the last answer of their reading thread is on its way; nothing else keeps the process alive.
import { openSqlite } from '../../../src/platform/database/sqlite/open-sqlite.ts';

const [folder = ''] = process.argv.slice(2);
for (let round = 1; round <= 30; round += 1) {
  const database = openSqlite({ folder, nowMicros: 0 });
  await database.aside.get('SELECT 1 AS one');
  void database.aside.get('SELECT 1 AS one').catch(() => undefined);
  const began = performance.now();
  while (performance.now() - began < round / 10);
  await database.close();
}
process.stdout.write('closed\n');
