import { answerAfterSending, answersTo, answerTo, harmless, send } from '../asking.ts';
import { Breach } from '../breach.ts';
import { installOf } from '../install.ts';
import { need, type Stage } from '../stage.ts';
import type { Case } from './case.ts';

async function lateCancel(stage: Stage): Promise<undefined> {
  const { commands } = stage;
  const done = harmless(stage);
  await answerAfterSending(stage, done);
  const never = harmless(stage);
  send(stage, [commands.cancelOf(done), commands.cancelOf(never)]);
  // The device handles messages in their order, so an answer to a cancel would come before this one.
  await answerAfterSending(stage, harmless(stage), { rule: 'cancel' });
  const [extra] = answersTo(stage, never);
  if (answersTo(stage, done).length > 1 || extra)
    throw new Breach('cancel', 'no answer to a cancel', JSON.stringify(extra ?? answersTo(stage, done)[1]));
}

/** The time in which a device that does not wait begins a download. */
const QUIET_MILLISECONDS = 300;

async function cancelledCommand(stage: Stage): Promise<string> {
  need(stage, 'installSoftware');
  const { commands, service, settings } = stage;
  const running = installOf(stage, { isHeld: true });
  const waiting = installOf(stage);
  send(stage, [running.command]);
  const started = await service.until(
    () => running.file.requests > 0 || answersTo(stage, running.command).length > 0,
    settings.answerMs,
  );
  if (running.file.requests === 0)
    throw new Breach('downloads', 'a download of the file', started ? 'an answer without a download' : 'none', {
      isTimed: started === undefined,
    });
  const [, cancel] = send(stage, [waiting.command, commands.cancelOf(waiting.command)]);
  await service.until(() => cancel?.confirmed, settings.answerMs);
  // A device that does two installations at a time begins the second one now. It may have begun it before the cancel.
  const hadBegun = await service.until(() => waiting.file.requests > 0, QUIET_MILLISECONDS);
  running.file.release();
  await answerTo(stage, running.command, { times: 4 });
  await answerAfterSending(stage, harmless(stage));
  const [answer] = answersTo(stage, waiting.command);
  if (hadBegun) return 'the device does two installations at a time';
  if (answer)
    throw new Breach('cancel', 'no answer to a command that was cancelled before it began', JSON.stringify(answer));
  if (waiting.file.requests > 0)
    throw new Breach(
      'cancel',
      'no download after the cancel',
      'the device has downloaded the file of the cancelled command',
    );
  return 'installSoftware';
}

export const cancelCases: Readonly<Record<string, Case>> = {
  'late-cancel': {
    about: 'the cancel of a command that is finished, and of one that the device never got',
    rules: ['cancel'],
    play: lateCancel,
  },
  'cancelled-command': {
    about: 'the cancel of an installation that waits behind another one',
    rules: ['cancel'],
    play: cancelledCommand,
  },
};
