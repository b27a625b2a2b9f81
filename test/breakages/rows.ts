import type { Breakage } from './breakage.ts';
import { BREAKAGES } from './breakages.ts';
import { PLAYS } from './plays.ts';
import type { Tried } from './try-breakages.ts';
import type { Unbroken } from './try-unbroken.ts';

const widest = (names: readonly string[]): number => Math.max(...names.map((name) => name.length));
const PLAY = widest(Object.keys(PLAYS));
const NAME = widest(BREAKAGES.map(({ name }) => name));
const LONGEST = 160;

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
const seconds = (value: number): string => `${value.toFixed(1).padStart(5)} s`;

/** One breakage, for `--list`. */
export const listRow = ({ name, kind, play, about }: Breakage): string =>
  `${name.padEnd(NAME)} ${kind.padEnd(15)} ${play.padEnd(PLAY)}  ${about}`;

const stateOf = ({ found, isBroken }: Tried): string => (found ? 'found' : isBroken ? 'BROKEN' : 'MISSED');

/** The result of one breakage, when it is there: the expectation that shows it, and the story. */
export const breakageRow = (tried: Tried): string[] => [
  `${stateOf(tried).padEnd(6)} ${tried.breakage.name}  (${tried.breakage.play},${seconds(tried.seconds)})`,
  `         ${cut(tried.text)}`,
  ...(tried.story === '' ? [] : [`         ${cut(tried.story)}`]),
];

/** The table of all breakages, by kind, and their sum. */
export function closing(tried: readonly Tried[]): string[] {
  const kinds = [...new Set(tried.map(({ breakage }) => breakage.kind))];
  const rows = kinds.flatMap((kind) => [
    '',
    kind,
    ...tried
      .filter(({ breakage }) => breakage.kind === kind)
      .map((one) => {
        const { breakage, text } = one;
        return `  ${stateOf(one).padEnd(6)} ${breakage.name.padEnd(NAME)} ${breakage.play.padEnd(PLAY)} ${seconds(one.seconds)}  ${cut(text)}`;
      }),
  ]);
  const found = tried.filter((one) => one.found).length;
  return [...rows, '', `${found} of ${tried.length} breakages were found`];
}

/** The result of one run without a fault. */
export const unbrokenRow = ({ name, outcome, seconds: took, texts }: Unbroken): string[] => [
  `${outcome.padEnd(7)} ${name.padEnd(PLAY)} ${seconds(took)}`,
  ...texts.map((text) => `         ${cut(text)}`),
];

export function unbrokenClosing(played: readonly Unbroken[]): string[] {
  const count = (wanted: Unbroken['outcome']): number => played.filter(({ outcome }) => outcome === wanted).length;
  return [`${played.length} runs: ${count('alarm')} false alarms, ${count('not run')} NOT RUN`];
}
