/**
 * The hints that nodes send to one another. No work depends on a hint alone: the node that gets one reads the database,
 * and after a lost hint the regular check (heal.ts) finds the work within seconds.
 * - wake: a command is due for a device that is connected to the node that gets the hint
 * - crossed: that command came by a call to the sender; the commands of rollouts all come from the node that leads
 * - cancel: a cancel is due for such a device
 * - close: a device that was connected to that node has a newer connection elsewhere, with the given epoch
 * - changed: an application was changed
 * - due: a webhook is due for a receiver in one of that node's partitions
 * - partitions: a partition is free, and may be taken
 * - held, released: the undelivered commands of a rollout are held, or not any more; a number that rises follows the id
 * - people: a person, a token or a session of administration was changed; `members`: a person of a developer
 * - missed: hints to that node were dropped, so it must look for the work itself
 * - keys: the encryption keys were changed, or are to be read again
 * - signing: the keys that sign access tokens were changed
 * - authority: a device CA was revoked, so connections with its certificates must end
 * - used: how much the sender has let through of each limit that all nodes share; only nodes of the former release send it
 */
export const HINT_KINDS = [
  'wake',
  'crossed',
  'cancel',
  'close',
  'changed',
  'due',
  'partitions',
  'held',
  'released',
  'people',
  'missed',
  'keys',
  'signing',
  'authority',
  'used',
] as const;
export type HintKind = (typeof HINT_KINDS)[number];

export interface Hint {
  kind: HintKind;
  /** The device, receiver or limit of the hint; without line breaks. */
  about: string;
}

/** The most bytes in a notification: PostgreSQL takes less than 8000. */
const LONGEST = 7_900;

const LETTERS: Record<HintKind, string> = {
  wake: 'w',
  crossed: 'o',
  cancel: 'x',
  close: 'c',
  changed: 'a',
  due: 'd',
  partitions: 'p',
  held: 'h',
  released: 'r',
  people: 'm',
  missed: 'l',
  keys: 'k',
  signing: 's',
  authority: 'v',
  used: 'u',
};
const KINDS = new Map(HINT_KINDS.map((kind) => [LETTERS[kind], kind]));

/** A hint as a line; equal hints have equal lines. */
export const toLine = ({ kind, about }: Hint): string => `${LETTERS[kind]}${about}`;

/** Packs lines into as few payloads as possible. */
export function toPayloads(lines: Iterable<string>): string[] {
  const payloads: string[] = [];
  let payload = '';
  let bytes = 0;
  for (const line of lines) {
    const more = Buffer.byteLength(line) + 1;
    if (bytes > 0 && bytes + more > LONGEST) {
      payloads.push(payload);
      payload = '';
      bytes = 0;
    }
    payload += bytes > 0 ? `\n${line}` : line;
    bytes += more;
  }
  if (bytes > 0) payloads.push(payload);
  return payloads;
}

/** The hints of a payload. Kinds that only a newer release knows are left out. */
export const fromPayload = (payload: string): Hint[] =>
  payload.split('\n').flatMap((line) => {
    const kind = KINDS.get(line[0] ?? '');
    return kind ? [{ kind, about: line.slice(1) }] : [];
  });
