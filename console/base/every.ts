import { useEffect, useRef } from 'preact/hooks';

/**
 * Calls `act` repeatedly while a component is mounted and the page is visible; never when `milliseconds` is undefined.
 */
export function useEvery(milliseconds: number | undefined, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (milliseconds === undefined) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}
