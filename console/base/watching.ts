import { useEffect } from 'preact/hooks';
import { type Change, watch } from './feed.ts';

/** Watches a topic while a component is mounted; an empty topic watches nothing. */
export function useWatch(
  topic: string,
  changed: (change: Change, first: boolean) => void,
  gap?: (dropped: number) => void,
): void {
  useEffect(() => (topic === '' ? undefined : watch(topic, { changed, ...(gap && { gap }) })), [topic]);
}
