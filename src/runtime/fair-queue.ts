/** The cost that a key may use up in one turn. An item has a cost; the default is 1. */
const QUANTUM = 1;

/**
 * One key of a path, such as one developer. A key on the last level of a path holds items; any other key holds the keys
 * of the next level.
 */
interface Branch<Item> {
  readonly key: string;
  readonly parent: Branch<Item> | undefined;
  /** The keys of the next level, by name. A key stays here while it has items, or a negative `balance`. */
  readonly children: Map<string, Branch<Item>>;
  /**
   * The keys of the next level form a circle, in the order of their turns. This is the key whose turn comes last;
   * `tail.next` has the next turn.
   */
  tail: Branch<Item> | undefined;
  next: Branch<Item> | undefined;
  items: { item: Item; cost: number }[];
  /** The number of items at the head of `items` that were taken already. */
  taken: number;
  /** The number of items of this key and of all keys below it. */
  size: number;
  /**
   * The cost that this key may still use up before the next key has its turn. When it is negative, the key loses its
   * next turns until it is 0.
   */
  balance: number;
}

const createBranch = <Item>(key: string, parent?: Branch<Item>): Branch<Item> => ({
  key,
  parent,
  children: new Map(),
  tail: undefined,
  next: undefined,
  items: [],
  taken: 0,
  size: 0,
  balance: 0,
});

// Taken items are removed from the head of a list when there are this many, because removing each alone takes longer.
const CUT_AT = 64;

/**
 * A queue that is fair to the owners of its items: deficit round robin on each level of a path (developer, application,
 * device). All keys of a level that have items are served equally, however many items or connections they have. An item
 * that costs more than one turn also uses up later turns of its key. Items with the same last key of their paths are
 * taken in the order in which they were put, so the last key of a path must identify one thing.
 */
export function createFairQueue<Item>() {
  let root = createBranch<Item>('');
  /** The keys on the last level that have items, by name. */
  const leaves = new Map<string, Branch<Item>>();

  function branchOf(parent: Branch<Item>, key: string): Branch<Item> {
    const known = parent.children.get(key);
    if (known) return known;
    const made = createBranch(key, parent);
    parent.children.set(key, made);
    const { tail } = parent;
    made.next = tail?.next ?? made;
    if (tail) tail.next = made;
    parent.tail = made;
    return made;
  }

  /** Removes the key whose turn is next from the circle of keys below `parent`. */
  function removeHead(parent: Branch<Item>, head: Branch<Item>): void {
    parent.children.delete(head.key);
    if (head.next === head) parent.tail = undefined;
    else if (parent.tail) parent.tail.next = head.next;
  }

  function takeItem(leaf: Branch<Item>): { item: Item; cost: number } {
    const taken = leaf.items[leaf.taken];
    if (!taken) throw new Error('the fair queue has no item under this key');
    leaf.taken += 1;
    if (leaf.taken === leaf.items.length || leaf.taken >= CUT_AT) {
      leaf.items = leaf.items.slice(leaf.taken);
      leaf.taken = 0;
    }
    if (leaf.items.length === 0) leaves.delete(leaf.key);
    return taken;
  }

  function takeFrom(branch: Branch<Item>): { item: Item; cost: number } {
    branch.size -= 1;
    if (!branch.tail) return takeItem(branch);
    for (;;) {
      const head = branch.tail.next as Branch<Item>;
      const isAlone = head === branch.tail;
      if (!isAlone && head.balance <= 0) head.balance += QUANTUM;
      if (head.size === 0 && (isAlone || head.balance >= 0)) {
        removeHead(branch, head); // the key has no items, and has lost its turns for costly ones
        continue;
      }
      if (!isAlone && (head.balance <= 0 || head.size === 0)) {
        branch.tail = head;
        continue;
      }
      const taken = takeFrom(head);
      // While a single key has items, their costs are not counted, because no other key waits. It only loses one turn,
      // so that a key which is added now goes first.
      head.balance = isAlone ? -QUANTUM : head.balance - taken.cost;
      if (head.size === 0 && (isAlone || head.balance >= 0)) removeHead(branch, head);
      else if (head.balance <= 0) branch.tail = head;
      return taken;
    }
  }

  return {
    /** The number of waiting items. */
    size: (): number => root.size,

    put(path: readonly string[], item: Item, cost = 1): void {
      const last = path.at(-1) ?? '';
      let branch = leaves.get(last);
      if (!branch) {
        branch = path.reduce(branchOf, root);
        leaves.set(last, branch);
      }
      branch.items.push({ item, cost });
      for (let at: Branch<Item> | undefined = branch; at; at = at.parent) at.size += 1;
    },

    /** Removes and returns the next item; undefined when the queue is empty. */
    take(): Item | undefined {
      if (root.size === 0) return undefined;
      const { item } = takeFrom(root);
      if (root.size === 0) root = createBranch(''); // the queue is empty, so no key needs to lose turns
      return item;
    },
  };
}

/**
 * Makes a function that runs one piece of work at a time. Other work waits in a fair queue; `whose` is its path there.
 */
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
