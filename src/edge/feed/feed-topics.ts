import { DomainError } from '@lapel/schemas/contracts/errors';

/** The topics of a stream of the feed. */
export interface FeedTopics {
  fleet: boolean;
  /** The devices of the topic `devices`, by deviceId. */
  devices: ReadonlySet<string>;
  /** All transactions, or the ones with these transactionIds. */
  transactions: 'all' | ReadonlySet<number>;
  receivers: boolean;
  /** The newest entry of the audit log. */
  audit: boolean;
  /** The versions of the topic `software`, as `PACKAGE@VERSION`. */
  software: ReadonlySet<string>;
  /** The rollouts of the topic `rollouts`, by rolloutId. */
  rollouts: ReadonlySet<string>;
  /** The devices whose messages are shown. */
  messages: ReadonlySet<string>;
}

/** The most names that a stream may list after each topic. */
export const MOST_NAMES = { devices: 200, transactions: 200, software: 20, rollouts: 4, device: 4 } as const;
type Named = keyof typeof MOST_NAMES;

const DEVICE = /^\d{15}$/;
const ROLLOUT = /^rol_[0-9a-f]{32}$/;
const NAMES: Record<Named, (name: string) => boolean> = {
  devices: (name) => DEVICE.test(name),
  device: (name) => DEVICE.test(name),
  transactions: (name) => /^[1-9]\d{0,15}$/.test(name) && Number.isSafeInteger(Number(name)),
  rollouts: (name) => ROLLOUT.test(name),
  software: (name) => /^[^@]{1,255}@[^@]{1,255}$/.test(name),
};
const WITHOUT_NAMES: ReadonlySet<string> = new Set(['fleet', 'transactions', 'receivers', 'audit']);

const invalid = (msg: string, type: string): DomainError =>
  DomainError.invalid({ loc: ['query', 'topics'], msg, type });

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return '';
  }
}

/** Reads the names of a topic. Throws REQUEST_INVALID. */
function readNames(topic: Named, text: string): string[] {
  const names = text.split(';').map(decoded);
  if (names.length > MOST_NAMES[topic])
    throw invalid(`${topic} should have at most ${MOST_NAMES[topic]} names`, 'string_too_long');
  const odd = names.find((name) => !NAMES[topic](name));
  if (odd !== undefined) throw invalid(`${topic} has a malformed name`, 'string_pattern_mismatch');
  return names;
}

/**
 * Reads `fleet,transactions,devices:ID;ID,device:ID,software:PACKAGE@VERSION`: topics separated by commas. The names of
 * a topic follow a colon and are separated by semicolons, each percent-encoded. Throws REQUEST_INVALID.
 */
export function readTopics(text: string): FeedTopics {
  const names: Record<Named, Set<string>> = {
    devices: new Set(),
    transactions: new Set(),
    software: new Set(),
    rollouts: new Set(),
    device: new Set(),
  };
  const whole = new Set<string>();
  for (const part of text.split(',')) {
    const [topic = '', ...rest] = part.split(':');
    if (rest.length === 0 && WITHOUT_NAMES.has(topic)) whole.add(topic);
    else if (rest.length === 1 && Object.hasOwn(names, topic)) {
      const named = topic as Named;
      for (const name of readNames(named, rest[0] ?? '')) names[named].add(name);
      if (names[named].size > MOST_NAMES[named]) throw invalid(`${topic} has too many names`, 'string_too_long');
    } else throw invalid('Input should be topics of the feed', 'string_pattern_mismatch');
  }
  return {
    fleet: whole.has('fleet'),
    receivers: whole.has('receivers'),
    audit: whole.has('audit'),
    transactions: whole.has('transactions') ? 'all' : new Set([...names.transactions].map(Number)),
    devices: names.devices,
    software: names.software,
    rollouts: names.rollouts,
    messages: names.device,
  };
}
