// npm run generate -- fixture [FOLDER]: keeps a small database of the newest schema as a fixture, which every later release
// must be able to open. It starts the service of this checkout (or of the source tree in FOLDER) on an empty folder, uses
// it, stops it, and writes what it has stored to test/database/schemas, as SQL.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { SCHEMAS } from '../../test/database/schemas/schemas.ts';
import { dump } from './fixture/dump.ts';
import { fill } from './fixture/fill.ts';

const [given] = process.argv.slice(2);
const root = given === undefined ? join(import.meta.dirname, '../..') : resolve(process.env['INIT_CWD'] ?? '.', given);
const dataDir = mkdtempSync(join(tmpdir(), 'lapel-fixture-'));
try {
  const known = await fill(root, dataDir, (line) => void process.stderr.write(`${line}\n`));
  const database = new Sqlite(join(dataDir, 'lapel.db'), { readonly: true });
  const number = database.prepare('SELECT max(number) FROM migrations').pluck().get() as number;
  const name = `${String(number).padStart(4, '0')}.sql.gz`;
  const text = `-- ${JSON.stringify(known)}\n${dump(database)}`;
  database.close();
  writeFileSync(join(SCHEMAS, name), gzipSync(text, { level: 9 }));
  process.stdout.write(`${name} has ${text.match(/^INSERT INTO /gm)?.length} rows\n`);
} finally {
  rmSync(dataDir, { recursive: true });
}
