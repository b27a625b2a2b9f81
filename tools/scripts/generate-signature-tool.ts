// Writes what the console's signature tool needs: a copy of the code that explains signatures, which the command line uses,
// too, and the code of docs/verify-webhooks.md in five languages. With --check it writes nothing, and fails when a file is
// out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const CODE = 'cli/webhook/explain-signature.ts';
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
const outputs = {
  'console/base/explain-signature.ts': `// Copied from ${CODE} by \`npm run generate\`; edit that instead.
${read(CODE).split('\n').slice(2).join('\n')}`,
  'console/base/verification.ts': `// Generated from ${GUIDE} by \`npm run generate\`; edit that instead.
// biome-ignore-all format: generated

/** Code that verifies webhooks, by its language. */
export const VERIFICATION = [
${rows.join('\n')}
] as const;
`,
};
for (const [file, generated] of Object.entries(outputs)) {
  if (!process.argv.includes('--check')) writeFileSync(pathOf(file), generated);
  else if (read(file) !== generated) {
    console.error(`${file} does not match ${GUIDE} and ${CODE}. Run \`npm run generate\` and commit the result.`);
    process.exitCode = 1;
  }
}
