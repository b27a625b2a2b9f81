/**
 * Milliseconds of processor time that this thread has used. Other programs may take the processor away at any moment,
 * so a time measured by the wall clock may be several times as long as the work itself.
 */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
