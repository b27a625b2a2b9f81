import { readFile } from 'node:fs/promises';
import type { Verdict } from '../report/record.ts';
import { pause, type Timers } from '../timers.ts';
import { type KeptOrder, keptOrder, orderVerdicts } from './kept-order.ts';
import type { Kind } from './kinds.ts';
import type { NumberedDevice } from './numbered.ts';

/** Kinds that a receiver accepts and may drop all the same, because it does not know their type. */
const MAY_BE_DROPPED: readonly Kind[] = ['unknown-type'];
const LOOK_MILLISECONDS = 100;
/** A complete list that has not changed for so long is the last one. */
const STILL_MILLISECONDS = 1000;
const MOST_TOLD = 5;
/** An id of a webhook in any text: a line of a file, or a member of JSON. */
const ID = /msg_\w+/g;

/** The webhooks that the receiver has accepted, and so must have kept. */
export interface Accepted {
  /** `about`: which webhook it is, in a story; by default its kind. */
  add(kind: Kind, webhookId: string, about?: string): void;
  all(): ReadonlyMap<string, string>;
}

export function createAccepted(): Accepted {
  const ids = new Map<string, string>();
  return {
    add(kind, webhookId, about = kind) {
      if (!MAY_BE_DROPPED.includes(kind) && !ids.has(webhookId)) ids.set(webhookId, about);
    },
    all: () => ids,
  };
}

/** The text of the list: a file, or the answer to a GET. */
async function textOf(place: string): Promise<string> {
  if (!/^https?:/.test(place)) return readFile(place, 'utf8');
  const answer = await fetch(place);
  if (!answer.ok) throw new Error(`${place} is answered ${answer.status}`);
  return answer.text();
}

interface Compared {
  readonly missing: readonly string[];
  readonly twice: readonly string[];
  readonly refused: readonly string[];
  /** Null: the order is not judged. */
  readonly order: KeptOrder | null;
}

/** The webhooks with which a list is compared; `device`: its order is judged as well. */
interface Sent {
  readonly accepted: ReadonlyMap<string, string>;
  readonly refused: ReadonlySet<string>;
  readonly device: NumberedDevice | null;
}

/** Compares the list with the webhooks that were accepted, and with those that had to be refused. */
function compare(text: string, { accepted, refused, device }: Sent): Compared {
  const times = new Map<string, number>();
  for (const [id] of text.matchAll(ID)) times.set(id, (times.get(id) ?? 0) + 1);
  return {
    missing: [...accepted.keys()].filter((id) => !times.has(id)),
    twice: [...times].flatMap(([id, count]) => (count > 1 && accepted.has(id) ? [id] : [])),
    refused: [...times.keys()].filter((id) => refused.has(id) && !accepted.has(id)),
    order: device && keptOrder(text, [...times.keys()], device),
  };
}

/**
 * Judges the list of the webhooks that the receiver has kept: each accepted one must be there, once, and none that it had to
 * refuse; with `device` the events of the device in order, and the numbers that never came. The receiver may write it a little
 * later than the answers, so it is read until it is complete and has not changed for a second. Rejects if it cannot be read.
 */
export async function keptVerdicts(
  place: string,
  sent: Sent,
  { timers, stopped, patience }: { timers: Timers; stopped: AbortSignal; patience: number },
): Promise<Verdict[]> {
  const { accepted, device } = sent;
  const until = timers.now() + patience;
  let text = await textOf(place);
  let found = compare(text, sent);
  let changedAt = timers.now();
  const isComplete = (): boolean => found.missing.length + (found.order?.untold.length ?? 0) === 0;
  const isStill = (): boolean => isComplete() && timers.now() - changedAt >= STILL_MILLISECONDS;
  while (!isStill() && timers.now() < until && !stopped.aborted) {
    await pause(timers, LOOK_MILLISECONDS, stopped);
    // A receiver that writes its list anew has no file for a moment.
    const next = await textOf(place).catch(() => text);
    if (next !== text) changedAt = timers.now();
    text = next;
    found = compare(text, sent);
  }
  const { missing, twice } = found;
  const story = [
    ...missing.map((id) => `${id} (${accepted.get(id)}): was answered 2xx, and is not in the list`),
    ...twice.map((id) => `${id} (${accepted.get(id)}): is in the list twice`),
    ...found.refused.map((id) => `${id}: is in the list, and had to be refused`),
  ];
  const wrong = missing.length + twice.length + found.refused.length;
  const kept: Verdict = {
    text: 'kept: each accepted webhook once, and no other',
    phase: null,
    holds: wrong === 0,
    measurable: true,
    value: wrong,
    shown: `${accepted.size - missing.length} of ${accepted.size}, ${twice.length} twice, ${found.refused.length} that had to be refused`,
    story: story.slice(0, MOST_TOLD),
  };
  return [kept, ...(found.order && device ? orderVerdicts(found.order, device) : [])];
}
