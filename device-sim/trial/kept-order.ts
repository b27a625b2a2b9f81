import type { Verdict } from '../report/record.ts';
import type { NumberedDevice } from './numbered.ts';

const MOST_TOLD = 5;
/** A line of the list about a number that never came: `missing:490154203237518:42`. */
const MISSING = /missing:(\d{15}):(\d+)/g;

/** The order of the events of a device in the list of a receiver, and the numbers that it misses. */
export interface KeptOrder {
  /** The ids that stand behind one with a higher number. */
  readonly disordered: readonly string[];
  readonly inOrder: number;
  /** The numbers that never came, and are not in the list. */
  readonly untold: readonly number[];
  /** The numbers in the list that came. */
  readonly wronglyTold: readonly number[];
}

/** Reads the order of a list. `ids` has the webhook-ids in it, in their order. */
export function keptOrder(text: string, ids: readonly string[], device: NumberedDevice): KeptOrder {
  const disordered: string[] = [];
  let [highest, inOrder] = [0, 0];
  for (const id of ids) {
    const number = device.numberOf(id);
    if (number === undefined) continue;
    if (number < highest) disordered.push(id);
    else inOrder += 1;
    highest = Math.max(highest, number);
  }
  const told = new Set(
    [...text.matchAll(MISSING)].flatMap(([, deviceId, number]) =>
      deviceId === device.deviceId ? [Number(number)] : [],
    ),
  );
  return {
    disordered,
    inOrder,
    untold: [...device.missing].filter((number) => !told.has(number)),
    wronglyTold: [...told].filter((number) => !device.missing.has(number)),
  };
}

/** Judges the order of a list, and the numbers that it names as missing. */
export function orderVerdicts(
  { disordered, inOrder, untold, wronglyTold }: KeptOrder,
  { deviceId, numberOf, missing }: NumberedDevice,
): Verdict[] {
  const verdict = (text: string, value: number, shown: string, story: readonly string[]): Verdict => ({
    text,
    phase: null,
    holds: value === 0,
    measurable: true,
    value,
    shown,
    story: story.slice(0, MOST_TOLD),
  });
  return [
    verdict(
      'order: the events of a device by their numbers',
      disordered.length,
      `${inOrder} in order, ${disordered.length} behind a later one`,
      disordered.map((id) => `${id} (number ${numberOf(id)} of device ${deviceId}): is in the list behind a later one`),
    ),
    verdict(
      'gaps: each number that never came, and no other',
      untold.length + wronglyTold.length,
      `${missing.size - untold.length} of ${missing.size}, ${wronglyTold.length} that came`,
      [
        ...untold.map((number) => `missing:${deviceId}:${number} is not in the list, and the number never came`),
        ...wronglyTold.map((number) => `missing:${deviceId}:${number} is in the list, and the number came`),
      ],
    ),
  ];
}
