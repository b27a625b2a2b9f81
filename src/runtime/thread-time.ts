/**
 * Milliseconds of processor time that this thread has used. A machine that others use as well takes the processor away in
 * the middle of anything: what is measured by the wall then looks several times as long as it is.
 */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
