// Closes databases while the thread for the log starts, which it does with the 500th commit, or soon after it.
import { openSqlite } from '../../../src/platform/database/sqlite/open-sqlite.ts';

const [folder = ''] = process.argv.slice(2);
for (let round = 0; round < 16; round += 1) {
  const database = openSqlite({ folder, nowMicros: 0 });
  for (let commit = 0; commit < 500; commit += 1)
    await database.transact((unit) => unit.run('UPDATE migrations SET applied_at = ? WHERE number = 1', commit));
  const began = performance.now();
  while (performance.now() - began < round * 5);
  await database.close();
}
process.stdout.write('closed\n');
