import type { AdminOperations } from '@lapel/client/admin-operations';
import { adminRequest } from '@lapel/client/admin-request';
import { Interrupted } from '../../line/interrupted.ts';
import { Failure } from '../../show/failure.ts';
import type { Terminal } from '../../show/terminal.ts';
import { Conflict } from './conflict.ts';
import type { Accounts } from './make-plan.ts';
import type { Kind, Plan, Step } from './plan.ts';
import { stepJson } from './plan-json.ts';
import { titleOf } from './plan-text.ts';

/** The entries of the audit log that are looked through for the author of a change. */
const LATEST = 20;

interface Entry {
  resource: string;
  sentence: string;
  at: string;
  status: number | null;
}

const OF_ADMINISTRATION = new Set<Kind>(['developer', 'application', 'member', 'enrolment batch', 'person']);

async function latest(kind: Kind, { application, administration }: Accounts): Promise<readonly Entry[]> {
  const query = { limit: LATEST };
  const what = 'read the audit log';
  if (!OF_ADMINISTRATION.has(kind))
    return (await application?.call(what, (lapel) => lapel.listOwnAudit({ query })))?.entries ?? [];
  const answer = await administration?.request(what, adminRequest('listAudit', { query }));
  return (answer as AdminOperations['listAudit']['answer'] | undefined)?.entries ?? [];
}

/** Says who made the latest change of an object, as far as the audit log shows it to this account. */
async function authorOf({ resource, kind }: Step, accounts: Accounts): Promise<string | null> {
  try {
    const found = (await latest(kind, accounts)).find(
      (entry) => entry.resource.endsWith(resource) && entry.status !== null && entry.status < 300,
    );
    return found ? `${found.at}: ${found.sentence}` : null;
  } catch {
    return null; // the account may not read the log; the conflict is told all the same
  }
}

/**
 * Makes the changes of a plan, one after the other. It can be left at any point: the next plan has what is left. Throws a
 * Failure, with what was done; an interruption takes effect between two steps.
 */
export async function carryOut(
  { steps }: Pick<Plan, 'steps'>,
  accounts: Accounts,
  { terminal, onDone }: { terminal: Terminal; onDone: (step: Step) => void },
): Promise<void> {
  const done: Step[] = [];
  const report = (): object => ({
    applied: done.map(stepJson),
    left: steps.slice(done.length).map(stepJson),
  });
  for (const step of steps) {
    if (terminal.interrupted.aborted)
      throw new Interrupted(
        `interrupted after ${done.length} of ${steps.length} changes`,
        'lapel plan shows what is left to do',
      );
    try {
      await step.carryOut();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const author = error instanceof Conflict ? await authorOf(step, accounts) : null;
      const told = new Failure(`${titleOf(step)}: ${error.message}`, {
        ...(error.refusal && { refusal: error.refusal }),
        advice: [
          ...(author === null ? [] : [`the latest change: ${author}`]),
          ...error.advice,
          `${done.length} of ${steps.length} changes were made before`,
        ],
        passing: error.passing,
        cause: error,
      });
      told.done = { ...report(), conflict: error instanceof Conflict };
      throw told;
    }
    done.push(step);
    onDone(step);
  }
}
