import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Starts a process in a control group of the kernel (cgroups(7)) that may use so many bytes, and returns to the former
 * group. Throws where this process may not make groups.
 */
export async function inBoundedMemory(bytes: number, start: () => Promise<unknown>): Promise<void> {
  const first = '/sys/fs/cgroup/memory';
  const [root, limit] = existsSync(first) ? [first, 'memory.limit_in_bytes'] : ['/sys/fs/cgroup', 'memory.max'];
  const own = /^\d+:memory:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
  const group = join(root, `lapel-trial-${process.pid}`);
  mkdirSync(group, { recursive: true });
  writeFileSync(join(group, limit), String(Math.round(bytes)));
  const enter = (folder: string): void => writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
  enter(group);
  try {
    await start();
  } finally {
    enter(existsSync(join(root, own, 'cgroup.procs')) ? join(root, own) : root);
  }
}
