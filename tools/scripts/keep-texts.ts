// npm run generate -- texts: keeps all SQL statements of a release. While the next release is rolled out, nodes of this
// release still run, on the schema of the next one. So a test checks every migration with these statements.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textsOfRepositories } from '../../test/database/postgres/texts.ts';

const ROOT = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const texts = [...(await textsOfRepositories()).values()].flatMap((some) => [...some]);
const kept = { release: version, texts: [...new Set(texts.map((text) => text.replaceAll(/\s+/g, ' ').trim()))].sort() };
writeFileSync(join(ROOT, 'test/database/postgres/former-texts.json'), `${JSON.stringify(kept, null, 2)}\n`);
process.stdout.write(`${kept.texts.length} texts of release ${version} are kept\n`);
