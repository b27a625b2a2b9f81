import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openAdministration, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import { exportAdministration } from './export/administration-file.ts';
import { exportEndpoints, exportSettings } from './export/application-files.ts';
import { editorSchemaText } from './export/editor-schema.ts';
import { exportRollouts } from './export/rollout-files.ts';
import { exportPackages } from './export/software-files.ts';
import { type ExportedFile, SCHEMA_FILE, yamlOf } from './export/write-yaml.ts';
import { ACCOUNT_OPTIONS, FOLDER } from './files-options.ts';

const EXPORTS = [exportSettings, exportEndpoints, exportPackages, exportRollouts];

export const exportFiles: Command = {
  name: 'export',
  summary: 'Writes the files of lapel apply from what is there',
  about: `Writes settings, endpoints, packages and continuous rollouts of an application; with --admin also developers,
applications, people and enrolment batches. No secret is written: a comment says where a reference is needed. Beside them is
lapel.schema.json, with which editors complete and check the files. lapel plan is empty afterwards.`,
  options: {
    file: { value: 'FOLDER', short: 'f', file: true, text: `the folder to write to (${FOLDER})` },
    admin: { text: 'also the objects of administration; needs the token of an administrator' },
    'only-admin': { text: 'only the objects of administration' },
    schema: { text: 'only write lapel.schema.json' },
    replace: { text: 'replace files that exist' },
    ...ACCOUNT_OPTIONS,
  },
  examples: ['lapel export -f lapel/', 'lapel export -f lapel/ --admin --replace', 'lapel export --schema'],
  async run(given, terminal) {
    const folder = given.text('file') ?? FOLDER;
    const files: ExportedFile[] = [];
    if (!given.flag('schema') && !given.flag('only-admin')) {
      const application = await openApplication(given, terminal);
      for (const make of EXPORTS) files.push(await make(application));
    }
    if (!given.flag('schema') && (given.flag('admin') || given.flag('only-admin')))
      files.push(await exportAdministration(await openAdministration(given, terminal)));
    const texts = [
      ...files.map((file) => ({ name: file.name, text: yamlOf(file), notes: file.notes })),
      { name: SCHEMA_FILE, text: editorSchemaText(), notes: [] },
    ];
    const taken = texts.find(({ name }) => name !== SCHEMA_FILE && existsSync(join(folder, name)));
    if (taken && !given.flag('replace'))
      throw new UsageError('--replace', `is needed to replace ${join(folder, taken.name)}; nothing was written`);
    try {
      await mkdir(folder, { recursive: true });
      for (const { name, text } of texts) await writeFile(join(folder, name), text);
    } catch (error) {
      throw new Failure(`cannot write to ${folder}: ${(error as Error).message}`, { cause: error });
    }
    const written = texts.map(({ name, notes }) => ({ file: join(folder, name), notes: [...notes] }));
    const lines = written.flatMap(({ file, notes }) => [file, ...notes.map((note) => `  ${note}`)]);
    return { json: { ok: true, files: written }, text: lines.map((line) => `${oneLine(line)}\n`).join('') };
  },
};
