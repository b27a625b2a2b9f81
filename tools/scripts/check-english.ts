// Looks in comments, texts, titles of tests and documents for ways to write that cost a reader time
// (docs/contributing/english.md). A line that is right as it is has a comment "english: REASON" on it, or on the line before.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEPT, RULES } from './english/rules.ts';
import { textsOfDocument, textsOfModule } from './english/texts.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Generated files, texts of others, and the rules themselves. */
const LEFT_OUT =
  /^(?:schemas\/contracts\/types\.ts|tools\/scripts\/english\/|docs\/contributing\/english\.md|device-sim\/scenario\/scenario-file\.ts|console\/base\/verification\.ts|CHANGELOG\.md|CONFORMANCE\.md)/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(?:ts|mjs|js|md)$/.test(file) && !LEFT_OUT.test(file));
let texts = 0;
let faults = 0;
for (const file of files) {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const lines = source.split('\n');
  for (const { line, text } of file.endsWith('.md') ? textsOfDocument(source) : textsOfModule(source)) {
    texts += 1;
    if (KEPT.test(text) || KEPT.test(lines[line - 2] ?? '')) continue;
    for (const { pattern, say } of RULES) {
      const found = pattern.exec(text);
      if (!found) continue;
      faults += 1;
      const around = text.slice(Math.max(0, found.index - 30), found.index + 70);
      console.error(`${file}:${line}: "${found[0].trim()}" in "${around}"; say ${say}`);
    }
  }
}
if (faults === 0) console.log(`${texts} texts are plain`);
process.exitCode = faults > 0 ? 1 : 0;
