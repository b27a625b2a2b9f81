import type { Command } from '../mqtt/messages.ts';
import { isRecord } from '../mqtt/messages.ts';
import { type Ack, answerAfterSending, carryOut } from './asking.ts';
import { LeftOut } from './breach.ts';
import { isWanted, reconnected, type Stage } from './stage.ts';

/** Two commands with opposite effects, and a way to see which of them the device has carried out last. */
export interface Effect {
  /** A new command; 0 and 1 are opposites. */
  command(choice: 0 | 1): Command;
  /** The effect that the device has now; undefined if it does not show any. */
  read(): Promise<0 | 1 | undefined>;
}

const choiceOf = (index: number): 0 | 1 | undefined => (index === 0 || index === 1 ? index : undefined);

/** Bluetooth is switched on or off, and the device is asked for its state. */
const bluetooth = (stage: Stage): Effect => ({
  command: (choice) => stage.commands.next('setConnectivityState', { type: 'bluetooth', enabled: choice === 1 }),
  async read() {
    const { ack } = await carryOut(stage, 'getConnectivityState', { type: 'bluetooth' });
    return ack.status === 'succeeded' && isRecord(ack.result)
      ? choiceOf([false, true].indexOf(ack.result['enabled'] as boolean))
      : undefined;
  },
});

const LANGUAGES = ['de-DE', 'ja-JP'];

/** The first status report from now on. */
async function nextStatus({ service, settings }: Stage, mark: number): Promise<Record<string, unknown> | undefined> {
  const found = await service.until(
    () => service.received.slice(mark).find(({ kind }) => kind === 'status'),
    settings.answerMs,
  );
  return isRecord(found?.body) ? found.body : undefined;
}

/** Cuts the connection, and returns the status that the device reports on the next one. */
export async function statusOfNextConnection(stage: Stage): Promise<Record<string, unknown> | undefined> {
  const mark = stage.service.received.length;
  await reconnected(stage);
  return nextStatus(stage, mark);
}

/** The language is changed, and the status that the device reports at its next connection shows it. */
const language = (stage: Stage): Effect => ({
  command: (choice) => stage.commands.next('setLanguage', { lang: LANGUAGES[choice]! }),
  async read() {
    const status = await statusOfNextConnection(stage);
    return choiceOf(LANGUAGES.indexOf(status?.['lang'] as string));
  },
});

const EFFECTS = [
  { operations: ['setConnectivityState', 'getConnectivityState'], create: bluetooth },
  { operations: ['setLanguage'], create: language },
] as const;

/** The effects of two commands that were carried out one after the other, the second with effect 1. */
export interface Played {
  readonly effect: Effect;
  readonly commands: readonly [Command, Command];
  readonly answers: readonly [Ack, Ack];
}

/** The effects whose commands the device has, as far as is known; the one that can be read at once is the first. */
export const effectsOf = (stage: Stage): Effect[] =>
  EFFECTS.filter(({ operations }) =>
    operations.every((name) => isWanted(stage, name) && !stage.unsupported.has(name)),
  ).map(({ create }) => create(stage));

/** Lets the device do two commands with opposite effects. Leaves the case out if the device shows no effect. */
export async function playOpposites(stage: Stage): Promise<Played> {
  for (const effect of effectsOf(stage)) {
    const commands = [effect.command(0), effect.command(1)] as const;
    const answers = [
      await answerAfterSending(stage, commands[0]),
      await answerAfterSending(stage, commands[1]),
    ] as const;
    if (answers.every(({ status }) => status === 'succeeded') && (await effect.read()) === 1)
      return { effect, commands, answers };
  }
  throw new LeftOut('the device has no operation whose effect the service can see (Bluetooth, language)');
}
