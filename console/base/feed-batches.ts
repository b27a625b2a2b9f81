/** The most names of a topic in one stream, as the service allows (`MOST_NAMES` of src/edge/feed/feed-topics.ts). */
const MOST: Readonly<Record<string, number>> = {
  devices: 200,
  transactions: 200,
  software: 20,
  rollouts: 4,
  device: 4,
};

interface Batch {
  /** The names of each topic; none for a topic that is followed as a whole. */
  topics: Map<string, Set<string>>;
}

const nameOf = (topic: string): string => topic.split(':', 1)[0]!;
/** The encoded names that a topic lists after its colon. */
const namesOf = (topic: string): string[] => topic.split(':')[1]?.split(';') ?? [];

/**
 * Whether a batch has room for a topic. A stream of all transactions begins with the newest ones only, so a stream that
 * follows single ones is another.
 */
function fits({ topics }: Batch, topic: string): boolean {
  const [name, names] = [nameOf(topic), namesOf(topic)];
  const known = topics.get(name);
  if (known === undefined) return true;
  if ((known.size === 0) !== (names.length === 0)) return false;
  return new Set([...known, ...names]).size <= (MOST[name] ?? 0) || names.length === 0;
}

/** Collects the topics of all windows into as few streams as possible. Each text is the query of one stream. */
export function batchesOf(topics: readonly string[]): string[] {
  const batches: Batch[] = [];
  for (const topic of [...new Set(topics)].sort()) {
    let batch = batches.find((one) => fits(one, topic));
    if (!batch) {
      batch = { topics: new Map() };
      batches.push(batch);
    }
    const name = nameOf(topic);
    batch.topics.set(name, new Set([...(batch.topics.get(name) ?? []), ...namesOf(topic)]));
  }
  return batches.map((batch) =>
    [...batch.topics].map(([name, names]) => (names.size === 0 ? name : `${name}:${[...names].join(';')}`)).join(','),
  );
}

/** Whether a change belongs to a topic. The keys of messages are running numbers; their values name the device. */
export function covers(
  topic: string,
  { topic: of, key, value }: { topic: string; key: string; value: unknown },
): boolean {
  if (nameOf(topic) !== of) return false;
  const names = namesOf(topic);
  const name = of === 'device' ? (value as { deviceId: string }).deviceId : key;
  return names.length === 0 || names.some((one) => decodeURIComponent(one) === name);
}
