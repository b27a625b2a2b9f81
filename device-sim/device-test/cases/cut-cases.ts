import { isDeepStrictEqual } from 'node:util';
import { answersTo, answerTo, harmless, send, stillAnswers } from '../asking.ts';
import { Breach } from '../breach.ts';
import { connected, type Stage } from '../stage.ts';
import type { Case } from './case.ts';

async function cutBeforePuback(stage: Stage): Promise<undefined> {
  const { commands, service } = stage;
  const command = harmless(stage);
  const before = service.logins;
  send(stage, [command], true);
  await nextLogin(stage, before);
  send(stage, [commands.repeated(command)]);
  await answerTo(stage, command);
}

/** Waits for another connection than those before. */
async function nextLogin(stage: Stage, before: number): Promise<void> {
  await stage.service.until(() => stage.service.logins > before, stage.settings.waitMs);
  await connected(stage);
}

async function cutAfterPuback(stage: Stage): Promise<undefined> {
  const { commands, service, settings } = stage;
  const command = harmless(stage);
  const before = service.logins;
  const [sent] = send(stage, [command]);
  if (sent) service.cutAfterPuback(sent);
  if (!(await service.until(() => sent?.confirmed, settings.answerMs)))
    throw new Breach('mqtt', `a PUBACK within ${settings.answerMs / 1000} s`, 'none', { isTimed: true });
  await nextLogin(stage, before);
  send(stage, [commands.repeated(command)]);
  await answerTo(stage, command);
}

async function unconfirmedAnswer(stage: Stage): Promise<undefined> {
  const { service, settings } = stage;
  const command = harmless(stage);
  service.withheld.add('acks');
  send(stage, [command]);
  const first = await answerTo(stage, command);
  const mark = service.received.length;
  service.cut();
  service.withheld.clear();
  await connected(stage);
  const again = await service.until(() => answersTo(stage, command, mark)[0], settings.answerMs);
  const expected = `the acknowledgement of ${command.transactionId} again after the connection, because it got no PUBACK`;
  if (!again) throw new Breach('unconfirmed-answers', expected, 'none', { isTimed: true });
  if (!isDeepStrictEqual(again, first)) throw new Breach('unconfirmed-answers', expected, JSON.stringify(again));
  await stillAnswers(stage, 'answers');
}

export const cutCases: Readonly<Record<string, Case>> = {
  'cut-before-puback': {
    about: 'the connection is cut right behind a command; the command comes again on the next one',
    rules: ['reconnect-pauses', 'answers'],
    play: cutBeforePuback,
  },
  'cut-after-puback': {
    about: 'the connection is cut between the PUBACK of a command and its answer; the command comes again',
    rules: ['reconnect-pauses', 'repeated-commands'],
    play: cutAfterPuback,
  },
  'unconfirmed-answer': {
    about: 'an acknowledgement gets no PUBACK, and the connection is cut',
    rules: ['unconfirmed-answers'],
    play: unconfirmedAnswer,
  },
};
