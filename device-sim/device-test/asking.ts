import { isDeepStrictEqual } from 'node:util';
import { type Command, isRecord } from '../mqtt/messages.ts';
import { Breach, NotPlayed } from './breach.ts';
import type { Sent } from './outflow.ts';
import type { RuleName } from './rules.ts';
import { connected, isReady, isWanted, reconnected, type Stage, seconds } from './stage.ts';
import { ORDINARY } from './values.ts';

/** The final answer of the device to a command. */
export interface Ack {
  readonly status: 'succeeded' | 'failed';
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

export const codeOf = ({ error }: Ack): string => (typeof error?.code === 'string' ? error.code : 'without a code');
export const shownAck = (ack: Ack): string => (ack.status === 'failed' ? `failed ${codeOf(ack)}` : 'succeeded');

/** Sends commands in one piece; they need an open connection. `isLast`: cuts the connection right behind them. */
export function send({ service, contract }: Stage, commands: readonly Command[], isLast = false): Sent[] {
  if (!service.isOnline) throw new NotPlayed('the connection ended before a command could be sent');
  for (const command of commands) {
    const faults = contract.operations.includes(command.operation) ? contract.commandFaults(command) : [];
    if (faults.length > 0) throw new Error(`the test made a wrong command: ${faults.join('; ')}`);
  }
  return service.publish(
    'commands',
    commands.map((command) => JSON.stringify(command)),
    isLast,
  );
}

/** The final answers to a command among the messages from `mark` on. */
export function answersTo({ service }: Stage, { transactionId }: Command, mark = 0): Ack[] {
  return service.received.slice(mark).flatMap(({ kind, body }) => {
    if (kind !== 'acks' || !isRecord(body) || body['transactionId'] !== transactionId) return [];
    return body['status'] === 'succeeded' || body['status'] === 'failed' ? [body as unknown as Ack] : [];
  });
}

const shownCommand = ({ transactionId, operation, attempt }: Command): string =>
  `${operation} ${transactionId}${attempt > 1 ? `, attempt ${attempt}` : ''}`;

/**
 * Waits for the final answer to a command. If the device connects again meanwhile, it gets the command again, as from a
 * service. `mark`: the number of messages that had arrived before the command was sent.
 */
export async function answerTo(
  stage: Stage,
  command: Command,
  { mark = 0, rule = 'answers' as RuleName, times = 1 } = {},
): Promise<Ack> {
  const { service, settings, stopped, contract, timers } = stage;
  const limit = settings.answerMs * times;
  const deadline = timers.now() + limit;
  const found = (): Ack | undefined => answersTo(stage, command, mark)[0];
  let { logins } = service;
  let sent = command;
  const isAgain = (): boolean => service.logins > logins && isReady(service);
  while (await service.until(() => found() ?? isAgain(), deadline - timers.now())) {
    if (found()) break;
    logins = service.logins;
    sent = stage.commands.repeated(sent);
    send(stage, [sent]);
  }
  const ack = found();
  if (!ack) {
    if (stopped.aborted) throw new NotPlayed('the test was interrupted');
    const expected = `an answer to ${shownCommand(command)} within ${seconds(limit)}`;
    const came = service.isOnline ? 'none' : 'none; the device is not connected';
    throw new Breach(rule, expected, came, { isTimed: true });
  }
  const { operation } = command;
  const [fault] = ack.status === 'succeeded' ? contract.resultFaults(operation, ack.result) : [];
  if (fault) throw new Breach('answers', `the documented result of ${operation}`, fault);
  if (ack.status === 'failed' && ack.error?.code === 'UNSUPPORTED') stage.unsupported.add(operation);
  return ack;
}

/** Sends a new command and waits for its answer. */
export async function carryOut(
  stage: Stage,
  operation: string,
  parameters: Command['parameters'],
): Promise<{ command: Command; ack: Ack }> {
  const command = stage.commands.next(operation, parameters);
  const ack = await answerAfterSending(stage, command);
  return { command, ack };
}

/** Sends a command, or sends it again, and waits for the answer to it. */
export async function answerAfterSending(
  stage: Stage,
  command: Command,
  options: { rule?: RuleName; times?: number } = {},
): Promise<Ack> {
  if (!isReady(stage.service)) await connected(stage);
  const mark = stage.service.received.length;
  send(stage, [command]);
  return answerTo(stage, command, { mark, ...options });
}

/** Repeats a command on a new connection, as the service does, and checks that its answer is the first one again. */
export async function repeatOf(stage: Stage, command: Command, first: Ack): Promise<void> {
  await reconnected(stage);
  const ack = await answerAfterSending(stage, stage.commands.repeated(command), { rule: 'repeated-commands' });
  if (isDeepStrictEqual(ack, first)) return;
  const [expected, came] = [JSON.stringify(first), JSON.stringify(ack)];
  throw new Breach('repeated-commands', `the first answer again: ${expected}`, came);
}

/** The operations that are quick and change nothing that matters to the person at the device, the best first. */
const HARMLESS = ['activate', 'getConnectivityState', 'setLanguage'] as const;

/** A new command that any device can do at any time; an unknown operation if --operations leaves nothing else. */
export function harmless(stage: Stage): Command {
  const operation = HARMLESS.find((name) => isWanted(stage, name));
  return stage.commands.next(operation ?? 'deviceTestPing', operation ? ORDINARY[operation] : {});
}

/** Checks that the device still answers: sends a harmless command and waits for its answer. */
export async function stillAnswers(stage: Stage, rule: RuleName): Promise<void> {
  if (!stage.service.isOnline) await connected(stage, { rule });
  await answerAfterSending(stage, harmless(stage), { rule });
}
