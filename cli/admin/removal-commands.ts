import { adminRequest } from '@lapel/client/admin-request';
import { ADMIN_OPTIONS, type Administration, openAdministration } from '../account/access.ts';
import type { Command, Outcome } from '../line/command.ts';
import type { Given } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import { createScreen, type Terminal } from '../show/terminal.ts';
import { type Contents, contentsText, progressLine, type Removal, removalText } from './removal-text.ts';

/** Milliseconds between two reads. */
const PAUSE = 500;
const FAILURES_IN_A_ROW = 15;

const OPTIONS = {
  confirm: { value: 'ID', text: 'the identifier again, instead of typing it when the command asks' },
  'no-wait': { text: 'end when the removal is accepted; it goes on' },
  ...ADMIN_OPTIONS,
} satisfies Options;

/** Follows a removal to its end. On a terminal a line shows its progress; elsewhere a line is printed for each step. */
async function follow(administration: Administration, removalId: string, terminal: Terminal): Promise<Outcome> {
  const { interrupted, pause, stderr } = terminal;
  const screen = createScreen(stderr);
  let step: Removal['step'] = null;
  let failures = 0;
  try {
    while (!interrupted.aborted) {
      try {
        const request = { ...adminRequest('readRemoval', { removalId }), signal: interrupted };
        const removal = (await administration.request(`read removal ${removalId}`, request)) as Removal;
        failures = 0;
        if (removal.state === 'ended') return { json: { ok: true, ...removal }, text: removalText(removal) };
        screen.show([progressLine(removal)]);
        if (!screen.live && removal.step !== null && removal.step !== step) screen.line(progressLine(removal));
        step = removal.step;
      } catch (error) {
        if (interrupted.aborted) break;
        failures += 1;
        if (!(error instanceof Failure) || !error.passing || failures === FAILURES_IN_A_ROW) throw error;
        if (failures === 1) screen.line(oneLine(`${error.message}; trying again`));
      }
      await pause(PAUSE, interrupted).catch(() => undefined);
    }
  } finally {
    screen.show([]);
  }
  throw new Interrupted(
    `Removal ${removalId} goes on without this command; it cannot be stopped.`,
    `  lapel admin removal watch ${removalId}`,
  );
}

/** The text with which the person confirms: from the option, or typed at the terminal. */
async function confirmation(given: Given, id: string, { ask }: Terminal): Promise<string> {
  const said = given.text('confirm') ?? (await ask?.(`Type ${id} to remove all of it: `, { hidden: false }));
  if (said === undefined)
    throw new UsageError('--confirm', `is needed: there is no terminal at which ${id} can be typed`);
  if (said !== id) throw new Failure(`not confirmed: this is not ${id}; nothing was removed`);
  return said;
}

interface Kind {
  word: 'developer' | 'application';
  about: string;
  contents(id: string): ReturnType<typeof adminRequest>;
  remove(id: string, confirmation: string): ReturnType<typeof adminRequest>;
}

const commandOf = ({ word, about, contents, remove }: Kind): Command => ({
  name: `admin ${word} remove`,
  arguments: [{ name: word.toUpperCase() }],
  summary: `Removes ${word === 'developer' ? 'a developer' : 'an application'} with everything that belongs to it`,
  about,
  options: OPTIONS,
  examples: [
    `lapel admin ${word} remove ${word === 'developer' ? 'acme' : 'patrol'}`,
    `lapel admin ${word} remove ${word === 'developer' ? 'acme --confirm acme' : 'patrol --confirm patrol'} --no-wait --json`,
  ],
  endsItself: true,
  async run(given, terminal) {
    const [id = ''] = given.positionals;
    const administration = await openAdministration(given, terminal);
    const found = (await administration.request(`count what belongs to ${word} ${id}`, contents(id))) as Contents;
    createScreen(terminal.stderr).line(
      `The removal of ${word} ${oneLine(id)} cannot be undone. Removed will be:\n${contentsText(found, word === 'application')}`.trimEnd(),
    );
    const typed = await confirmation(given, id, terminal);
    const removal = (await administration.request(`remove ${word} ${id}`, remove(id, typed))) as Removal;
    if (given.flag('no-wait')) return { json: { ok: true, ...removal }, text: removalText(removal) };
    return follow(administration, removal.removalId, terminal);
  },
});

const STOPS = `The command shows what there is, and asks for the identifier. From the acceptance on all access has ended; the
rest is removed in the background, also after a restart of the service. It cannot be stopped or undone, and nobody is
notified. Ctrl-C ends this command only.`;

export const REMOVAL_COMMANDS: readonly Command[] = [
  commandOf({
    word: 'developer',
    about: `${STOPS}

Removed are the developer, its applications, devices, transactions, webhook deliveries, rollouts, packages and binaries. The
entries of the audit log stay.`,
    contents: (developerId) => adminRequest('readDeveloperContents', { developerId }),
    remove: (developerId, text) => adminRequest('removeDeveloper', { developerId, body: { confirmation: text } }),
  }),
  commandOf({
    word: 'application',
    about: `${STOPS}

Removed are the application, its transactions, webhook deliveries and rollouts. Its devices are deactivated without being
asked; devices and packages belong to the developer and stay. The entries of the audit log stay.`,
    contents: (applicationId) => adminRequest('readApplicationContents', { applicationId }),
    remove: (applicationId, text) => adminRequest('removeApplication', { applicationId, body: { confirmation: text } }),
  }),
];

export const removalWatch: Command = {
  name: 'admin removal watch',
  arguments: [{ name: 'REMOVAL' }],
  summary: 'Follows a removal until everything is removed',
  options: ADMIN_OPTIONS,
  examples: ['lapel admin removal watch rem_0193480f3a5b00112233445566778899'],
  endsItself: true,
  async run(given, terminal) {
    const [removalId = ''] = given.positionals;
    return follow(await openAdministration(given, terminal), removalId, terminal);
  },
};
