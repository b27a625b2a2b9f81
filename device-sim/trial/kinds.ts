/** The kinds of webhooks that the customer's receiver gets, with the answer that it must give. */
export const KINDS = {
  genuine: { answer: 'accepted', about: 'a webhook as the service sends it' },
  'forged-signature': { answer: 'refused', about: 'signed with another key' },
  'changed-body': { answer: 'refused', about: 'its deviceId was changed after signing' },
  'old-timestamp': { answer: 'refused', about: 'well signed, but more than five minutes ago' },
  'two-signatures': {
    answer: 'accepted',
    about: 'signed with two keys, the receiver has the second, as while a key is replaced',
  },
  twice: { answer: 'accepted', about: 'the same webhook again, with the same webhook-id' },
  'out-of-order': { answer: 'accepted', about: 'two events, the later one first' },
  late: { answer: 'accepted', about: 'an event of more than a day ago, signed now' },
  'unknown-members': { answer: 'accepted', about: 'members in the data that no document names' },
  'unknown-type': { answer: 'accepted', about: 'a type of event that no document names' },
  'large-body': { answer: 'accepted', about: '256 KiB, the largest event of a device' },
  'other-spacing': { answer: 'accepted', about: 'the same content with spaces and line ends between its parts' },
  'device-in-order': { answer: 'accepted', about: 'three events of a device, by their numbers' },
  'device-twice': { answer: 'accepted', about: 'two events of a device, the first one twice' },
  'device-late': { answer: 'accepted', about: 'three events of a device, the second one last' },
  'device-gap': { answer: 'accepted', about: 'two events of a device, and the number between them never' },
  burst: { answer: 'accepted', about: 'up to 500 webhooks within a second, as many as this machine can send' },
} as const satisfies Record<string, { answer: 'accepted' | 'refused'; about: string }>;

export type Kind = keyof typeof KINDS;
/** Kinds that only the simulator sends, to test the receiver. */
export type Misdeed = Exclude<Kind, 'genuine'>;

export const ALL_KINDS = Object.keys(KINDS) as Kind[];
export const MISDEEDS = ALL_KINDS.filter((kind) => kind !== 'genuine') as Misdeed[];

/** The time in which a receiver must answer. */
export const ANSWER_MILLISECONDS = 15_000;
