import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Command } from '../line/command.ts';
import { readJson } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';
import { lookOf } from '../show/look.ts';
import { createScreen } from '../show/terminal.ts';
import { ACCOUNT_OPTIONS, FILE_OPTION, FOLDER } from './files-options.ts';
import { withoutSecrets } from './hidden.ts';
import { openAccounts } from './open-accounts.ts';
import { carryOut } from './plan/carry-out.ts';
import { makePlan } from './plan/make-plan.ts';
import { planJson, stepJson } from './plan/plan-json.ts';
import { planText, summaryOf, titleOf } from './plan/plan-text.ts';
import { readFolder } from './read/read-folder.ts';

type Saved = Partial<SchemaTypes['files/plan']>;

const PAST = { create: 'created', change: 'changed', replace: 'replaced', remove: 'removed' } as const;

export const apply: Command = {
  name: 'apply',
  summary: 'Makes the changes of lapel plan, so that what is there is as the files say',
  about: `Shows the plan, asks, and makes the changes one after the other. Each is refused if the object is not as the plan has
seen it: then somebody else has changed it meanwhile, and nothing further is done. It can be interrupted at any point; a
second apply does what is left. An apply of what is there changes nothing.

Exit codes: 0 all is as the files say; 1 failure, a conflict, a fault in a file, or a difference that an apply cannot make;
2 wrong command line, or nobody was there to say yes; 130 interrupted (Ctrl-C).`,
  options: {
    ...FILE_OPTION,
    yes: { text: 'do not ask; needed where there is no terminal' },
    plan: {
      value: 'FILE',
      file: true,
      text: 'only if the plan is still the one that lapel plan --out wrote to this file',
    },
    ...ACCOUNT_OPTIONS,
  },
  examples: ['lapel apply -f lapel/', 'lapel apply -f lapel/ --yes --json', 'lapel apply --plan plan.json --yes'],
  endsItself: true,
  async run(given, terminal) {
    const { stderr, env, ask } = terminal;
    const { configuration, references } = await readFolder(given.text('file') ?? FOLDER, env);
    return withoutSecrets(references, async () => {
      const path = given.text('plan');
      const saved = path === undefined ? undefined : ((await readJson('--plan', path, terminal)) as Saved);
      if (saved !== undefined && saved.format !== 'lapel-plan-1')
        throw new UsageError('--plan', `${String(path)} was not written by lapel plan --out`);
      const accounts = await openAccounts(configuration, given, terminal);
      const made = await makePlan(configuration, accounts, terminal);
      const json = planJson(made, accounts);
      if (saved !== undefined && saved.digest !== json.digest)
        throw new Failure(`the plan is not the one in ${String(path)} any more; nothing was changed`, {
          advice: ['the files, or what is there, have changed since: make and read another plan'],
        });
      const words = references.hide(planText(made, accounts)(lookOf(stderr, env)));
      if (made.refused.length > 0) {
        stderr.write(words);
        const failure = new Failure('the plan has differences that an apply cannot make; nothing was changed');
        failure.done = { ...json, applied: [] };
        throw failure;
      }
      if (made.steps.length > 0) {
        stderr.write(words);
        if (!given.flag('yes')) {
          if (ask === null) throw new UsageError('--yes', 'is needed without a terminal; nothing was changed');
          const answer = await ask('Make these changes? [y/N] ', { hidden: false });
          if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('not applied; nothing was changed');
        }
      }
      const screen = createScreen(stderr);
      await carryOut(made, accounts, {
        terminal,
        onDone: (step) => screen.line(references.hide(`${PAST[step.action]} ${titleOf(step)}`)),
      });
      return {
        json: { ok: true, ...json, applied: made.steps.map(stepJson) },
        text: made.steps.length === 0 ? `${summaryOf(made)}\n` : `applied: ${summaryOf(made)}\n`,
      };
    });
  },
};
