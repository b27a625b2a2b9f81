import { isRecord } from '../../mqtt/messages.ts';
import { runCommand } from '../../run-command.ts';
import { stillAnswers } from '../asking.ts';
import { Breach, NotPlayed } from '../breach.ts';
import { playOpposites } from '../effect.ts';
import { connected, type Stage } from '../stage.ts';
import type { Case } from './case.ts';
import { repeatUndone } from './repetition-cases.ts';

const idOf = (body: unknown): unknown => (isRecord(body) ? body['eventId'] : undefined);

async function unconfirmedEvent(stage: Stage): Promise<string> {
  const { service, settings } = stage;
  service.withheld.add('events');
  stage.ask('Let the device send an event now, for instance by its button.');
  const event = await service.until(
    () => service.received.find(({ kind }) => kind === 'events'),
    settings.byHandMs ?? 0,
  );
  if (!event) throw new NotPlayed('no event came');
  const mark = service.received.length;
  service.cut();
  service.withheld.clear();
  await connected(stage);
  const isSame = ({ kind, body }: { kind: string; body: unknown }): boolean =>
    kind === 'events' && idOf(body) === idOf(event.body);
  if (!(await service.until(() => service.received.slice(mark).some(isSame), settings.answerMs)))
    throw new Breach('events', `the event ${String(idOf(event.body))} again, because it got no PUBACK`, 'none', {
      isTimed: true,
    });
  await stillAnswers(stage, 'answers');
  return isRecord(event.body) ? String(event.body['type']) : '';
}

async function restart(stage: Stage): Promise<string> {
  const { service, settings } = stage;
  const played = await playOpposites(stage);
  const before = service.logins;
  const { restartCommand, byHandMs, waitMs } = settings;
  if (restartCommand === null) stage.ask('Switch the device off now, without a shutdown if possible, and on again.');
  else {
    const failed = await runCommand(restartCommand, { stopped: stage.stopped, withinMs: waitMs });
    if (failed !== undefined) throw new NotPlayed(failed);
  }
  const patience = restartCommand === null ? (byHandMs ?? 0) : waitMs;
  if (!(await service.until(() => service.logins > before, patience)))
    throw new NotPlayed('the device was not restarted');
  await connected(stage);
  await repeatUndone(stage, played);
  return played.commands[0].operation;
}

export const byHandCases: Readonly<Record<string, Case>> = {
  'unconfirmed-event': {
    about: 'an event gets no PUBACK, and the connection is cut',
    rules: ['events'],
    when: 'last',
    isByHand: true,
    play: unconfirmedEvent,
  },
  restart: {
    about: 'a command again after the device was switched off and on',
    rules: ['once', 'repeated-commands'],
    when: 'last',
    isByHand: true,
    isRestart: true,
    play: restart,
  },
};
