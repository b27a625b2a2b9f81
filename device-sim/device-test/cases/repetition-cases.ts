import { answerAfterSending, answerTo, codeOf, harmless, repeatOf, send, shownAck } from '../asking.ts';
import { Breach } from '../breach.ts';
import { type Played, playOpposites } from '../effect.ts';
import type { RuleName } from '../rules.ts';
import type { Stage } from '../stage.ts';
import type { Case } from './case.ts';

/** Repeats the command whose effect was undone since, and checks that the device does not carry it out again. */
export async function repeatUndone(
  stage: Stage,
  { effect, commands, answers }: Played,
  rule: RuleName = 'once',
): Promise<void> {
  const [undone] = commands;
  const before = await effect.read();
  await repeatOf(stage, undone, answers[0]);
  const after = await effect.read();
  if (after === before) return;
  const text = `${undone.operation} ${JSON.stringify(undone.parameters)}`;
  throw new Breach(rule, `no second effect of the repeated command ${text}`, 'the device has carried it out again');
}

async function repeatedCommand(stage: Stage): Promise<string> {
  const played = await playOpposites(stage);
  await repeatUndone(stage, played);
  return played.commands[0].operation;
}

async function reissuedNumber(stage: Stage): Promise<undefined> {
  const first = harmless(stage);
  await answerAfterSending(stage, first);
  // A device that takes it for a repetition answers with the first acknowledgement.
  const other = stage.commands.reissued(first, 'operationOfTomorrow', {});
  const ack = await answerAfterSending(stage, other, { rule: 'command-identity' });
  if (ack.status === 'failed' && codeOf(ack) === 'UNSUPPORTED') return;
  const expected = 'failed UNSUPPORTED, because another issuedAt makes another command';
  throw new Breach('command-identity', expected, `${shownAck(ack)}, the answer to the former command`);
}

/** The number of commands whose answers a device must remember. */
const REMEMBERED = 1000;
/** The number of commands that the service sends to a device before it waits for an answer. */
const WINDOW = 16;

async function memory(stage: Stage): Promise<string> {
  const played = await playOpposites(stage);
  for (let sent = 2; sent < REMEMBERED; sent += WINDOW) {
    const count = Math.min(WINDOW, REMEMBERED - sent);
    const commands = Array.from({ length: count }, () => stage.commands.next('operationOfTomorrow', {}));
    const mark = stage.service.received.length;
    send(stage, commands);
    for (const command of commands) await answerTo(stage, command, { mark });
  }
  await repeatUndone(stage, played, 'memory');
  return `${REMEMBERED} commands`;
}

export const repetitionCases: Readonly<Record<string, Case>> = {
  'repeated-command': {
    about: 'a command again with a higher `attempt`, after another command has undone its effect',
    rules: ['repeated-commands', 'once'],
    play: repeatedCommand,
  },
  'reissued-number': {
    about: 'the transactionId of an answered command with another issuedAt, as after a restore of the service',
    rules: ['command-identity'],
    play: reissuedNumber,
  },
  'thousand-answers': {
    about: 'a command again after a thousand others',
    rules: ['memory'],
    when: 'last',
    isLong: true,
    play: memory,
  },
};
