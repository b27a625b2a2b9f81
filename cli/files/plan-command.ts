import { writeFile } from 'node:fs/promises';
import type { Command } from '../line/command.ts';
import { Failure } from '../show/failure.ts';
import { jsonText } from '../show/json-text.ts';
import { ACCOUNT_OPTIONS, FILE_OPTION, FOLDER } from './files-options.ts';
import { withoutSecrets } from './hidden.ts';
import { openAccounts } from './open-accounts.ts';
import { makePlan } from './plan/make-plan.ts';
import { planJson } from './plan/plan-json.ts';
import { planText } from './plan/plan-text.ts';
import { readFolder } from './read/read-folder.ts';

/** The exit code of a plan with changes. */
const CHANGES = 3;

export const plan: Command = {
  name: 'plan',
  summary: 'Says what lapel apply would change, and changes nothing',
  about: `Compares the files with what is there: settings, endpoints, tags, packages and versions, continuous rollouts; with the
token of an administrator also developers, applications, people and enrolment batches. Objects of no file are not touched.
docs/configuration-files.md describes the files.

Exit codes: 0 nothing to change; 3 there are changes; 1 failure, a fault in a file, or a difference that an apply cannot make;
2 wrong command line; 130 interrupted (Ctrl-C).`,
  options: {
    ...FILE_OPTION,
    out: { value: 'FILE', file: true, text: 'also write the plan to this file, for lapel apply --plan' },
    ...ACCOUNT_OPTIONS,
  },
  examples: ['lapel plan', 'lapel plan -f lapel/ --out plan.json', 'lapel plan -f lapel/settings.yaml --json'],
  async run(given, terminal) {
    const { configuration, references } = await readFolder(given.text('file') ?? FOLDER, terminal.env);
    return withoutSecrets(references, async () => {
      const accounts = await openAccounts(configuration, given, terminal);
      const made = await makePlan(configuration, accounts, terminal);
      const json = planJson(made, accounts);
      const out = given.text('out');
      if (out !== undefined) await write(out, references.hide(`${jsonText(json, 2)}\n`));
      const number = made.refused.length;
      return {
        json: { ok: number === 0, ...json },
        text: planText(made, accounts),
        exitCode: made.steps.length > 0 ? CHANGES : 0,
        ...(number > 0 && { problem: `${number} ${number === 1 ? 'difference is' : 'differences are'} refused` }),
      };
    });
  },
};

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw new Failure(`cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}
