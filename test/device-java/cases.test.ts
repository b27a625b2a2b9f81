import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { missing } from '../installed.ts';
import { compile, JAVA, runClass, sourcesIn } from './java.ts';

const FILE = join(JAVA, '../cases.json');

t.test('the device library in Java keeps every case of device/cases.json', { skip: missing.java() }, async (t) => {
  const played = (await runClass('Cases', [FILE]))
    .trim()
    .split('\n')
    .map((line): { title: string; fault: string | null } => JSON.parse(line));
  const titles = (JSON.parse(readFileSync(FILE, 'utf8')) as { title: string }[]).map(({ title }) => title);
  t.same(
    played.map(({ title }) => title),
    titles,
  );
  for (const { title, fault } of played) t.equal(fault, null, title);
});

// Android 8 (API 26) has the classes of Java 8, and few of the later ones.
t.test(
  'the device library in Java uses no class or method that Java 8 does not have',
  { skip: missing.java() },
  async (t) => {
    await t.resolves(compile(t.testdir(), sourcesIn('src'), '--release', '8'));
  },
);
