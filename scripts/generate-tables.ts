// Writes the README's tables of settings and errors and the overview of the command line from the code; test/readme.test.ts fails while they differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { overview } from '../src/cli/overview.ts';
import { optionName, SETTINGS } from '../src/config.ts';
import { ERRORS } from '../src/errors.ts';

const README = join(import.meta.dirname, '..', 'README.md');

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const tables = {
  settings: table(
    ['Setting', 'Option', 'Default', ''],
    SETTINGS.map(({ name, fallback, description }) => [
      `\`${name}\``,
      `\`--${optionName(name)}\``,
      fallback === null ? '' : `\`${fallback}\``,
      description,
    ]),
  ),
  errors: table(
    ['Code', 'Status', 'Text', 'When'],
    Object.entries(ERRORS).map(([code, { status, text, when }]) => [
      `\`${code}\``,
      String(status),
      `\`${text}\``,
      when,
    ]),
  ),
  overview: `\`\`\`\n${overview()}\`\`\``,
};

let readme = readFileSync(README, 'utf8');
for (const [name, text] of Object.entries(tables)) {
  const [before, rest = ''] = readme.split(`<!-- ${name} -->`);
  const after = rest.split(`<!-- /${name} -->`)[1];
  if (after === undefined) throw new Error(`README.md has no marks for the table of ${name}`);
  readme = `${before}<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->${after}`;
}
writeFileSync(README, readme);
