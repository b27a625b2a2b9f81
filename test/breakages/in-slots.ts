/**
 * Carries out the tasks in their order, one at a time in each slot. `work` gets the number of its slot, from 0. Resolves
 * to the results in the order of the tasks.
 */
export async function inSlots<Task, Result>(
  tasks: readonly Task[],
  slots: number,
  work: (task: Task, slot: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function fill(slot: number): Promise<void> {
    while (next < tasks.length) {
      const at = next;
      next += 1;
      results[at] = await work(tasks[at]!, slot);
    }
  }
  await Promise.all(Array.from({ length: slots }, (_, slot) => fill(slot)));
  return results;
}
