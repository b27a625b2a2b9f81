import { useEffect } from 'preact/hooks';
import { type Change, watch } from './feed.ts';

/** Watches a topic as long as a component is shown; nothing with an empty topic. */
export function useWatch(
  topic: string,
  changed: (change: Change, first: boolean) => void,
  gap?: (dropped: number) => void,
): void {
  useEffect(() => (topic === '' ? undefined : watch(topic, { changed, ...(gap && { gap }) })), [topic]);
}
