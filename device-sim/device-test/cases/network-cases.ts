import type { Command } from '../../mqtt/messages.ts';
import { type Ack, answersTo, answerTo, carryOut, codeOf, send, shownAck } from '../asking.ts';
import { Breach, LeftOut } from '../breach.ts';
import { connected, isReady, need, type Stage, seconds } from '../stage.ts';
import type { Case } from './case.ts';

const RULE = 'former-networks';

/** Lists that lead nowhere, by operation. */
const WRONG = {
  setWifi: { networks: [{ ssid: 'a network that nobody has', password: 'correct horse', security: 'WPA2' }] },
  setApn: { apns: [{ name: 'Nowhere', apn: 'nowhere.invalid' }] },
} as const;
type NetworkOperation = keyof typeof WRONG;

/** Milliseconds, and the share of the time, by which the device may go back later than the command says. */
const SLACK_MILLISECONDS = 1000;
const SLACK_SHARE = 1.1;

/** Sends a list to try, and waits until the device has left the connection that it had. */
async function leaves(stage: Stage, operation: NetworkOperation, parameters: object, revertAfter: number) {
  const { service, settings, commands } = stage;
  const command = commands.next(operation, { ...parameters, revertAfter });
  const mark = service.received.length;
  send(stage, [command]);
  const early = () => answersTo(stage, command, mark)[0];
  const hasLeft = await service.until(() => early() ?? !service.isOnline, settings.answerMs);
  const expected = 'the end of the connection, to reach the service with the new list, before an answer';
  const ack = early();
  if (ack) throw new Breach(RULE, expected, shownAck(ack));
  if (!hasLeft) throw new Breach(RULE, expected, 'none', { isTimed: true });
  return { command, mark };
}

/** The answer over the new connection, on which the device gets the command again, as from a service. */
async function answerOnReturn(stage: Stage, command: Command, mark: number): Promise<Ack> {
  await connected(stage, { rule: RULE });
  send(stage, [stage.commands.repeated(command)]);
  return answerTo(stage, command, { mark, rule: RULE });
}

/** Gives the device its good list, so that it has a former one. Returns the list. */
async function begins(stage: Stage, operation: NetworkOperation): Promise<object> {
  need(stage, operation);
  if (!isReady(stage.service)) await connected(stage);
  const good = stage.settings.networks[operation];
  const { ack } = await carryOut(stage, operation, good);
  need(stage, operation);
  if (ack.status === 'failed') throw new LeftOut(`the device answers its good list with ${shownAck(ack)}`);
  return good;
}

async function tries(stage: Stage, operation: NetworkOperation): Promise<string> {
  const good = await begins(stage, operation);
  const time = Math.max(stage.settings.revertAfter, Math.ceil(stage.settings.waitMs / 1000));
  const { command, mark } = await leaves(stage, operation, good, time);
  const ack = await answerOnReturn(stage, command, mark);
  if (ack.status === 'failed') throw new Breach(RULE, 'succeeded, because the service was reached', shownAck(ack));
  return shownAck(ack);
}

async function goesBack(stage: Stage, operation: NetworkOperation): Promise<string> {
  const { service, settings, timers } = stage;
  await begins(stage, operation);
  const { revertAfter, waitMs } = settings;
  const limit = 1000 * revertAfter * SLACK_SHARE + SLACK_MILLISECONDS;
  let opensAt = Number.POSITIVE_INFINITY;
  // A device without a radio would reach the service with any list.
  service.door.accepts = () => timers.now() >= opensAt;
  try {
    const { logins } = service;
    const { command, mark } = await leaves(stage, operation, WRONG[operation], revertAfter);
    opensAt = timers.now() + limit;
    await service.until(() => service.logins > logins, limit + waitMs);
    service.door.accepts = undefined;
    const ack = await answerOnReturn(stage, command, mark);
    if (codeOf(ack) !== 'REVERTED')
      throw new Breach(RULE, `failed REVERTED, because the service was away for ${seconds(limit)}`, shownAck(ack));
    return shownAck(ack);
  } finally {
    service.door.accepts = undefined;
  }
}

const caseOf = (about: string, play: (stage: Stage) => Promise<string>): Case => ({ about, rules: [RULE], play });

export const networkCases: Readonly<Record<string, Case>> = {
  'tried-wifi': caseOf('setWifi with `revertAfter`, and a list with which the device reaches the service', (stage) =>
    tries(stage, 'setWifi'),
  ),
  'reverted-wifi': caseOf('setWifi with `revertAfter`, and a list with which it does not', (stage) =>
    goesBack(stage, 'setWifi'),
  ),
  'tried-apn': caseOf('setApn with `revertAfter`, and a list with which the device reaches the service', (stage) =>
    tries(stage, 'setApn'),
  ),
  'reverted-apn': caseOf('setApn with `revertAfter`, and a list with which it does not', (stage) =>
    goesBack(stage, 'setApn'),
  ),
};
