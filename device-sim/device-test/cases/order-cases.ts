import { pause } from '../../timers.ts';
import { answerAfterSending, answersTo, answerTo, send, shownAck } from '../asking.ts';
import { Breach, LeftOut } from '../breach.ts';
import { type Effect, effectsOf, playOpposites } from '../effect.ts';
import type { Stage } from '../stage.ts';
import type { Case } from './case.ts';

/** Effects that take turns: the last one is that of no command right before it. */
const TURNS = [0, 1, 0, 1, 1, 0] as const;
const ROUNDS = 2;
/** A device that succeeds too early is done after this pause. */
const LATER_MILLISECONDS = 1000;
const NO_EFFECT = 'the device has no operation whose effect the service can see at once';

/** Whether the device has this effect in the end. */
async function hasLater({ timers, stopped }: Stage, effect: Effect, choice: 0 | 1): Promise<boolean> {
  await pause(timers, LATER_MILLISECONDS, stopped);
  return (await effect.read()) === choice;
}

/** Reads the effect of a command as soon as its success has arrived. A device that succeeds too early has it only later. */
async function doneAtSuccess(stage: Stage): Promise<string> {
  const [effect] = effectsOf(stage);
  if (!effect) throw new LeftOut(NO_EFFECT);
  for (const choice of [0, 1, 0] as const) {
    const command = effect.command(choice);
    const ack = await answerAfterSending(stage, command);
    if (ack.status === 'failed') throw new LeftOut(`the device answers ${command.operation}: ${shownAck(ack)}`);
    if ((await effect.read()) === choice) continue;
    if (!(await hasLater(stage, effect, choice))) throw new LeftOut(NO_EFFECT);
    const expected = `the effect of ${command.operation} ${JSON.stringify(command.parameters)} when its success arrives`;
    throw new Breach('answers', expected, 'that effect only later');
  }
  return '3 commands';
}

/** Sends commands with opposite effects at once: the effect of the last one must stay. */
async function order(stage: Stage): Promise<string> {
  const { effect } = await playOpposites(stage);
  for (let round = 0; round < ROUNDS; round += 1) {
    const commands = TURNS.map((choice) => effect.command(choice));
    const mark = stage.service.received.length;
    send(stage, commands);
    for (const command of commands) await answerTo(stage, command, { mark });
    const came = stage.service.received.slice(mark).flatMap(({ kind, body }) => {
      const of = kind === 'acks' && commands.find(({ transactionId }) => isAbout(body, transactionId));
      return of && answersTo(stage, of, mark).includes(body as never) ? [of.transactionId] : [];
    });
    const wanted = commands.map(({ transactionId }) => transactionId);
    if (new Set(came).size === wanted.length && [...new Set(came)].some((id, place) => id !== wanted[place]))
      throw new Breach('order', `answers in the order of the commands: ${wanted.join(', ')}`, came.join(', '));
    const final = TURNS.at(-1)!;
    if ((await effect.read()) === final || (await hasLater(stage, effect, final))) continue;
    const last = commands.at(-1);
    const expected = `the effect of the last of ${TURNS.length} commands, ${last?.operation} ${JSON.stringify(last?.parameters)}`;
    throw new Breach('order', expected, 'the effect of an earlier one');
  }
  return `${ROUNDS * TURNS.length} commands`;
}

const isAbout = (body: unknown, transactionId: number): boolean =>
  (body as { transactionId?: unknown } | undefined)?.transactionId === transactionId;

export const orderCases: Readonly<Record<string, Case>> = {
  'done-at-success': {
    about: 'the state is read as soon as the success of a command has arrived',
    rules: ['answers'],
    play: doneAtSuccess,
  },
  order: {
    about: 'six commands with opposite effects at once, after which the last one must have its effect',
    rules: ['order'],
    play: order,
  },
};
