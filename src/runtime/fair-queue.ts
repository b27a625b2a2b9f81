/** What a key may take before the next one has its turn. */
const QUANTUM = 1;

/** One key among those beside it: what waits under it is either its items or further lanes. */
interface Lane<Item> {
  readonly key: string;
  readonly above: Lane<Item> | undefined;
  /** Its keys, by name; only those under which something waits, or that have taken more than their share. */
  readonly lanes: Map<string, Lane<Item>>;
  /** The last of the circle of these; the one behind it is next. */
  tail: Lane<Item> | undefined;
  next: Lane<Item> | undefined;
  items: { item: Item; cost: number }[];
  /** How many of the items are taken. */
  taken: number;
  /** How many wait under it. */
  size: number;
  /** What it may still take in this round; below zero it has taken more than that. */
  balance: number;
}

const createLane = <Item>(key: string, above?: Lane<Item>): Lane<Item> => ({
  key,
  above,
  lanes: new Map(),
  tail: undefined,
  next: undefined,
  items: [],
  taken: 0,
  size: 0,
  balance: 0,
});

// So many items that were taken are kept at the head of a list before it is cut.
const CUT_AT = 64;

export type FairQueue<Item> = ReturnType<typeof createFairQueue<Item>>;

/**
 * A queue in which whatever waits takes turns by whose it is: deficit round robin, on each level of a path (developer,
 * application, device). Each key with work gets the same share of its level, whatever the number of its connections or the
 * length of its queue; what costs more than a turn is paid for with the turns after it. What has the same path, and what has
 * the same last key, is taken in the order in which it was put; so the last key of a path is the name of one thing.
 */
export function createFairQueue<Item>() {
  let root = createLane<Item>('');
  /** The lanes of last keys, under which something waits. */
  const leaves = new Map<string, Lane<Item>>();

  function laneOf(above: Lane<Item>, key: string): Lane<Item> {
    const known = above.lanes.get(key);
    if (known) return known;
    const made = createLane(key, above);
    above.lanes.set(key, made);
    const { tail } = above;
    made.next = tail?.next ?? made;
    if (tail) tail.next = made;
    above.tail = made;
    return made;
  }

  /** The head of the circle goes. */
  function removeHead(above: Lane<Item>, head: Lane<Item>): void {
    above.lanes.delete(head.key);
    if (head.next === head) above.tail = undefined;
    else if (above.tail) above.tail.next = head.next;
  }

  function takeItem(leaf: Lane<Item>): { item: Item; cost: number } {
    const taken = leaf.items[leaf.taken];
    if (!taken) throw new Error('nothing waits under this key');
    leaf.taken += 1;
    if (leaf.taken === leaf.items.length || leaf.taken >= CUT_AT) {
      leaf.items = leaf.items.slice(leaf.taken);
      leaf.taken = 0;
    }
    if (leaf.items.length === 0) leaves.delete(leaf.key);
    return taken;
  }

  function takeFrom(lane: Lane<Item>): { item: Item; cost: number } {
    lane.size -= 1;
    if (!lane.tail) return takeItem(lane);
    for (;;) {
      const head = lane.tail.next as Lane<Item>;
      const isAlone = head === lane.tail;
      if (!isAlone && head.balance <= 0) head.balance += QUANTUM;
      if (head.size === 0 && (isAlone || head.balance >= 0)) {
        removeHead(lane, head); // it has paid for what it took
        continue;
      }
      if (!isAlone && (head.balance <= 0 || head.size === 0)) {
        lane.tail = head;
        continue;
      }
      const taken = takeFrom(head);
      // Nobody waited for what it takes alone; but whoever comes now is next.
      head.balance = isAlone ? -QUANTUM : head.balance - taken.cost;
      if (head.size === 0 && (isAlone || head.balance >= 0)) removeHead(lane, head);
      else if (head.balance <= 0) lane.tail = head;
      return taken;
    }
  }

  return {
    /** How many wait. */
    size: (): number => root.size,

    put(path: readonly string[], item: Item, cost = 1): void {
      const last = path.at(-1) ?? '';
      let lane = leaves.get(last);
      if (!lane) {
        lane = path.reduce(laneOf, root);
        leaves.set(last, lane);
      }
      lane.items.push({ item, cost });
      for (let at: Lane<Item> | undefined = lane; at; at = at.above) at.size += 1;
    },

    /** The next one, undefined when nothing waits. */
    take(): Item | undefined {
      if (root.size === 0) return undefined;
      const { item } = takeFrom(root);
      if (root.size === 0) root = createLane(''); // what was taken too much was taken from nobody
      return item;
    },
  };
}

/** Carries one piece of work out at a time; those that wait take turns by whose they are, a path of a fair queue. */
export function createFairTurns() {
  const waiting = createFairQueue<() => void>();
  let busy = false;

  return async <Result>(whose: readonly string[], work: () => Promise<Result>): Promise<Result> => {
    if (busy) await new Promise<void>((resolve) => waiting.put(whose, resolve));
    busy = true;
    try {
      return await work();
    } finally {
      const next = waiting.take();
      if (next) next();
      else busy = false;
    }
  };
}
