/**
 * Milliseconds of processor time that this thread has used. The wall clock is no measure of work: other programs may
 * take the processor away at any moment, so work may take several times as long by the clock.
 */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
