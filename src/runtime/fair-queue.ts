/** The cost that a key may take in one turn. */
const QUANTUM = 1;

/**
 * One key on one level of the queue. It holds either waiting items (on the last level) or the keys of the next level.
 */
interface Branch<Item> {
  readonly key: string;
  readonly parent: Branch<Item> | undefined;
  /**
   * The keys of the next level, by name: those with waiting items, and those that still have to pay for a costly item.
   */
  readonly children: Map<string, Branch<Item>>;
  /** The last of the keys below it, which form a circle; the one after it has the next turn. */
  tail: Branch<Item> | undefined;
  next: Branch<Item> | undefined;
  items: { item: Item; cost: number }[];
  /** Number of items at the head of the list that are already taken. */
  taken: number;
  /** The number of waiting items below this key. */
  size: number;
  /** The cost that it may still take in this round; a negative balance is a debt that the next turns pay. */
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

// When this many items at the head of a list are taken, the list is cut.
const CUT_AT = 64;

/**
 * A queue in which items take turns by their owners: deficit round robin on each level of a path (developer,
 * application, device). Each key with waiting items gets the same share of its level, whatever its number of
 * connections or the length of its queue. An item that costs more than one turn uses up the following turns of its key.
 * Items with the same path, or with the same last key, are taken in the order in which they were put; so the last key
 * of a path must identify one thing.
 */
export function createFairQueue<Item>() {
  let root = createBranch<Item>('');
  /** The last keys of paths that have waiting items. */
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

  /** Removes the next key from the circle. */
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
        removeHead(branch, head); // the key has no items, and its debt is paid
        continue;
      }
      if (!isAlone && (head.balance <= 0 || head.size === 0)) {
        branch.tail = head;
        continue;
      }
      const taken = takeFrom(head);
      // While a single key has items, they cost it nothing, because no other key waits. It owes one turn, so that a key
      // which is added now goes first.
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

    /** Takes the next item; undefined when none waits. */
    take(): Item | undefined {
      if (root.size === 0) return undefined;
      const { item } = takeFrom(root);
      if (root.size === 0) root = createBranch(''); // nobody waits, so all debts are forgotten
      return item;
    },
  };
}

/** Runs one piece of work at a time; waiting ones take turns by their owners, a path of a fair queue. */
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
