import { isDeepStrictEqual } from 'node:util';
import type { Command } from '../../mqtt/messages.ts';
import { answerAfterSending, answersTo, answerTo, carryOut, codeOf, harmless, send, shownAck } from '../asking.ts';
import { Breach } from '../breach.ts';
import { isWanted, need, type Stage } from '../stage.ts';
import { EXTREMES, ORDINARY } from '../values.ts';
import type { Case } from './case.ts';

type Plain = keyof typeof ORDINARY;

async function playOperation(stage: Stage, operation: Plain): Promise<string> {
  need(stage, operation);
  // A device pairs only while its Bluetooth is on.
  if (operation === 'pairBluetooth' && isWanted(stage, 'setConnectivityState'))
    await carryOut(stage, 'setConnectivityState', ORDINARY.setConnectivityState);
  const { ack } = await carryOut(stage, operation, ORDINARY[operation]);
  // Other cases need an activated device, for instance because a device without an activation sends no events.
  if (operation === 'deactivate' && isWanted(stage, 'activate')) await carryOut(stage, 'activate', ORDINARY.activate);
  return shownAck(ack);
}

/** The names are inherited by every object of JavaScript, so that a careless table of operations contains them. */
const UNKNOWN = ['operationOfTomorrow', 'constructor', 'toString', '__proto__'];

async function unknownOperation(stage: Stage): Promise<undefined> {
  for (const operation of UNKNOWN) {
    const { ack } = await carryOut(stage, operation, {});
    if (ack.status === 'failed' && codeOf(ack) === 'UNSUPPORTED') continue;
    throw new Breach('unknown-parts', `the answer failed UNSUPPORTED to the operation "${operation}"`, shownAck(ack));
  }
}

const EXTRA = { ofTomorrow: { nested: [1, null, 'x'] }, constructor: 'a member of tomorrow' };

async function unknownMembers(stage: Stage): Promise<string> {
  const plain = harmless(stage);
  const before = await answerAfterSending(stage, plain);
  const command = stage.commands.next(plain.operation, plain.parameters);
  const strange = { ...command, ...EXTRA, parameters: { ...command.parameters, ...EXTRA } };
  const mark = stage.service.received.length;
  stage.service.publish('commands', [JSON.stringify(strange)]);
  const ack = await answerTo(stage, command, { mark, rule: 'unknown-parts' });
  if (shownAck(ack) === shownAck(before)) return shownAck(ack);
  throw new Breach('unknown-parts', `${shownAck(before)}, as without unknown members`, shownAck(ack));
}

/** Only a device that succeeds with ordinary values must succeed with extreme ones. */
async function limits(stage: Stage): Promise<string> {
  const able = new Map<Plain, boolean>();
  let tried = 0;
  for (const { operation, about, parameters, mayFail } of EXTREMES) {
    if (!isWanted(stage, operation) || stage.unsupported.has(operation)) continue;
    if (!able.has(operation))
      able.set(operation, (await carryOut(stage, operation, ORDINARY[operation])).ack.status === 'succeeded');
    if (!able.get(operation) && !mayFail) continue;
    tried += 1;
    const ack = await answerAfterSending(stage, stage.commands.next(operation, parameters), { rule: 'values' });
    if (ack.status === 'failed' && !mayFail)
      throw new Breach('values', `success of ${operation} with ${about}`, JSON.stringify(ack));
  }
  for (const operation of ['activate', 'setLanguage'] as const)
    if (able.get(operation)) await carryOut(stage, operation, ORDINARY[operation]);
  return `${tried} commands`;
}

/** Numbers that 31, 32 and 53 bits can no longer hold, and the largest one. */
const LARGE = [2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1];

async function largeNumbers(stage: Stage): Promise<undefined> {
  for (const transactionId of LARGE) {
    const { operation, parameters } = harmless(stage);
    const command = stage.commands.next(operation, parameters, transactionId);
    await answerAfterSending(stage, command, { rule: 'large-numbers' });
  }
}

const BURST = 16;

/** Sends as many commands at once as the service ever does. Half of them are unknown to the device. */
async function burst(stage: Stage): Promise<string> {
  const { service, settings } = stage;
  const commands = Array.from(
    { length: BURST },
    (_, index): Command => (index % 2 === 0 ? harmless(stage) : stage.commands.next('operationOfTomorrow', {})),
  );
  const sent = send(stage, commands);
  for (const command of commands) await answerTo(stage, command);
  await service.until(() => sent.every((one) => one.confirmed), settings.answerMs);
  const expected = sent.map(({ messageId }) => messageId);
  const came = service.confirmations.filter((messageId) => expected.includes(messageId));
  if (!isDeepStrictEqual(came, expected))
    throw new Breach(
      'mqtt',
      `PUBACKs in the order of the messages [MQTT-4.6.0-2]: ${expected.join(', ')}`,
      came.join(', ') || 'none',
    );
  await answerAfterSending(stage, harmless(stage));
  for (const command of commands) {
    const { length } = answersTo(stage, command);
    if (length > 1) throw new Breach('answers', `one answer to command ${command.transactionId}`, `${length} answers`);
  }
  return `${BURST} commands`;
}

const oneOperation = (operation: Plain): Case => ({
  about: `${operation} is answered with its documented result, or fails with a code`,
  rules: ['answers', 'messages'],
  ...(operation === 'activate' && { when: 'first' }),
  play: (stage) => playOperation(stage, operation),
});

export const operationCases: Readonly<Record<string, Case>> = {
  ...Object.fromEntries((Object.keys(ORDINARY) as Plain[]).map((name) => [name, oneOperation(name)])),
  'unknown-operation': {
    about: 'four operations that no document names',
    rules: ['unknown-parts'],
    play: unknownOperation,
  },
  'unknown-members': {
    about: 'a command with members that no document names, at the top and in its parameters',
    rules: ['unknown-parts'],
    play: unknownMembers,
  },
  limits: {
    about: 'commands with the longest, the shortest and empty values, and with Unicode',
    rules: ['values'],
    play: limits,
  },
  burst: {
    about: 'sixteen commands at once, the most that the service ever sends',
    rules: ['answers', 'mqtt'],
    play: burst,
  },
  'large-numbers': {
    about: 'transactionIds of more than 31 bits, up to 2^53 - 1',
    rules: ['large-numbers'],
    when: 'last',
    strayRule: 'large-numbers',
    play: largeNumbers,
  },
};
