import { useEffect } from 'preact/hooks';
import { type Change, watch } from './feed.ts';

/** Watches a topic of the feed while a component is mounted. With an empty topic it does nothing. */
export function useWatch(
  topic: string,
  changed: (change: Change, first: boolean) => void,
  gap?: (dropped: number) => void,
): void {
  useEffect(() => (topic === '' ? undefined : watch(topic, { changed, ...(gap && { gap }) })), [topic]);
}
