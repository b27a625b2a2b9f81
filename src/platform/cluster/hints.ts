/**
 * What nodes tell one another. Never a truth: whoever gets one looks into the database, and one that is lost is healed by a
 * look within seconds.
 * - wake: something is due for a device that is connected there
 * - cancel: the same, and it is the cancel of what the device may have
 * - close: a device that was connected there under an epoch below the one given is not any more
 * - changed: an application was changed
 * - due: a webhook is due for a receiver whose partition is there
 * - partitions: a partition can be had
 * - used: what a node lets through of a limit that all share
 */
export const HINT_KINDS = ['wake', 'cancel', 'close', 'changed', 'due', 'partitions', 'used'] as const;
export type HintKind = (typeof HINT_KINDS)[number];

export interface Hint {
  kind: HintKind;
  /** Of whom or what it speaks; no line breaks. */
  about: string;
}

/** Bytes of a notification: PostgreSQL takes less than 8000. */
const LONGEST = 7_900;

const LETTERS: Record<HintKind, string> = {
  wake: 'w',
  cancel: 'x',
  close: 'c',
  changed: 'a',
  due: 'd',
  partitions: 'p',
  used: 'u',
};
const KINDS = new Map(HINT_KINDS.map((kind) => [LETTERS[kind], kind]));

/** A hint as a line; two that say the same are the same line. */
export const toLine = ({ kind, about }: Hint): string => `${LETTERS[kind]}${about}`;

/** Lines in as few payloads as will hold them. */
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

/** The hints of a payload. What a newer release says, and this one does not know, is left out. */
export const fromPayload = (payload: string): Hint[] =>
  payload.split('\n').flatMap((line) => {
    const kind = KINDS.get(line[0] ?? '');
    return kind ? [{ kind, about: line.slice(1) }] : [];
  });
