/** The event loop of the world is never late. */
export const watchLoopDelay = () => ({ take: (): number | null => null, stop: (): void => undefined });
