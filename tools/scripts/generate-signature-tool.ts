// Writes the code of docs/verify-webhooks.md in five languages for the console's signature tool. With --check it writes
// nothing, and fails when the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const GUIDE = 'docs/verify-webhooks.md';
const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const read = (file: string): string => readFileSync(pathOf(file), 'utf8');

/** The first block of code of each section `In LANGUAGE`, by the language. */
const examples = read(GUIDE)
  .split('\n## ')
  .flatMap((section) => {
    const language = /^In (.+)\n/.exec(section)?.[1];
    const code = section.split(/\n```\w+\n/)[1]?.split('\n```')[0];
    return language === undefined || code === undefined ? [] : [[language, code] as const];
  });

const rows = examples.map(([language, code]) => `  [${JSON.stringify(language)}, ${JSON.stringify(code)}],`);
const FILE = 'console/base/verification.ts';
const generated = `// Generated from ${GUIDE} by \`npm run generate\`; edit that instead.
// biome-ignore-all format: generated

/** Code that verifies webhooks, by its language. */
export const VERIFICATION = [
${rows.join('\n')}
] as const;
`;
if (!process.argv.includes('--check')) writeFileSync(pathOf(FILE), generated);
else if (read(FILE) !== generated) {
  console.error(`${FILE} does not match ${GUIDE}. Run \`npm run generate\` and commit the result.`);
  process.exitCode = 1;
}
