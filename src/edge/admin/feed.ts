import { FEED_HEADERS } from '../feed/feed-stream.ts';
import { readTopics } from '../feed/feed-topics.ts';
import type { Answer, Input } from '../http/route.ts';
import { type Administrator, createStillGood } from './authorize.ts';
import type { AdminServices } from './services.ts';
import { shownTo } from './shown.ts';

/** Streams changes of all devices, transactions and receivers, for as long as the caller keeps their role. */
export function readFeed(
  { feed, sessions, people, identify }: Pick<AdminServices, 'feed' | 'sessions' | 'people' | 'identify'>,
  { query, caller }: Input<unknown, unknown, { topics: string }, Administrator>,
): Answer {
  const topics = readTopics(query.topics);
  const isStillGood = createStillGood({ identify, people, sessions });
  const body = feed.open({
    listener: 'admin',
    topics,
    shows: shownTo(caller).feedItem,
    isGood: () => isStillGood(caller),
  });
  return { status: 200, headers: FEED_HEADERS, endless: true, body };
}
