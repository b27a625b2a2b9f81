import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';

/**
 * The start of a process, as Linux tells it, so that another process with the same number is not taken for it: the number of
 * the boot, and the time since then, which alone may be the same after each boot.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, state = '', ...others] = stat.slice(stat.lastIndexOf(')')).split(' ');
    if (state === 'Z' || state === 'X') return 'ended'; // and nobody has asked for its end yet
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${others[18] ?? ''}-${boot}`;
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const isHeld = (text: string): boolean => {
  const [pid = '', start = ''] = text.split(' ');
  if (!/^[1-9]\d*$/.test(pid)) return false; // a power cut came before the process wrote its number
  return isAlive(Number(pid)) && startOf(Number(pid)) === start;
};

/**
 * Makes a file that names this process. A file of a process that has ended, such as one that a power cut leaves, is
 * replaced. Returns what removes it; throws if another process, or this one, has it.
 */
export function lockFile(path: string): () => void {
  for (let attempt = 1; ; attempt += 1)
    try {
      const handle = openSync(path, 'wx', 0o600);
      writeSync(handle, `${process.pid} ${startOf(process.pid)}`);
      closeSync(handle);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (attempt > 1 || isHeld(readFileSync(path, 'utf8')))
        throw new Error(`${path}: another device of this machine uses the file.`, { cause: error });
      rmSync(path, { force: true });
    }
}
