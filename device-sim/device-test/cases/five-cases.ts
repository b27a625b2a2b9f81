import { answersTo, answerTo, harmless, send, stillAnswers } from '../asking.ts';
import { Breach, LeftOut } from '../breach.ts';
import { type Reason, shownCode } from '../five.ts';
import { connected, isReady, type Stage, seconds } from '../stage.ts';
import type { Case } from './case.ts';

const ABOVE_THE_RATE: Reason = { code: 0x97, text: 'too many messages per second' };
const AT_FAULT: Reason = { code: 0x99, text: 'the message is not as its schema says' };
const MOVED: Reason = { code: 0x9c, text: 'the device has, or gets, its connection at another node: connect again' };
const TAKEN_OVER: Reason = { code: 0x8e, text: 'the device has a newer connection' };
/** A device that sends a refused message more often does not understand the refusal. */
const MOST_TIMES = 5;
/** The part of the time for an answer in which a refused message must not come again so often. */
const WATCHED = 1 / 3;

function needFive({ service }: Stage): void {
  if (service.connectedBy?.version !== '5') throw new LeftOut('the device does not speak MQTT 5');
}

async function aboveTheRate(stage: Stage): Promise<undefined> {
  needFive(stage);
  const { service, settings } = stage;
  const command = harmless(stage);
  if (!isReady(service)) await connected(stage);
  service.refusing.set('acks', ABOVE_THE_RATE);
  try {
    send(stage, [command]);
    await answerTo(stage, command);
  } finally {
    service.refusing.clear();
  }
  if (!(await service.until(() => answersTo(stage, command).length > 1, settings.answerMs)))
    throw new Breach('reason-codes', 'the acknowledgement again, because its PUBACK had 0x97', 'none', {
      isTimed: true,
    });
  await stillAnswers(stage, 'answers');
}

async function refusedMessage(stage: Stage): Promise<string> {
  needFive(stage);
  const { service, settings } = stage;
  const command = harmless(stage);
  if (!isReady(service)) await connected(stage);
  const times = (): number => answersTo(stage, command).length;
  service.refusing.set('acks', AT_FAULT);
  try {
    send(stage, [command]);
    await answerTo(stage, command);
    await service.until(() => times() > MOST_TIMES, settings.answerMs * WATCHED);
  } finally {
    service.refusing.clear();
  }
  if (times() > MOST_TIMES)
    throw new Breach('reason-codes', 'no repetition of a message whose PUBACK had 0x99', `the same ${times()} times`);
  await stillAnswers(stage, 'reason-codes');
  return `sent ${times() === 1 ? 'once' : `${times()} times`}`;
}

async function goesOn(stage: Stage, reason: Reason): Promise<undefined> {
  needFive(stage);
  const { service, settings } = stage;
  const before = service.logins;
  service.disconnect(reason);
  if (!(await service.until(() => service.logins > before, settings.waitMs))) {
    const expected = `another connection within ${seconds(settings.waitMs)} of a DISCONNECT ${shownCode(reason.code)}`;
    throw new Breach('disconnects', expected, 'none', { isTimed: true });
  }
  await connected(stage);
  await stillAnswers(stage, 'answers');
}

export const fiveCases: Readonly<Record<string, Case>> = {
  'moved-away': {
    about: 'the service ends the connection with 0x9C, as when it moves the device to another node (MQTT 5)',
    rules: ['disconnects'],
    play: (stage) => goesOn(stage, MOVED),
  },
  'taken-over': {
    about: 'the service ends the connection with 0x8E, as when the device had a newer one (MQTT 5)',
    rules: ['disconnects'],
    play: (stage) => goesOn(stage, TAKEN_OVER),
  },
  'above-the-rate': {
    about: 'the PUBACK of an acknowledgement has 0x97: it must come again (MQTT 5)',
    rules: ['reason-codes'],
    play: aboveTheRate,
  },
  'refused-message': {
    about: 'the PUBACK of an acknowledgement has 0x99: it must not come again and again (MQTT 5)',
    rules: ['reason-codes'],
    play: refusedMessage,
  },
};
