import type { createGroupCommit as Real } from '../../../src/platform/database/sqlite/group-commit.ts';
import { world } from '../world.ts';

// The question mark makes it another module than the one that this replaces.
const real = (await import('../../../src/platform/database/sqlite/group-commit.ts?real' as string)) as {
  createGroupCommit: typeof Real;
};

/** The real group commit, which tells of each effect and each answer that did not wait for the disk. */
export const createGroupCommit: typeof Real = (options) => {
  const { broken } = world();
  /** The commits that were made, and those that the disk has. */
  let made = 0;
  let synced = 0;
  const group = real.createGroupCommit({
    ...options,
    sync() {
      const waits = options.sync();
      made += 1;
      if (waits) void waits.then(() => (synced += 1));
      else synced += 1;
      return waits;
    },
  });
  return {
    ...group,
    transact(work, how) {
      let before = 0;
      const judge = (told: string): void => {
        if (synced <= before) broken('nothing is told before the disk has it', { told, commit: before + 1, synced });
      };
      const result = group.transact((unit) => {
        before = made;
        return work({
          ...unit,
          onCommit: (effect) =>
            unit.onCommit(() => {
              judge('an effect');
              effect();
            }),
        });
      }, how);
      result.then(
        () => judge('an answer'),
        () => undefined,
      );
      return result;
    },
  };
};
