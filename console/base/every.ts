import { useEffect, useRef } from 'preact/hooks';

/** Does something again and again while a component is shown and the page is seen; not at all without a time. */
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
